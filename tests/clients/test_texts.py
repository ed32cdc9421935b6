"""Changing a client's file in place: what is set is there, and nothing else is touched."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as some

from studio.clients import env_text, json_text, toml_text, yaml_text
from studio.clients.splices import with_value
from studio.domain.errors import BadInput

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


def _with_noise(document: object, noise: some.DataObject) -> str:
    """Return a document as JSON with comments, blanks and trailing commas wherever they may be."""

    def blank() -> str:
        return str(noise.draw(COMMENTS))

    def written(value: object) -> str:
        if isinstance(value, dict):
            items = [
                f"{blank()}{json.dumps(k)}{blank()}:{blank()}{written(v)}" for k, v in value.items()
            ]
        elif isinstance(value, list):
            items = [f"{blank()}{written(item)}" for item in value]
        else:
            return json.dumps(value, ensure_ascii=False)
        trailing = "," if items and noise.draw(some.booleans()) else ""
        body = f"{blank()},".join(items) + blank() + trailing + blank()
        return f"{{{body}}}" if isinstance(value, dict) else f"[{body}]"

    return f"{blank()}{written(document)}{blank()}"


def _is_kept(old: str, new: str) -> bool:
    """Tell whether every comment of the old text stands in the new one, in the same order."""
    found = re.findall(r"// one|/\* two, \{ \} \*/|// \"three\"", new)
    return found == re.findall(r"// one|/\* two, \{ \} \*/|// \"three\"", old)


@settings(max_examples=60)
@given(TABLES, some.lists(NAMES, min_size=1, max_size=3), LEAVES, some.data())
def test_json_says_what_was_set_and_keeps_comments_and_all_else(
    document: dict, path: list[str], value: object, noise: some.DataObject
) -> None:
    """A person's comments are why the file is changed in place at all."""
    old = _with_noise(document, noise)
    if not _can_be_set(document, path):
        with pytest.raises(BadInput, match="no table"):
            json_text.changed(old, tuple(path), value)
        return
    wanted = with_value(document, tuple(path), value)

    new = json_text.changed(old, tuple(path), value)

    assert json_text.read(new) == wanted
    replaced = path and json_text.read(old) != wanted and _stood(document, path)
    assert replaced or _is_kept(old, new)
    assert json_text.changed(new, tuple(path), value) == new


def _can_be_set(document: object, path: list[str]) -> bool:
    for step in path:
        if document is not None and not isinstance(document, dict):
            return False
        document = (document or {}).get(step)
    return True


def _stood(document: object, path: list[str]) -> bool:
    for step in path:
        if not isinstance(document, dict) or step not in document:
            return False
        document = document[step]
    return True


def test_a_last_member_with_a_comment_behind_it_keeps_the_comment() -> None:
    """The comma goes before the comment, not into it."""
    old = '{\n    "a": 1 // one\n    // two\n}\n'

    assert json_text.changed(old, ("b",), 2) == '{\n    "a": 1, // one\n    "b": 2\n    // two\n}\n'


@pytest.mark.parametrize(
    ("text", "line"),
    [('{\n "a": 1\n "b": 2\n}', 3), ('{\n\n"a": tru\n}', 3), ('{"a": "x\n"}', 1), ("{} {}", 1),
     ('{"a": NaN}', 1), ("[1 2]", 1), ("/* a", 1), ('{\n"a"', 2)],
)  # fmt: skip
def test_broken_json_is_refused_with_its_line(text: str, line: int) -> None:
    """The client could not read it either, so mending it is the person's."""
    with pytest.raises(BadInput) as caught:
        json_text.changed(text, ("b",), 1)
    assert caught.value.code == "client-file-broken"
    assert caught.value.data["line"] == line


def test_json_without_an_end_of_nesting_is_refused() -> None:
    """A hostile file does not end the service."""
    with pytest.raises(BadInput) as caught:
        json_text.read("[" * 100_000)
    assert caught.value.code == "client-file-odd"


def test_line_ends_of_windows_stay() -> None:
    """A file with both kinds is a nuisance in every editor."""
    new = json_text.changed('{\r\n  "a": 1\r\n}\r\n', ("b", "c"), 1)
    assert "\n" not in new.replace("\r\n", "")


SCALARS = some.booleans() | some.integers(-9, 9) | some.text(alphabet="aü\"'#[]=\\ ", max_size=6)
FLAT = some.dictionaries(some.sampled_from(["a", "b-c", "ü x", "d"]), SCALARS, max_size=3)


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


def test_broken_toml_and_yaml_are_refused_with_their_line() -> None:
    """As with JSON."""
    for module, text in ((toml_text, "a = 1\nb = = 2\n"), (yaml_text, "a: 1\nb: [1,\nc: }\n")):
        with pytest.raises(BadInput) as caught:
            module.changed(text, ("c",), 1)
        assert caught.value.code == "client-file-broken"
        assert caught.value.data["line"] in (2, 3)


YAML_TABLES = some.dictionaries(
    some.sampled_from(["a", "b c", "ü"]),
    SCALARS | some.lists(SCALARS, min_size=1, max_size=2) | FLAT,
    min_size=1, max_size=3,
)  # fmt: skip


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


def test_env_keeps_comments_order_and_quotes() -> None:
    """And an empty value in quotes is one that is set."""
    old = (DATA / "open-webui.env").read_text(encoding="utf-8")

    new = env_text.changed(old, ("OPENAI_API_KEY",), "sk-1")
    new = env_text.changed(new, ("OTHER",), "a b")

    assert new == old.replace("OPENAI_API_KEY=''", "OPENAI_API_KEY=sk-1") + 'OTHER="a b"\n'
