from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from utilitune.scenario.locator import KeyPath, key_lines
from utilitune.scenario.writer import toml_value

TEXT = '''\
# a comment with [brackets] and key = 1
top = 1
"quoted key" = 2
a.b.c = "x # no comment"

[table]            # a comment
list = [
  "one",  # inside
  ["nested", { deep = 1 }],
]
text = """
[not.a.table]
key = 1 \\""" """
literal = \'\'\'
x = 'y'
\'\'\'
after = true

[[entries]]
name = "first"
[entries.inner]
x = 1
[[entries]]
name = { short = "second", "odd key" = [1, 2] }
[ table . "sub.table" ]
last = 1979-05-27T07:32:00Z
'''


def test_every_kind_of_key_is_located():
    lines = key_lines(TEXT)
    expected: dict[KeyPath, int] = {
        ("top",): 2,
        ("quoted key",): 3,
        ("a",): 4,
        ("a", "b", "c"): 4,
        ("table",): 6,
        ("table", "list"): 7,
        ("table", "list", 0): 8,
        ("table", "list", 1): 9,
        ("table", "list", 1, 1, "deep"): 9,
        ("table", "text"): 11,
        ("table", "literal"): 14,
        ("table", "after"): 17,
        ("entries", 0): 19,
        ("entries", 0, "name"): 20,
        ("entries", 0, "inner", "x"): 22,
        ("entries", 1, "name", "short"): 24,
        ("entries", 1, "name", "odd key", 1): 24,
        ("table", "sub.table"): 25,
        ("table", "sub.table", "last"): 26,
    }
    assert {path: lines.get(path) for path in expected} == expected
    assert ("not",) not in lines


def paths_of(value: object, path: KeyPath = ()) -> set[KeyPath]:
    found = {path} if path else set()
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found |= paths_of(item, (*path, key))
    return found


keys = st.text(min_size=1, max_size=5).filter(lambda text: text.isprintable())
scalars = st.one_of(st.booleans(), st.integers(-99, 99), st.text(max_size=6), st.floats(allow_nan=False))
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(keys, values, max_size=4))
def test_every_path_of_any_file_is_located(content: dict[str, object]):
    text = "".join(f"# note\n{toml_value(key)} = {toml_value(value)}\n" for key, value in content.items())
    lines = key_lines(text)
    assert tomllib.loads(text) == content
    assert set(lines) == paths_of(content)
    assert all(lines[(key,)] == 2 * position + 2 for position, key in enumerate(content))
