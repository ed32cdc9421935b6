"""Successive samples → ticks (rates, shares), and a ring of ticks for charts. Pure.

Rates come from counters and are reset-safe: across a restart of the engine, a missing sample or a
clock that was set back they are unknown, never negative and never a spike. They are means over a
short window, because an engine's counters move in steps: seen second by second, decoding would
fall to 0 between two steps of a slow engine.
"""

import collections
import math
from collections.abc import Callable
from typing import Literal

from studio.domain.metrics import EngineSample, HostSample, Tick

RATE_WINDOW_S = 3.0
"""How far back tokens per second and tokens per step look."""
HIT_WINDOW_S = 60.0
"""How far back the prefix hit share looks."""
_SLACK = 1e-6

Series = Literal[
    "pool_tokens",
    "pool_used_tokens",
    "pool_used_share",
    "running",
    "waiting",
    "prefill_tokens_per_s",
    "decode_tokens_per_s",
    "ttft_s",
    "tokens_per_step",
    "prefix_hit_share",
    "preemptions",
    "requests_total",
    "spill_bytes",
    "memory_used_bytes",
    "memory_bytes",
    "engine_rss_bytes",
]
"""What a chart can show of a tick."""

Counter = Callable[[EngineSample], float | None]


class Meter:
    """Turns one engine's successive samples into ticks."""

    def __init__(
        self, *, rate_window_s: float = RATE_WINDOW_S, hit_window_s: float = HIT_WINDOW_S
    ) -> None:
        self._rate_window_s = rate_window_s
        self._hit_window_s = hit_window_s
        self._samples: collections.deque[tuple[float, EngineSample]] = collections.deque()

    def tick(
        self,
        at: float,
        engine: EngineSample | None,
        host: HostSample | None,
        *,
        monotonic_s: float | None = None,
    ) -> Tick:
        """Return the tick at `at`, in seconds since the epoch.

        `monotonic_s`, where given, is what rates are divided by, so that a clock which is being
        set does not bend them. None for `engine` means that it did not answer.
        """
        self._take(at if monotonic_s is None else monotonic_s, engine)
        host = host or HostSample()
        pool, share = (engine.pool_tokens, engine.pool_used_share) if engine else (None, None)
        return Tick(
            at=at,
            pool_tokens=pool,
            pool_used_tokens=None if pool is None or share is None else round(share * pool),
            pool_used_share=share,
            running=_count(engine, lambda sample: sample.running),
            waiting=_count(engine, lambda sample: sample.waiting),
            prefill_tokens_per_s=self._rate(_computed_prompt_tokens),
            decode_tokens_per_s=self._rate(lambda sample: sample.generation_tokens_total),
            ttft_s=self._ttft_s(),
            tokens_per_step=self._tokens_per_step(),
            prefix_hit_share=self._prefix_hit_share(),
            preemptions=_count(engine, lambda sample: sample.preemptions_total),
            requests_total=_count(engine, lambda sample: sample.requests_finished_total),
            spill_bytes=host.swap_used_bytes,
            memory_used_bytes=host.memory_used_bytes,
            memory_bytes=host.memory_bytes,
            engine_rss_bytes=host.engine_rss_bytes,
        )

    def _take(self, at: float, engine: EngineSample | None) -> None:
        """Remember the sample; forget all before it where the counters may have begun anew."""
        if engine is None:
            self._samples.clear()
            return
        if self._samples:
            last_at, last = self._samples[-1]
            if at <= last_at or _began_anew(last, engine):
                self._samples.clear()
        self._samples.append((at, engine))
        while len(self._samples) > 2 and self._samples[1][0] <= at - self._hit_window_s:
            self._samples.popleft()

    def _delta(self, counter: Counter, window_s: float) -> tuple[float, float] | None:
        """Return by how much a counter grew, and over how many seconds.

        Looks back to the sample at the window's far end, at least to the one before the newest. A
        sample without the counter ends the view: its value may have begun anew behind it.
        """
        if len(self._samples) < 2:
            return None
        newest_at, newest = self._samples[-1]
        end = counter(newest)
        begin_at, begin = newest_at, end
        for index in range(len(self._samples) - 2, -1, -1):
            at, sample = self._samples[index]
            value = counter(sample)
            if value is None or (begin_at < newest_at and at < newest_at - window_s - _SLACK):
                break
            begin_at, begin = at, value
        if end is None or begin is None or begin_at == newest_at or end < begin:
            return None
        return end - begin, newest_at - begin_at

    def _rate(self, counter: Counter) -> float | None:
        delta = self._delta(counter, self._rate_window_s)
        return None if delta is None else delta[0] / delta[1]

    def _ttft_s(self) -> float | None:
        """Return the mean TTFT of those who got their first token since the last tick."""
        return _quotient(
            self._delta(lambda sample: sample.ttft_sum_s, 0.0),
            self._delta(lambda sample: sample.ttft_count, 0.0),
        )

    def _tokens_per_step(self) -> float | None:
        accepted = _quotient(
            self._delta(lambda sample: sample.accepted_total, self._rate_window_s),
            self._delta(lambda sample: sample.drafts_total, self._rate_window_s),
        )
        return None if accepted is None else 1 + accepted

    def _prefix_hit_share(self) -> float | None:
        share = _quotient(
            self._delta(lambda sample: sample.prefix_hits_total, self._hit_window_s),
            self._delta(lambda sample: sample.prefix_queries_total, self._hit_window_s),
        )
        return None if share is None else min(share, 1.0)


class History:
    """The newest ticks, oldest first."""

    def __init__(self, capacity: int = 3600) -> None:
        self._ticks: collections.deque[Tick] = collections.deque(maxlen=capacity)

    def __len__(self) -> int:
        return len(self._ticks)

    @property
    def last(self) -> Tick | None:
        """Return the newest tick."""
        return self._ticks[-1] if self._ticks else None

    def append(self, tick: Tick) -> None:
        """Add the newest tick; the oldest one goes when the ring is full."""
        self._ticks.append(tick)

    def since(self, at: float) -> list[Tick]:
        """Return the ticks from `at` on, in seconds since the epoch."""
        found: list[Tick] = []
        for tick in reversed(self._ticks):
            if tick.at < at:
                break
            found.append(tick)
        found.reverse()
        return found

    def series(self, name: Series, seconds: float, points: int) -> list[tuple[float, float | None]]:
        """Return at most `points` pairs of time and value over the last `seconds`.

        Where there are more ticks than points, the smallest and the largest value of each stretch
        stand for it, so that no peak is lost. Stretches are aligned to the clock: a chart that
        moves does not shimmer. A stretch without any known value gives one None, which is a gap.
        """
        if not self._ticks or points <= 0:
            return []
        ticks = self.since(self._ticks[-1].at - seconds)
        pairs: list[tuple[float, float | None]] = [(tick.at, getattr(tick, name)) for tick in ticks]
        if len(pairs) <= points:
            return pairs
        # One stretch more than fits the span, since neither end is aligned.
        width_s = max(seconds, _SLACK) / max(1, points // 2 - 1)
        stretches: dict[int, list[tuple[float, float | None]]] = {}
        for pair in pairs:
            stretches.setdefault(math.floor(pair[0] / width_s), []).append(pair)
        thin = [pair for stretch in stretches.values() for pair in _extremes(stretch)]
        return thin[-points:]


def _extremes(stretch: list[tuple[float, float | None]]) -> list[tuple[float, float | None]]:
    known = [(value, at) for at, value in stretch if value is not None]
    if not known:
        return [(stretch[0][0], None)]
    low, high = min(known), max(known)
    return [(at, value) for at, value in sorted({(low[1], low[0]), (high[1], high[0])})]


def _computed_prompt_tokens(sample: EngineSample) -> float | None:
    """Return the prompt tokens that were really computed; reused prefixes cost no prefill."""
    if sample.prompt_tokens_total is None:
        return None
    return sample.prompt_tokens_total - (sample.cached_prompt_tokens_total or 0.0)


_COUNTERS: tuple[Counter, ...] = (
    lambda sample: sample.prompt_tokens_total,
    lambda sample: sample.generation_tokens_total,
    lambda sample: sample.cached_prompt_tokens_total,
    lambda sample: sample.prefix_queries_total,
    lambda sample: sample.prefix_hits_total,
    lambda sample: sample.preemptions_total,
    lambda sample: sample.requests_finished_total,
    lambda sample: sample.ttft_sum_s,
    lambda sample: sample.ttft_count,
    lambda sample: sample.itl_sum_s,
    lambda sample: sample.itl_count,
    lambda sample: sample.drafts_total,
    lambda sample: sample.accepted_total,
)


def _began_anew(last: EngineSample, now: EngineSample) -> bool:
    """Return whether any counter fell, which only a restart does.

    Then none of the others is comparable, also one that has meanwhile overtaken its old value.
    """
    for counter in _COUNTERS:
        before, after = counter(last), counter(now)
        if before is not None and after is not None and after < before:
            return True
    return False


def _quotient(part: tuple[float, float] | None, whole: tuple[float, float] | None) -> float | None:
    if part is None or whole is None or whole[0] <= 0:
        return None
    return part[0] / whole[0]


def _count(engine: EngineSample | None, read: Counter) -> int | None:
    value = read(engine) if engine is not None else None
    return None if value is None else round(value)
