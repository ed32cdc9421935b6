"""Small charts of one line. Pure."""

from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"
PLAIN_BARS = "_.-=+*%#"
"""For terminals that have no blocks."""
GAP = " "
FULL, EMPTY = "█", "░"
PLAIN_FULL, PLAIN_EMPTY = "#", "."


def spark(
    values: Sequence[float | None], width: int, *, most: float | None = None, is_plain: bool = False
) -> str:
    """Return the newest `width` values as bars, the newest at the right.

    A value that is not known is a gap, zero is the lowest bar. `most` is what a full bar stands
    for; without it, the largest of the values.
    """
    if width <= 0:
        return ""
    shown = values[-width:]
    known = [value for value in shown if value is not None]
    top = most if most is not None else max(known, default=0.0)
    bars = PLAIN_BARS if is_plain else BARS
    drawn = "".join(GAP if value is None else _bar(value, top, bars) for value in shown)
    return drawn.rjust(width)


def _bar(value: float, top: float, bars: str) -> str:
    if top <= 0 or value <= 0:
        return bars[0]
    return bars[min(len(bars) - 1, int(value / top * len(bars)))]


def gauge(share: float | None, width: int, *, is_plain: bool = False) -> str:
    """Return a bar that is filled by `share`; an unknown one is blank."""
    if width <= 0:
        return ""
    if share is None:
        return GAP * width
    full, empty = (PLAIN_FULL, PLAIN_EMPTY) if is_plain else (FULL, EMPTY)
    filled = round(min(1.0, max(0.0, share)) * width)
    if share > 0 and filled == 0:
        filled = 1
    return full * filled + empty * (width - filled)
