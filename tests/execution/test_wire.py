from __future__ import annotations

import socket

from hypothesis import given
from hypothesis import strategies as st

from utilitune.execution.wire import FrameReader, encode, receive

messages = st.lists(
    st.dictionaries(
        st.text(st.characters()), st.floats(allow_nan=False) | st.text(st.characters()) | st.integers()
    ),
    max_size=5,
)


@given(messages, st.integers(1, 50))
def test_messages_survive_however_they_are_cut(sent, size):
    data = b"".join(map(encode, sent))
    reader = FrameReader()
    received = [m for start in range(0, len(data), size) for m in reader.feed(data[start : start + size])]
    assert received == sent


def test_one_message_is_received_and_a_closed_connection_noticed():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(encode({"file": "\udcff"}))
        ours.sendall(encode({"cut": "off"})[:-3])
        ours.close()
        assert receive(theirs) == {"file": "\udcff"}
        assert receive(theirs) is None
        assert receive(theirs) is None
