"""YAML changed in place, or refused."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as some

from studio.clients import toml_text, yaml_text
from studio.clients.splices import with_value
from studio.domain.errors import BadInput
from tests.clients.samples import FLAT, SCALARS

YAML_TABLES = some.dictionaries(
    some.sampled_from(["a", "b c", "ü"]),
    SCALARS | some.lists(SCALARS, min_size=1, max_size=2) | FLAT,
    min_size=1, max_size=3,
)  # fmt: skip


def test_broken_toml_and_yaml_are_refused_with_their_line() -> None:
    """As with JSON."""
    for module, text in ((toml_text, "a = 1\nb = = 2\n"), (yaml_text, "a: 1\nb: [1,\nc: }\n")):
        with pytest.raises(BadInput) as caught:
            module.changed(text, ("c",), 1)
        assert caught.value.code == "client-file-broken"
        assert caught.value.data["line"] in (2, 3)


@settings(max_examples=60)
@given(YAML_TABLES, some.sampled_from(["a", "b c", "neu"]), SCALARS | FLAT, some.booleans())
def test_yaml_says_what_was_set_and_keeps_comments(
    document: dict, key: str, value: object, ends: bool
) -> None:
    """What the library reads is what was meant, or it is refused."""
    old = "# head\n" + yaml.safe_dump(document, allow_unicode=True) + ("# foot\n" if ends else "")
    old = old if ends else old.rstrip("\n")
    wanted = with_value(document, (key,), value)
    was = document.get(key)
    is_other_kind = isinstance(was, list | dict) and was and wanted[key] != document[key]
    if is_other_kind and not (isinstance(document[key], dict) and isinstance(value, dict)):
        with pytest.raises(BadInput, match="not changed here"):
            yaml_text.changed(old, (key,), value)
        return

    new = yaml_text.changed(old, (key,), value)

    assert yaml.safe_load(new) == wanted
    assert new.startswith("# head\n")
    assert ("# foot\n" in new) is ends
