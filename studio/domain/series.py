"""Names of what is kept over time: their units, the words that people type, and how they are met.

A series is named like the field of a tick that it comes from, so its unit stands in its name:
`decode_tokens_per_s`, `card0.power_w`, `spill.swap.bytes`.
"""

import difflib
import fnmatch
from collections.abc import Iterable, Sequence

WORDS: dict[str, tuple[str, ...]] = {
    "pool": ("pool_used_tokens",),
    "spill": ("spill_bytes",),
    "tok/s": ("decode_tokens_per_s",),
    "decode": ("decode_tokens_per_s",),
    "prefill": ("prefill_tokens_per_s",),
    "requests": ("running",),
    "waiting": ("waiting",),
    "ttft": ("ttft_s",),
    "steps": ("tokens_per_step",),
    "hits": ("prefix_hit_share",),
    "memory": ("memory_used_bytes",),
    "power": ("card*.power_w",),
    "temperature": ("card*.temperature_c",),
    "vram": ("card*.memory_used_bytes",),
    "gpu": ("card*.utilisation_share",),
    "clocks": ("card*.sm_clock_mhz",),
}
"""What people type, and the series that it means; `*` stands for the number of a card."""

DEFAULT = ("pool", "spill", "tok/s")
"""The three numbers in front."""

_UNITS = (
    ("tokens_per_s", "tok/s"),
    ("bytes_per_s", "B/s"),
    ("_bytes", "B"),
    (".bytes", "B"),
    ("_tokens", "tokens"),
    ("share", "share"),
    ("per_step", "tok/step"),
    ("_mhz", "MHz"),
    ("_w", "W"),
    ("_c", "°C"),
    ("_s", "s"),
)


def unit_of(name: str) -> str:
    """Return the unit that a series' name ends in; empty for a count."""
    return next((unit for ending, unit in _UNITS if name.endswith(ending)), "")


def patterns(typed: Sequence[str]) -> tuple[str, ...]:
    """Return the patterns of series that words, names and patterns mean, in their order."""
    found: dict[str, None] = {}
    for word in typed:
        found.update(dict.fromkeys(WORDS.get(word.lower(), (word,))))
    return tuple(found)


def chosen(names: Iterable[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """Return those of `names` that one of the patterns `wanted` means, in the order of these."""
    known = sorted(names)
    found: dict[str, None] = {}
    for pattern in wanted:
        found.update(dict.fromkeys(fnmatch.filter(known, pattern)))
    return tuple(found)


def is_word(typed: str) -> bool:
    """Tell whether people have a word of their own for it."""
    return typed.lower() in WORDS


def near(typed: str, names: Iterable[str]) -> str | None:
    """Return the word or the name that was probably meant."""
    known = [*WORDS, *sorted(names)]
    return next(iter(difflib.get_close_matches(typed.lower(), known, n=1)), None)
