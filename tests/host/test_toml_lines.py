"""From a place in a TOML text to its line: people look for lines."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.errors import BadInput
from studio.host.documents import read_toml
from studio.host.toml_lines import ANY, line_of

TEXT = """\
# A comment
schema_version = 1
"odd key" = 2

[knobs.length]
kind = "int"

[[rules]]
name = "a"
when.settings.x = { equals = 1 }

[[rules]]
name = "b"

[rules.set]
y = 1
"""


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("schema_version",), 2),
        (("odd key",), 3),
        (("knobs", "length"), 5),
        (("knobs", "length", "kind"), 6),
        (("knobs", ANY, "kind"), 6),
        (("rules", "0", "name"), 9),
        (("rules", "0", "when", "settings", "x", "equals"), 10),
        (("rules", "1", "name"), 13),
        (("rules", "1", "set", "y"), 16),
        (("rules", "1", "unknown"), 12),
        (("rules", ANY, "name"), None),
        (("nothing",), None),
        ((), None),
    ],
)
def test_a_place_has_its_line(place: tuple[str, ...], line: int | None) -> None:
    """Inside of an inline table it is the line of that table."""
    assert line_of(TEXT, place) == line


@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_text_gives_a_line_or_none(text: str, place: list[str]) -> None:
    """It is asked about files that are wrong."""
    found = line_of(text, tuple(place))

    assert found is None or 1 <= found <= len(text.splitlines())


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    """One of a list."""

    name: str = ""


class Outer(msgspec.Struct, forbid_unknown_fields=True):
    """A document."""

    length: int = 0
    items: list[Inner] = []
    named: dict[str, Inner] = {}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\nlenght = 1\n", 2),
        ('length = "a"\n', 1),
        ("[[items]]\nname = 'a'\n[[items]]\nnmae = 'b'\n", 4),
        ("[named.x]\nname = 'a'\n[named.y]\nnmae = 'b'\n", 4),
        ("[named.x]\nname = 1\n", 2),
    ],
)
def test_an_error_names_the_line(tmp_path: Path, text: str, line: int) -> None:
    """Together with the file and the key."""
    path = tmp_path / "a.toml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(BadInput, match=rf"a\.toml, line {line}: "):
        read_toml(path, Outer)
