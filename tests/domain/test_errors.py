"""Codes and exit statuses are relied on by other programs, so the tree is held to its drawing."""

import ast
import re
from pathlib import Path

import msgspec
import pytest

from studio.domain import errors
from studio.domain.errors import ErrorInfo, StudioError, from_info

STUDIO = Path(errors.__file__).resolve().parents[1]
KINDS = {kind.__name__: kind for kind in StudioError.__subclasses__()}
DRAWN = {
    name: int(status) for name, status in re.findall(r"[├└]── (\w+) +(\d+)", errors.__doc__ or "")
}


def _raised() -> list[tuple[str, ast.Call]]:
    """Return every place in the product that makes an error of ours."""
    found = []
    for path in sorted(STUDIO.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_ours = isinstance(node, ast.Call) and ast.unparse(node.func) in KINDS
            if isinstance(node, ast.Call) and is_ours and len(node.args) >= 2:
                found.append((f"{path.relative_to(STUDIO)}:{node.lineno}", node))
    return found


def _written(node: ast.expr) -> str | None:
    """Return a string as it stands in the source, `{}` for what is filled in; None if computed."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr():
            return "".join(_written(part) or "{}" for part in node.values)
        case _:
            return None


def test_the_exit_statuses_are_those_drawn() -> None:
    """Scripts branch on `$?`; the drawing is what people read."""
    assert {name: kind.exit_status for name, kind in KINDS.items()} == DRAWN


def test_every_code_is_in_kebab_case() -> None:
    """Codes never change once released, so a sloppy one stays for ever."""
    codes = {place: _written(node.args[0]) for place, node in _raised()}

    assert len(codes) > 40
    wrong = {
        place: code
        for place, code in codes.items()
        if code is not None and not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)
    }
    assert wrong == {}


def test_every_sentence_is_one() -> None:
    """Sentence case, an end, and none of the words that beg or shout."""
    wrong = {}
    for place, node in _raised():
        for text in (_written(node.args[1]), *(_written(k.value) for k in _hints(node))):
            if text is not None and not _is_a_sentence(text):
                wrong[place] = text

    assert wrong == {}


def _hints(node: ast.Call) -> list[ast.keyword]:
    return [word for word in node.keywords if word.arg == "hint"]


def _is_a_sentence(text: str) -> bool:
    begins = text[:1].isupper() or text.startswith(("`", "{", "pip", "systemd ", "uv "))
    ends = text.endswith((".", "?", "{}"))
    begs = re.search(r"(?i)\b(please|simply)\b", text)
    return begins and ends and "!" not in text and begs is None


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_an_error_survives_the_wire(kind: type[StudioError]) -> None:
    """The command line prints what the service raised, with the same exit status."""
    error = kind(
        "some-code",
        "Größe: 3 – nothing fits.",
        hint="Ändern.",
        evidence=("line one", "line \u0000 two"),
        data={"port": 18020, "owner": None, "share": 0.5, "is_free": True, "who": "ö"},
    )

    sent = msgspec.json.decode(msgspec.json.encode(error.info), type=ErrorInfo)
    received = from_info(sent)

    assert received.info == error.info
    assert received.exit_status == kind.exit_status
    assert str(received) == error.message


def test_an_unknown_exit_status_is_still_an_error_of_ours() -> None:
    """A newer service may know kinds that this client does not."""
    received = from_info(ErrorInfo(code="new-kind", message="Something new.", exit_status=9))

    assert type(received) is StudioError
    assert received.code == "new-kind"


def test_two_errors_do_not_share_their_data() -> None:
    """A default that is one object for all would mix up the facts of two errors."""
    first, second = StudioError("a-b", "One."), StudioError("a-b", "Two.")

    first.data["port"] = 1

    assert second.data == {}
