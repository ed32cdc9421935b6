"""JSON with comments changed in place: what is set is there, nothing else is touched."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from studio.clients import json_text
from studio.clients.splices import with_value
from studio.domain.errors import BadInput
from tests.clients.samples import COMMENTS, LEAVES, NAMES, TABLES


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
    [('{\n "a": 1\n "b": 2\n}', 3), ('{\n\n"a": yes\n}', 3), ('{"a": "x\n"}', 1), ("{} {}", 1),
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
