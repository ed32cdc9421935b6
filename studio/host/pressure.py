"""The kernel's small text files: whole numbers by name, and pressure (PSI)."""

import re
from pathlib import Path

from studio.domain.readings import Pressure

_LINE = re.compile(r"^(some|full) avg10=(\d{1,3}(?:\.\d+)?)\b", re.MULTILINE | re.ASCII)
_MOST_DIGITS = 20
_LINE_WIDTH = 120


def read_pressure(text: str) -> Pressure | None:
    """Return what a PSI file says; None for one that says nothing."""
    found = {match[1]: min(1.0, float(match[2]) / 100) for match in _LINE.finditer(text)}
    if "some" not in found:
        return None
    return Pressure(some=found["some"], full=found.get("full"))


def number_of(text: str, name: str) -> int | None:
    """Return the whole number of a line like `VmSwap:   12 kB` or `pswpin 7`.

    `name` is all before the blanks. Looks for one line instead of taking all apart: there are 180
    in `/proc/vmstat`, and this is asked for each process once a second.
    """
    for blank in (" ", "\t"):
        mark = f"\n{name}{blank}"
        start = 0 if text.startswith(mark[1:]) else text.find(mark) + 1
        if start or text.startswith(mark[1:]):
            words = text[start : start + _LINE_WIDTH].split("\n", 1)[0].split(maxsplit=2)
            is_it = len(words) >= 2 and words[1].isdecimal()
            return int(words[1]) if is_it and len(words[1]) <= _MOST_DIGITS else None
    return None


def text_of(path: Path) -> str:
    """Return a small file's text; empty when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):  # a name with a null byte
        return ""
