"""What the tests of clients' files are made of."""

from pathlib import Path

from hypothesis import strategies as some

DATA = Path(__file__).resolve().parents[1] / "data" / "clients"
NAMES = some.text(alphabet="abcü \"'/.#:-_9", min_size=1, max_size=6)
LEAVES = some.none() | some.booleans() | some.integers(-99, 99) | some.text(max_size=8)
VALUES = some.recursive(
    LEAVES,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
TABLES = some.dictionaries(NAMES, VALUES, max_size=4)
COMMENTS = some.sampled_from(("", "// one\n", "/* two, { } */", " ", "\t", "\r\n", '// "three"\n'))

SCALARS = some.booleans() | some.integers(-9, 9) | some.text(alphabet="aü\"'#[]=\\ ", max_size=6)
FLAT = some.dictionaries(some.sampled_from(["a", "b-c", "ü x", "d"]), SCALARS, max_size=3)
