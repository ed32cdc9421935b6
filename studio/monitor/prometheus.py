"""vLLM's `/metrics` text → `EngineSample`. Pure, and it never raises.

Reads only the families in `families.py` (docs/decisions/0004-metrics-parser.md says why not a
general parser). Every engine of a data-parallel server has series of its own; they are summed. A
value that is not a finite number of at least 0 makes its whole field unknown, and so does a series
that comes twice with different values: a sum that lacks a part would be a wrong number, and
unknown is not zero.

What a line means is decided by all before its value, which stays the same from reading to reading
and is remembered.
"""

import functools
import itertools
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from studio.domain.histograms import Histogram
from studio.domain.metrics import EngineSample
from studio.monitor.families import (
    BY_LABEL,
    CONFIG,
    HISTOGRAMS,
    MEANS,
    OLDER,
    PREFIX,
    SLEEP,
    SLEEP_LABEL,
    SUMMED,
    USE,
)

_LABEL = re.compile(r'[{,](\w+)="((?:[^"\\]|\\.)*)"')
_WHOLE = re.compile(r"\d{1,18}", re.ASCII)
_PREFIX_LENGTH = len(PREFIX)
_REMEMBERED_LENGTH = 1_000
"""Characters; longer beginnings of lines are worked out anew each time."""
_SLEEP_FIELD = "sleep"
_RARE: "tuple[Slot, ...]" = (("rare", None),)
"""Of the families that are not plain sums."""

Labels = dict[str, str]
Slot = tuple[str, str | None]
"""A field, and which part of it."""


class _Found:
    """What one text says, before it is put together."""

    def __init__(self) -> None:
        self.seen: dict[str, str] = {}
        self.sums: dict[Slot, float | None] = {}
        self.means: dict[str, list[float | None]] = {}
        self.use: list[tuple[str, float | None]] = []
        self.configs: dict[str, Labels] = {}

    def take(self, head: str, text: str) -> None:
        """Take up a line by what stands before its value."""
        slots = _slots(head) if len(head) < _REMEMBERED_LENGTH else _slots_of(head)
        if not slots:
            return
        if slots is _RARE:
            self.take_rare(head, text)
            return
        value = _number(text)
        before = self.seen.setdefault(head, text)
        if before is not text:  # the series was there before
            if before == text:
                return
            value = None
        for slot in slots:
            known = self.sums.get(slot, 0.0)
            self.sums[slot] = None if value is None or known is None else known + value

    def take_rare(self, head: str, text: str) -> None:
        """Take up a line of the families that are not plain sums."""
        name = head.partition("{")[0]
        if name == USE:
            self.use.append((_labels(head).get("engine", ""), _number(text)))
        elif name == CONFIG:
            if _number(text):
                labels = _labels(head)
                self.configs[labels.get("engine", "")] = labels
        else:
            self.means.setdefault(MEANS[name], []).append(_number(text))


def parse(text: str) -> EngineSample:
    """Return what `text` says; a field that it does not say is None.

    `pool_used_share` is the mean over engines, weighted by their pools where all are known.
    """
    found = _Found()
    take = found.take
    for line in text.split("\n"):
        if line[:_PREFIX_LENGTH] != PREFIX:
            continue
        head, _, value = line.rpartition(" ")
        if head[-1:] != "}" and ("{" in line or " " in head):
            head, value = _taken_apart(line)
        take(head, value)
    return _sample(found)


def _taken_apart(line: str) -> tuple[str, str]:
    """Return what a line says of what, where more than one value follows, or nothing whole."""
    end = line.rfind("}") + 1
    head = line[:end] if end else line.partition("{")[0].partition(" ")[0]
    if not end and "{" in line:
        return head, ""
    words = line[len(head) :].split()
    return head, words[0] if words else ""


def _slots_of(head: str) -> tuple[Slot, ...]:
    """Return the fields that a line counts for; none for what nobody looks at."""
    name = head.partition("{")[0]
    found: list[Slot] = []
    if name in (USE, CONFIG) or name in MEANS:
        return _RARE
    if name in SUMMED:
        found.append((SUMMED[name], None))
    if name in BY_LABEL:
        field, label = BY_LABEL[name]
        found.append((field, _labels(head).get(label, "")))
    if name == SLEEP:
        found.append((_SLEEP_FIELD, _labels(head).get(SLEEP_LABEL, "")))
    family, _, part = name.rpartition("_")
    if family in HISTOGRAMS:
        if part == "bucket":
            found.append((HISTOGRAMS[family], _labels(head).get("le", "")))
        elif part == "sum":
            found.append((f"{HISTOGRAMS[family]} sum", None))
    return tuple(found)


_slots = functools.lru_cache(maxsize=4096)(_slots_of)


def _number(text: str) -> float | None:
    """Return a value; not what only Python takes for a number."""
    try:
        value = float(text)
    except ValueError:
        return None
    if not 0.0 <= value < math.inf or "_" in text or not text.isascii():
        return None
    return value


def _labels(line: str) -> Labels:
    return dict(_LABEL.findall(line))


# Putting together


def _sample(found: _Found) -> EngineSample:
    plain: dict[str, Any] = {}
    parts: dict[str, dict[str, float | None]] = {}
    for (field, part), value in found.sums.items():
        if part is None:
            plain[field] = value
        else:
            parts.setdefault(field, {})[part] = value
    for field, (older, part) in OLDER.items():
        if plain.get(field) is None:
            plain[field] = parts.get(older, {}).get(part)
    for field, _label in BY_LABEL.values():
        plain[field] = _all_known(parts.get(field))
    for field in HISTOGRAMS.values():
        plain[field] = _histogram(parts.get(field), plain.pop(f"{field} sum", None))
    for field in MEANS.values():
        plain[field] = _mean(found.means.get(field, []))
    plain["accepted_by_position"] = _in_order(plain["accepted_by_position"])
    for field, _part in OLDER.values():
        plain.pop(field, None)
    configs = found.configs
    pools = {engine: _pool_tokens(labels) for engine, labels in configs.items()}
    return EngineSample(
        pool_used_share=_used_share(found.use, pools),
        pool_tokens=_sum(pools.values()),
        block_size=_same(_whole(labels, "block_size") for labels in configs.values()),
        blocks=_sum(_whole(labels, "num_gpu_blocks") for labels in configs.values()),
        sleep_state=_state(parts.get(_SLEEP_FIELD)),
        **plain,
    )


def _all_known(parts: Mapping[str, float | None] | None) -> dict[str, float] | None:
    known = {part: value for part, value in (parts or {}).items() if value is not None}
    return known if parts and len(known) == len(parts) else None


def _histogram(parts: Mapping[str, float | None] | None, total: float | None) -> Histogram | None:
    """Return a histogram, None where a count is not known or the counts contradict each other."""
    known = _all_known(parts)
    if known is None:
        return None
    try:
        pairs = sorted((float(bound), count) for bound, count in known.items())
    except ValueError:
        return None
    bounds, counts = zip(*pairs, strict=True)
    # Also refuses a bound that is no number, which has no place in an order.
    is_whole = bounds[-1] == math.inf and all(a < b for a, b in itertools.pairwise(bounds))
    if not is_whole or any(a > b for a, b in itertools.pairwise(counts)):
        return None
    return Histogram(bounds=bounds, counts=counts, sum=total)


def _in_order(parts: Mapping[str, float] | None) -> tuple[float, ...] | None:
    """Return the values of positions 0, 1, 2, …; None where one is missing."""
    if parts is None or any(str(place) not in parts for place in range(len(parts))):
        return None
    return tuple(parts[str(place)] for place in range(len(parts)))


def _state(parts: Mapping[str, float | None] | None) -> str | None:
    """Return the one state that has engines."""
    states = [state for state, engines in (parts or {}).items() if engines is None or engines > 0]
    return states[0] if len(states) == 1 else None


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _whole(labels: Labels, name: str) -> int | None:
    text = labels.get(name, "")
    return int(text) if _WHOLE.fullmatch(text) is not None else None


def _pool_tokens(labels: Labels) -> int | None:
    """Return one engine's pool as it printed it; older engines say only blocks and their size."""
    tokens = _whole(labels, "kv_cache_size_tokens")
    if tokens is not None:
        return tokens
    blocks, size = _whole(labels, "num_gpu_blocks"), _whole(labels, "block_size")
    return blocks * size if blocks is not None and size is not None else None


def _sum(parts: Iterable[int | None]) -> int | None:
    total = None
    for part in parts:
        if part is None:
            return None
        total = part + (total or 0)
    return total


def _same(parts: Iterable[int | None]) -> int | None:
    different = set(parts)
    return different.pop() if len(different) == 1 else None


def _used_share(use: list[tuple[str, float | None]], pools: dict[str, int | None]) -> float | None:
    weights: list[float] = []
    shares: list[float] = []
    for engine, share in use:
        if share is None:
            return None
        shares.append(share)
        weights.append(pools.get(engine) or 0)
    if not shares:
        return None
    if not all(weights):
        weights = [1.0] * len(shares)
    mean = sum(share * weight for share, weight in zip(shares, weights, strict=True)) / sum(weights)
    return min(mean, 1.0)
