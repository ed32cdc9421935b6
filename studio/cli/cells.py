"""Lines of a terminal as pieces of text with a style, measured in columns. Pure.

Widths are rich's (two columns for wide characters, none for combining ones); control characters
are taken out, since a name from elsewhere could move the cursor.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from studio.cli.console import plain

ELLIPSIS = "…"
STYLES: dict[str, str] = {
    "": "",
    "strong": "1",
    "quiet": "2",
    "good": "32",
    "warn": "33",
    "bad": "31;1",
    "head": "7",
}
"""SGR codes. Nothing is told by colour alone: `bad` things say so in words too."""


_BLANKS = str.maketrans("\t\n", "  ")


class Span(NamedTuple):
    """A piece of a line."""

    text: str
    style: str = ""


Line = tuple[Span, ...]


def width_of(text: str) -> int:
    """Return how many columns `text` takes."""
    return len(text) if text.isascii() else cell_len(text)


def cropped(text: str, width: int) -> str:
    """Return `text` in at most `width` columns; what is cut off is marked."""
    text = plain(text).translate(_BLANKS)
    if width_of(text) <= width:
        return text
    return set_cell_size(text, max(0, width - 1)).rstrip() + ELLIPSIS if width > 0 else ""


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return `text` in exactly `width` columns, at their left or right end."""
    shown = cropped(text, width)
    room = " " * (width - width_of(shown))
    return room + shown if right else shown + room


def line(*pieces: Span | str) -> Line:
    """Return a line of pieces; a plain text has no style."""
    return tuple(Span(one) if isinstance(one, str) else one for one in pieces)


def fitted(pieces: Iterable[Span], width: int) -> Line:
    """Return a line in at most `width` columns."""
    kept: list[Span] = []
    left = width
    for piece in pieces:
        if left <= 0:
            break
        text = cropped(piece.text, left)
        kept.append(Span(text, piece.style))
        left -= width_of(text)
    return tuple(kept)


def text_of(pieces: Sequence[Span]) -> str:
    """Return a line without its styles."""
    return "".join(piece.text for piece in pieces)


def columns(
    rows: Sequence[Sequence[str]], rights: Sequence[bool], flex: int, width: int
) -> list[str]:
    """Return rows in columns two apart; column `flex` takes or gives what the others leave.

    `rights` says which columns stand at the right. What does not fit at all is cut at the end.
    """
    if not rows:
        return []
    sizes = [max(width_of(row[index]) for row in rows) for index in range(len(rows[0]))]
    others = sum(sizes) - sizes[flex] + 2 * (len(sizes) - 1)
    sizes[flex] = max(8, min(sizes[flex], width - others))
    return [
        cropped(
            "  ".join(
                padded(cell, size, right=right)
                for cell, size, right in zip(row, sizes, rights, strict=True)
            ).rstrip(),
            width,
        )
        for row in rows
    ]
