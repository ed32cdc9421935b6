"""`.env` files: one `NAME=value` a line, comments and order kept. Pure."""

import re

from studio.clients.splices import Json, Splice, Step, odd, spliced, with_value

_LINE = re.compile(
    r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*(.*?)[ \t]*\r?$", re.MULTILINE
)
_SAFE = re.compile(r"[\w./:@%+,-]*")


def read(text: str) -> Json:
    """Return the variables that a text sets; the last one of a name counts."""
    return {found[1]: _unquoted(found[2]) for found in _LINE.finditer(text)}


def changed(text: str, at: tuple[Step, ...], value: Json) -> str:
    """Return `text` with one variable set. Raises: BadInput (`client-file-odd`)."""
    before = read(text)
    wanted = with_value(before, at, value)
    if wanted == before:
        return text
    (name,) = at
    written = _quoted(str(value))
    lines = [found for found in _LINE.finditer(text) if found[1] == name]
    if lines:
        made = spliced(text, [Splice(lines[-1].start(2), lines[-1].end(2), written)])
    else:
        gap = "" if not text or text.endswith("\n") else "\n"
        made = spliced(text, [Splice(len(text), len(text), f"{gap}{name}={written}\n")])
    if read(made) != wanted:
        raise odd(f"`{name}` has a value that goes over several lines")
    return made


def _quoted(value: str) -> str:
    return value if _SAFE.fullmatch(value) else '"' + value.replace('"', '\\"') + '"'


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1].replace('\\"', '"')
    return value
