"""A look through a pickle before it is loaded: what it would take, and whether it is plain data at all.

A pickle is a program for a small machine with a stack and a memo. A few bytes can make it fill the memory (a
memo number of two thousand million; a million empty lists) or work for years (a tuple of two equal tuples, of
two equal tuples, forty times over, whose hash is computed). This walks over the program without running it.
The stack holds only how much each item would weigh if it were written out. The walk is compiled, since
measured runtimes come as hundreds of megabytes.
"""

from __future__ import annotations

import pickle
import pickletools

import numpy as np
from numpy.typing import NDArray

from utilitune.domain.compiled import compiled, inlined, new_record

PLAIN, NOT_PLAIN, LEFT_TO_THE_READER = 1, 2, 3
"""What a scan finds: plain data; something else; an object of a class, which the reader refuses by name."""

HEAVIEST_TUPLE = 1 << 20
"""Signs and numbers in a tuple, those of its parts included; the names of configurations are shorter."""

_GOES_ON = 0
_UNKNOWN, _TWO_LINES = -100, -6
_MEMO_AHEAD = 1000
_REFERENCE, _NUMBER, _CONTAINER, _TEXT, _PLACE, _ENTRY = 8, 32, 72, 60, 12, 55
"""Bytes of what Python makes: a reference, a number, a container, a text, a place in a list or dictionary."""

_WIDEST_SIGN = 4
_TEXTS = (
    *(pickle.STRING, pickle.BINSTRING, pickle.SHORT_BINSTRING, pickle.UNICODE, pickle.BINUNICODE),
    *(pickle.SHORT_BINUNICODE, pickle.BINUNICODE8, pickle.BINBYTES, pickle.SHORT_BINBYTES, pickle.BINBYTES8),
)
_REFUSE, _NOTHING, _PUSH, _MARK, _CLOSE, _ADD, _DROP, _JOIN, _POP, _COPY, _PUT, _GET, _STOP, _OUTSIDE = range(
    14
)
_ACTIONS = {
    _NOTHING: (pickle.PROTO, pickle.FRAME),
    _PUSH: (
        *(pickle.INT, pickle.BININT, pickle.BININT1, pickle.BININT2, pickle.LONG, pickle.LONG1, pickle.LONG4),
        *(pickle.FLOAT, pickle.BINFLOAT, pickle.NONE, pickle.NEWTRUE, pickle.NEWFALSE),
        *(*_TEXTS, pickle.EMPTY_LIST, pickle.EMPTY_DICT, pickle.EMPTY_TUPLE),
    ),
    _MARK: (pickle.MARK,),
    _CLOSE: (pickle.LIST, pickle.DICT, pickle.TUPLE),
    _ADD: (pickle.APPENDS, pickle.SETITEMS, pickle.POP_MARK),
    _DROP: (pickle.APPEND, pickle.SETITEM),
    _JOIN: (pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3),
    _POP: (pickle.POP,),
    _COPY: (pickle.DUP,),
    _PUT: (pickle.PUT, pickle.BINPUT, pickle.LONG_BINPUT, pickle.MEMOIZE),
    _GET: (pickle.GET, pickle.BINGET, pickle.LONG_BINGET),
    _STOP: (pickle.STOP,),
    _OUTSIDE: (pickle.GLOBAL, pickle.STACK_GLOBAL, pickle.PERSID, pickle.BINPERSID),
}
"""What an opcode does to the stack; all others are refused."""

_ITEMS = {pickle.APPEND: 1, pickle.SETITEM: 2, pickle.TUPLE1: 1, pickle.TUPLE2: 2, pickle.TUPLE3: 3}
_TUPLE, _MEMOIZE = pickle.TUPLE[0], pickle.MEMOIZE[0]


def _argument_kinds() -> NDArray[np.int64]:
    """How the argument of each opcode is written, as `pickletools` numbers it."""
    kinds = np.full(256, _UNKNOWN, dtype=np.int64)
    for opcode in pickletools.opcodes:
        kinds[ord(opcode.code)] = 0 if opcode.arg is None else opcode.arg.n
    for pair in (pickle.GLOBAL, pickle.INST):
        kinds[pair[0]] = _TWO_LINES
    return kinds


def _table(entries: dict[bytes, int]) -> NDArray[np.int64]:
    table = np.zeros(256, dtype=np.int64)
    for opcode, value in entries.items():
        table[opcode[0]] = value
    return table


_KINDS = _argument_kinds()
_ACTION_OF = _table({code: action for action, codes in _ACTIONS.items() for code in codes})
_ITEMS_OF = _table(_ITEMS)
_SIZE_OF = _table(
    dict.fromkeys(_ACTIONS[_PUSH], _NUMBER)
    | dict.fromkeys(_TEXTS, _TEXT)
    | dict.fromkeys((pickle.EMPTY_LIST, pickle.EMPTY_DICT, pickle.EMPTY_TUPLE), _CONTAINER)
)
_SIZE_PER_ITEM_OF = _table(
    {code: _PLACE for action in (_CLOSE, _ADD, _DROP, _JOIN, _POP, _COPY) for code in _ACTIONS[action]}
    | dict.fromkeys((pickle.SETITEM, pickle.SETITEMS, pickle.DICT), _ENTRY)
)


Signs = NDArray[np.uint8]
Weights = NDArray[np.int64]


class _State:
    """Where the walk stands.

    Attributes:
        depth: Items on the stack.
        marks: Marks on it.
        floor: Where the items above the last mark begin.
        puts: Items put into the memo.
        taken: Bytes that everything so far would take.
    """

    depth: int
    marks: int
    floor: int
    puts: int
    taken: int


def scan(content: bytes) -> tuple[int, int]:
    """What a pickle is, and about how many bytes it takes when it is loaded."""
    state = new_record(_State)
    signs = np.frombuffer(content, dtype=np.uint8)
    # As large as they could be needed; the system hands out only what is touched.
    weights, marks = np.zeros(len(content) + 1, dtype=np.int64), np.zeros(len(content) + 1, dtype=np.int64)
    memo = np.zeros(2 * len(content) + _MEMO_AHEAD, dtype=np.int64)
    found = _walk(signs, state, weights, marks, memo)
    return int(found), int(state.taken)


@compiled
def _walk(content: Signs, state: _State, weights: Weights, marks: Weights, memo: Weights) -> int:
    place = 0
    while place < content.size:
        code = content[place]
        start, end, number = _argument(content, place + 1, _KINDS[code])
        if end < 0 or end > content.size:
            return NOT_PLAIN
        place = end
        state.floor = marks[state.marks - 1] if state.marks else 0
        action = _ACTION_OF[code]
        found = _GOES_ON
        if action == _PUSH:
            _push(state, weights, 1 + end - start)
            state.taken += _SIZE_OF[code] + _WIDEST_SIGN * (end - start)
        elif action == _PUT:
            found = _put(state, weights, memo, state.puts if code == _MEMOIZE else number)
        elif action == _GET:
            found = _get(state, weights, memo, number)
        elif action == _MARK:
            marks[state.marks] = state.depth
            state.marks += 1
        elif action in (_STOP, _OUTSIDE):
            found = PLAIN if action == _STOP else LEFT_TO_THE_READER
        elif action != _NOTHING:
            found = _gather(state, weights, action, code)
        if found != _GOES_ON:
            return found
    return NOT_PLAIN


@inlined
def _push(state: _State, weights: Weights, weight: int) -> None:
    weights[state.depth] = min(weight, HEAVIEST_TUPLE + 1)
    state.depth += 1


@compiled
def _put(state: _State, weights: Weights, memo: Weights, at: int) -> int:
    """The topmost item gets a number in the memo; picklers count up from 0 or 1."""
    if state.depth <= state.floor or at < 0 or at > 2 * state.puts + _MEMO_AHEAD - 1:
        return NOT_PLAIN
    memo[at] = weights[state.depth - 1]
    state.puts += 1
    state.taken += _REFERENCE
    return _GOES_ON


@compiled
def _get(state: _State, weights: Weights, memo: Weights, at: int) -> int:
    """An item comes from the memo."""
    if at < 0 or at >= memo.size or memo[at] == 0:
        return NOT_PLAIN
    _push(state, weights, memo[at])
    state.taken += _REFERENCE
    return _GOES_ON


@compiled
def _gather(state: _State, weights: Weights, action: int, code: int) -> int:
    """Items are put into a container, copied or dropped."""
    items = _items(state, action, code)
    if action == _REFUSE or items < 0 or state.depth - items < state.floor:
        return NOT_PLAIN
    weight = 1
    for item in range(state.depth - items, state.depth):
        weight += weights[item]
    state.taken += _CONTAINER * (action in (_CLOSE, _JOIN)) + _SIZE_PER_ITEM_OF[code] * items
    if action != _COPY:
        state.depth -= items
    if action == _JOIN or code == _TUPLE:
        state.taken += weight
        if weight > HEAVIEST_TUPLE:
            return NOT_PLAIN
        _push(state, weights, weight)
    elif action in (_CLOSE, _COPY):
        _push(state, weights, 1 if action == _CLOSE else weight)
    return _GOES_ON


@compiled
def _items(state: _State, action: int, code: int) -> int:
    """How many items of the stack are concerned; -1 if a mark is missing."""
    if action in (_CLOSE, _ADD) or (action == _POP and state.depth == state.floor):
        if not state.marks:
            return -1
        state.marks -= 1
        return state.depth - state.floor
    return max(1, int(_ITEMS_OF[code]))


@compiled
def _argument(content: Signs, start: int, kind: int) -> tuple[int, int, int]:
    """Where an argument begins and ends (-1 if it is cut short), and the small number it holds, if any."""
    if kind >= 0:
        end = start + kind
        number = 0
        if end <= content.size and kind <= 4:
            number = _little_endian(content, start, kind)
        return start, end, number
    if kind in (-1, _TWO_LINES):
        end = start
        for _ in range(2 if kind == _TWO_LINES else 1):
            while end < content.size and content[end] != 10:
                end += 1
            end += 1
        return start, end if end <= content.size else -1, _decimal(content, start, end - 1)
    if kind == _UNKNOWN:
        return start, -1, 0
    width = 1 if kind == -2 else 8 if kind == -5 else 4
    if start + width > content.size:
        return start, -1, 0
    length = _little_endian(content, start, width)
    if length < 0 or length > content.size - start - width:
        return start, -1, 0
    return start + width, start + width + length, 0


@compiled
def _little_endian(content: Signs, start: int, width: int) -> int:
    number = 0
    for place in range(width):
        number += int(content[start + place]) << (8 * place)
    return number


@compiled
def _decimal(content: Signs, start: int, end: int) -> int:
    """The whole number that stands there in digits; -1 if there is none, or a large one."""
    if end <= start or end - start > 12:
        return -1
    number = 0
    for place in range(start, end):
        digit = int(content[place]) - 48
        if digit < 0 or digit > 9:
            return -1
        number = 10 * number + digit
    return number
