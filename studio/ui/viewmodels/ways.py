"""Where the window does what a sentence of the service would have somebody type.

The service names commands, because it does not know who reads it. Whoever reads it in the window
has a page or a button for many of them (`assets/ways.toml`), and is told that one.
"""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import msgspec

_COMMAND = re.compile(r"`weir ([^`]+)`")

Say = Callable[[str], str]


class Ways(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`assets/ways.toml`: commands without `weir`, and the words that lead to their place."""

    plain: dict[str, tuple[str, ...]] = {}
    named: dict[str, tuple[str, ...]] = {}
    """The same with one name behind the command."""

    def here(self, text: str, say: Say) -> str:
        """Return `text` with places of the window for the commands that it has places for."""
        if "`weir " not in text:
            return text
        return _COMMAND.sub(lambda found: self._place(found, say), text)

    def _place(self, found: re.Match[str], say: Say) -> str:
        words = found[1].strip()
        parts = self.plain.get(words)
        if parts is None:
            rest, _, name = words.rpartition(" ")
            parts = self.named.get(rest) if name and not name.startswith("-") else None
        return found[0] if parts is None else f"`{' › '.join(map(say, parts))}`"


def read(file: Path) -> Ways:
    """Return the places; none where there is no such file."""
    try:
        return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), Ways)
    except FileNotFoundError:
        return Ways()
