"""TOML changed in place: every other line stays."""

import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from studio.clients import toml_text
from studio.clients.splices import with_value
from studio.domain.errors import BadInput
from tests.clients.samples import FLAT


@settings(max_examples=60)
@given(FLAT, some.dictionaries(some.sampled_from(["t", "m.n", "z"]), FLAT, max_size=3), FLAT, FLAT)
def test_toml_says_what_was_set_and_keeps_every_line(
    root: dict, tables: dict, in_root: dict, in_table: dict
) -> None:
    """Only lines of keys that were set are other than before."""
    old = (
        "# head\n"
        + _toml(root)
        + "".join(
            f'\n[ {json.dumps(name)} ] # of {name}\nk = [ # odd ]\n \'x\', """#"""]\n{_toml(table)}'
            for name, table in tables.items()
        )
    )
    says = tomllib.loads(old)
    wanted = with_value(with_value(says, (), in_root), ("t", "new"), in_table or 1)

    new = old
    for key, value in in_root.items():
        new = toml_text.changed(new, (key,), value)
    new = toml_text.changed(new, ("t", "new"), in_table or 1)

    assert tomllib.loads(new) == wanted
    kept = [line for line in old.splitlines() if " = " not in line or line.startswith("k")]
    rest = iter(new.splitlines())
    assert all(line in rest for line in kept)


def _toml(table: dict) -> str:
    return "".join(
        f"{json.dumps(key)} = {json.dumps(value)} # said\n" for key, value in table.items()
    )


@pytest.mark.parametrize("text", ["t = { a = 1 }\n", "[[t]]\na = 1\n"])
def test_toml_written_another_way_is_refused_and_not_damaged(text: str) -> None:
    """An inline table cannot be gone on with under a header."""
    with pytest.raises(BadInput) as caught:
        toml_text.changed(text, ("t", "b"), 1)
    assert caught.value.code == "client-file-odd"
