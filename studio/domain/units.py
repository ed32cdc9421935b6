"""The only place where numbers become words for people.

Bytes, seconds and tokens travel as plain numbers; GiB and thousands separators appear here.
Unknown (`None`) is always shown as an en dash, never as zero.
"""

UNKNOWN = "–"

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30


def bytes_text(n: float | None) -> str:
    """Return `n` bytes as `512 B`, `8.0 KiB`, `93.4 MiB` or `5.20 GiB`."""
    if n is None:
        return UNKNOWN
    # By the rounded figure: 1,048,575 B are 1.0 MiB and not 1024.0 KiB.
    if round(abs(n) / MIB, 1) >= 1024:
        return f"{n / GIB:,.2f} GiB"
    if round(abs(n) / KIB, 1) >= 1024:
        return f"{n / MIB:.1f} MiB"
    if round(abs(n)) >= KIB:
        return f"{n / KIB:.1f} KiB"
    return f"{n:.0f} B"


def tokens_text(n: float | None) -> str:
    """Return a token count with thousands separators: `68,605 tokens`."""
    return UNKNOWN if n is None else f"{n:,.0f} tokens"


def rate_text(tokens_per_s: float | None) -> str:
    """Return a token rate: `132 tok/s`, one decimal below 100."""
    if tokens_per_s is None:
        return UNKNOWN
    if round(tokens_per_s, 1) >= 100:
        return f"{tokens_per_s:,.0f} tok/s"
    return f"{tokens_per_s:.1f} tok/s"


def percent_text(share: float | None) -> str:
    """Return a share (0 to 1) as a whole percentage; tiny but present shares say `<1 %`."""
    if share is None:
        return UNKNOWN
    if 0 < share < 0.01:
        return "<1 %"
    return f"{share * 100:.0f} %"


def latency_text(seconds: float | None) -> str:
    """Return a latency: `0.17 s`."""
    return UNKNOWN if seconds is None else f"{seconds:.2f} s"


def duration_text(seconds: float | None) -> str:
    """Return a span: `4.2 s`, `1 min 22 s`, `2 h 05 min`."""
    if seconds is None:
        return UNKNOWN
    if round(seconds, 1) < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def number_text(count: int) -> str:
    """Return a small number as a word, a larger one in digits."""
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else f"{count:,}"


def counted(count: int, one: str, many: str) -> str:
    """Return how many of something: `one card`, `four cards`, `16 cards`."""
    return f"{number_text(count)} {one if count == 1 else many}"
