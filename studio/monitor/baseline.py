"""How much of each adapter's memory lies in the machine's while no engine runs. Pure.

Windows, a browser and the desktop always keep some of a card's memory in the machine's: 86 MB on
one box, 320 on another (HyperQwen, WSL2). It is learnt while nothing of ours runs, never while an
engine loads, and kept, because an engine that is started with the service leaves no time to look.
"""

import collections
import statistics
from collections.abc import Mapping

from studio.domain.readings import AdapterReading, AdapterReadings

ASSUMED_BYTES = 400_000_000
"""Where nothing was ever learnt: clean runs were seen to end at up to 382 MB (HyperQwen, WSL2)."""
SETTLE_S = 8.0
"""After an engine's end Windows takes a while to give back what it moved."""
_KEPT_READINGS = 60
_FEWEST = 3
_NEWS_BYTES = 16 << 20
"""Less is not worth a file's writing."""


class Baselines:
    """What is normal for each adapter; `learn` once a second, `of` at any time."""

    def __init__(self, kept: Mapping[str, int] | None = None) -> None:
        """`kept`: what an earlier service learnt, by the names of `names`."""
        self._kept = dict(kept or {})
        self._seen: dict[str, collections.deque[int]] = {}
        self._quiet_since_s: float | None = None

    def learn(self, readings: AdapterReadings, monotonic_s: float, *, is_running: bool) -> None:
        """Take up what is seen; counts only some seconds after the last engine's end."""
        if is_running:
            self._quiet_since_s = None
            return
        if self._quiet_since_s is None:
            # Nothing of ours has run in this service yet: there is nothing to wait for.
            self._quiet_since_s = monotonic_s if self._seen else monotonic_s - SETTLE_S
        if monotonic_s - self._quiet_since_s < SETTLE_S:
            return
        for name, adapter in named(readings.adapters).items():
            seen = self._seen.setdefault(name, collections.deque(maxlen=_KEPT_READINGS))
            seen.append(adapter.shared_bytes)

    def of(self, name: str) -> tuple[int, bool]:
        """Return an adapter's idle bytes, and whether they were seen rather than assumed."""
        seen = self._seen.get(name, ())
        if len(seen) >= _FEWEST:
            return round(statistics.median(seen)), True
        if name in self._kept:
            return self._kept[name], True
        return ASSUMED_BYTES, False

    def news(self) -> dict[str, int] | None:
        """Return what should be kept from now on, None when that is nothing new."""
        learnt = {
            name: self.of(name)[0] for name, seen in self._seen.items() if len(seen) >= _FEWEST
        }
        is_news = any(
            name not in self._kept or abs(self._kept[name] - value) >= _NEWS_BYTES
            for name, value in learnt.items()
        )
        if not is_news:
            return None
        self._kept |= learnt
        return dict(self._kept)


def named(adapters: tuple[AdapterReading, ...]) -> dict[str, AdapterReading]:
    """Return NVIDIA's adapters by names that survive a restart of Windows, which LUIDs do not.

    Several of one name are told apart by their order. One that Windows gives no name counts when
    it has memory of its own: an integrated chip has none to speak of.
    """
    found: dict[str, AdapterReading] = {}
    for adapter in adapters:
        if adapter.is_nvidia is False or (adapter.is_nvidia is None and not _has_memory(adapter)):
            continue
        plain = adapter.name or "card"
        name, number = plain, 2
        while name in found:
            name, number = f"{plain} ({number})", number + 1
        found[name] = adapter
    return found


def _has_memory(adapter: AdapterReading) -> bool:
    return (adapter.dedicated_bytes or 0) >= 1 << 28
