"""File names in patches: quoting, time stamps, stripping, and the refusal of paths that escape.

Pure. Names are text here; a name that is not UTF-8 is refused, since records are JSON.
"""

import datetime
import re

from studio.domain.errors import BadInput

STAGING = ".weir-patching"
"""The engine's own folder inside a tree while it works; no patch may name it."""

_ESCAPES = {
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
    b"\\": b"\\",
    b'"': b'"',
}
_QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_DATE = re.compile(rb"\s+\d{4}-\d\d-\d\d\s.*$")
_ISO = re.compile(
    rb"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:\s*([+-]\d\d):?(\d\d))?"
)
_CTIME = re.compile(
    rb"[A-Z][a-z]{2} Jan +1 (\d\d):(\d\d):(\d\d) 1970(?: ([+-]\d\d)(\d\d))?"
    rb"|[A-Z][a-z]{2} Dec 31 \d\d:\d\d:\d\d 1969"
)
_EPOCH_RANGE_S = (-25 * 3600, 26 * 3600)
"""A listed time is local, and zones reach this far from UTC (POSIX; GNU patch does the same)."""


def unquote(raw: bytes) -> tuple[bytes, bytes] | None:
    """Return a C-quoted name at the start of `raw` and what follows it, or None."""
    found = _QUOTED.match(raw)
    if found is None:
        return None

    def plain(escape: re.Match[bytes]) -> bytes:
        code = escape.group(1)
        return bytes([int(code, 8)]) if len(code) == 3 else _ESCAPES.get(code, code)

    return _ESCAPE.sub(plain, found.group(1)), raw[found.end() :]


def header_name(raw: bytes) -> tuple[bytes, bytes]:
    """Return name and time stamp of what follows `--- ` or `+++ `.

    A tab ends the name, so that it may hold spaces; without a tab it ends before a date.
    """
    raw = raw.strip(b" \r\n")
    quoted = unquote(raw)
    if quoted is not None:
        return quoted[0], quoted[1].strip()
    name, tab, stamp = raw.partition(b"\t")
    if tab:
        return name, stamp.strip()
    date = _DATE.search(raw)
    if date is None:
        return raw.rstrip(), b""
    return raw[: date.start()], date.group().strip()


def is_epoch(stamp: bytes) -> bool:
    """Return whether a time stamp says that there is no such file, as `diff -N` does."""
    found = _ISO.match(stamp)
    if found is None:
        return _CTIME.match(stamp) is not None
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    try:
        listed = datetime.datetime(year, month, day, hour, minute, second, tzinfo=datetime.UTC)
    except ValueError:
        return False
    seconds = listed.timestamp()
    if found.group(7):
        zone_hours = int(found.group(7))
        zone_minutes = int(found.group(8)) * (-1 if zone_hours < 0 else 1)
        seconds -= zone_hours * 3600 + zone_minutes * 60
    return _EPOCH_RANGE_S[0] < seconds < _EPOCH_RANGE_S[1]


def text_of(name: bytes, patch: str) -> str:
    """Return a name as text.

    Raises: BadInput (`patch-unsupported`).
    """
    try:
        text = name.decode("utf-8")
    except UnicodeDecodeError as error:
        shown = name.decode("utf-8", "backslashreplace")
        raise BadInput(
            "patch-unsupported", f"{patch} names the file `{shown}`, which is not UTF-8."
        ) from error
    if "\0" in text:
        raise BadInput("patch-unsupported", f"{patch} names a file with a zero byte in its name.")
    return text


def strip_components(name: str, strip: int) -> str | None:
    """Return `name` without its first `strip` components, or None when it has too few.

    A run of slashes counts as one, as for GNU patch.
    """
    assert strip >= 0
    rest = name
    for _ in range(strip):
        _first, slash, rest = rest.partition("/")
        if not slash:
            return None
        rest = rest.lstrip("/")
    return rest or None


def inside(name: str, patch: str) -> str:
    """Return `name` in its plainest form, relative to the tree.

    Raises: BadInput (`patch-escapes`) for a path that is absolute, climbs, or is ours.
    """
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or not parts or parts[0] == STAGING:
        raise BadInput(
            "patch-escapes",
            f"{patch} names `{name}`, which is not a path inside the package folder.",
            hint="Check the patch's origin and the number of leading components to strip.",
            data={"patch": patch, "file": name},
        )
    return "/".join(parts)
