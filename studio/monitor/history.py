"""Successive samples → ticks (rates, shares), and a ring of ticks for charts. Pure.

Rates come from counters and are reset-safe: across a restart of the engine, a missing sample or a
clock that was set back they are unknown, never negative and never a spike. They are means over a
short window, because an engine's counters move in steps: seen second by second, decoding would
fall to 0 between two steps of a slow engine.
"""

import collections
import dataclasses
import math
import operator
from collections.abc import Callable
from typing import Generic, Literal, TypeVar

from studio.domain.cards import CardsReading
from studio.domain.histograms import Histogram
from studio.domain.metrics import EngineSample, HostSample, Tick
from studio.monitor import quantiles

RATE_WINDOW_S = 3.0
"""How far back tokens per second and tokens per step look."""
HIT_WINDOW_S = 60.0
"""How far back the prefix hit share and the TTFT of most requests look."""
LATENCY_WINDOW_S = 10.0
"""How far back the time between tokens and the acceptance by position look."""
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
    "ttft_p50_s",
    "ttft_p95_s",
    "itl_p50_s",
    "itl_p95_s",
    "end_to_end_p50_s",
    "end_to_end_p95_s",
    "draft_accepted_share",
    "step_s",
    "tokens_per_step",
    "prefix_hit_share",
    "external_hit_share",
    "kv_load_bytes_per_s",
    "kv_store_bytes_per_s",
    "preemptions",
    "requests_total",
    "spill_bytes",
    "memory_used_bytes",
    "memory_bytes",
    "engine_rss_bytes",
]
"""What a chart can show of a tick."""

Counter = Callable[[EngineSample], float | None]
V = TypeVar("V")


@dataclasses.dataclass(frozen=True, slots=True)
class _Span(Generic[V]):
    """The two ends of a window: what was read there, and how many seconds lie between."""

    begin: V
    end: V
    seconds: float


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
        cards: CardsReading | None = None,
    ) -> Tick:
        """Return the tick at `at`, in seconds since the epoch.

        `monotonic_s`, where given, is what rates are divided by, so that a clock which is being
        set does not bend them. None for `engine` means that it did not answer.
        """
        self._take(at if monotonic_s is None else monotonic_s, engine)
        host = host or HostSample()
        cards = cards or CardsReading()
        pool, share = (engine.pool_tokens, engine.pool_used_share) if engine else (None, None)
        return Tick(
            at=at,
            pool_tokens=pool,
            pool_used_tokens=None if pool is None or share is None else round(share * pool),
            pool_used_share=share,
            running=_count(engine, lambda sample: sample.running),
            waiting=_count(engine, lambda sample: sample.waiting),
            waiting_by_reason=_counts(engine.waiting_by_reason if engine else None),
            prefill_tokens_per_s=self._rate(_computed_prompt_tokens),
            decode_tokens_per_s=self._rate(lambda sample: sample.generation_tokens_total),
            ttft_s=self._ttft_s(),
            ttft_p50_s=self._quantile(0.5, _TTFT, self._hit_window_s),
            ttft_p95_s=self._quantile(0.95, _TTFT, self._hit_window_s),
            itl_p50_s=self._quantile(0.5, _ITL, LATENCY_WINDOW_S),
            itl_p95_s=self._quantile(0.95, _ITL, LATENCY_WINDOW_S),
            end_to_end_p50_s=self._quantile(0.5, _END_TO_END, self._hit_window_s),
            end_to_end_p95_s=self._quantile(0.95, _END_TO_END, self._hit_window_s),
            acceptance=self._acceptance(),
            draft_accepted_share=self._draft_accepted_share(),
            step_s=self._step_s(),
            tokens_per_step=self._tokens_per_step(),
            prefix_hit_share=self._hit_share(
                lambda sample: sample.prefix_hits_total, lambda sample: sample.prefix_queries_total
            ),
            external_hit_share=self._hit_share(
                lambda sample: sample.external_hits_total,
                lambda sample: sample.external_queries_total,
            ),
            kv_load_bytes_per_s=self._rate(lambda sample: sample.kv_load_bytes_total),
            kv_store_bytes_per_s=self._rate(lambda sample: sample.kv_store_bytes_total),
            preemptions=_count(engine, lambda sample: sample.preemptions_total),
            requests_total=_count(engine, lambda sample: sample.requests_finished_total),
            spill_bytes=host.swap_used_bytes,
            memory_used_bytes=host.memory_used_bytes,
            memory_bytes=host.memory_bytes,
            engine_rss_bytes=host.engine_rss_bytes,
            cards=cards.cards,
            cards_note=cards.note,
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

    def _span(self, read: Callable[[EngineSample], V | None], window_s: float) -> _Span[V] | None:
        """Return what was read at both ends of a window that ends now.

        Looks back to the sample at the window's far end, at least to the one before the newest. A
        sample that does not tell ends the view: a counter may have begun anew behind it.
        """
        if len(self._samples) < 2:
            return None
        newest_at, newest = self._samples[-1]
        end = read(newest)
        if end is None:
            return None
        begin_at, begin = newest_at, end
        for index in range(len(self._samples) - 2, -1, -1):
            at, sample = self._samples[index]
            value = read(sample)
            if value is None or (begin_at < newest_at and at < newest_at - window_s - _SLACK):
                break
            begin_at, begin = at, value
        return None if begin_at == newest_at else _Span(begin, end, newest_at - begin_at)

    def _delta(self, counter: Counter, window_s: float) -> tuple[float, float] | None:
        """Return by how much a counter grew, and over how many seconds."""
        span = self._span(counter, window_s)
        if span is None or span.end < span.begin:
            return None
        return span.end - span.begin, span.seconds

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

    def _hit_share(self, hits: Counter, queries: Counter) -> float | None:
        share = _quotient(
            self._delta(hits, self._hit_window_s), self._delta(queries, self._hit_window_s)
        )
        return None if share is None else min(share, 1.0)

    def _quantile(
        self, share: float, read: Callable[[EngineSample], Histogram | None], window_s: float
    ) -> float | None:
        span = self._span(read, window_s)
        values = None if span is None else quantiles.between(span.begin, span.end)
        return None if values is None else quantiles.quantile(share, values)

    def _acceptance(self) -> tuple[float, ...] | None:
        """Return how often each place of a draft was accepted.

        Source: vLLM 0.32, `SpecDecodingProm` in v1/spec_decode/metrics.py.
        """
        drafts = self._delta(lambda sample: sample.drafts_total, LATENCY_WINDOW_S)
        span = self._span(lambda sample: sample.accepted_by_position, LATENCY_WINDOW_S)
        if drafts is None or drafts[0] <= 0 or span is None or len(span.begin) != len(span.end):
            return None
        accepted = [now - then for then, now in zip(span.begin, span.end, strict=True)]
        return None if min(accepted) < 0 else tuple(min(1.0, one / drafts[0]) for one in accepted)

    def _draft_accepted_share(self) -> float | None:
        share = _quotient(
            self._delta(lambda sample: sample.accepted_total, LATENCY_WINDOW_S),
            self._delta(lambda sample: sample.draft_tokens_total, LATENCY_WINDOW_S),
        )
        return None if share is None else min(share, 1.0)

    def _step_s(self) -> float | None:
        """Return what a step takes; None where the engine may have had nothing to do meanwhile."""
        span = self._span(_steps_at_work, self._rate_window_s)
        steps = 0.0 if span is None else span.end - span.begin
        return None if span is None or steps <= 0 else span.seconds / steps


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


_TTFT: Callable[[EngineSample], Histogram | None] = operator.attrgetter("ttft")
_ITL: Callable[[EngineSample], Histogram | None] = operator.attrgetter("itl")
_END_TO_END: Callable[[EngineSample], Histogram | None] = operator.attrgetter("end_to_end")


def _steps_at_work(sample: EngineSample) -> float | None:
    """Return how many steps there were so far, None while no request runs."""
    steps = sample.iteration_tokens
    return None if steps is None or not sample.running else steps.count


def _computed_prompt_tokens(sample: EngineSample) -> float | None:
    """Return the prompt tokens that were really computed; reused prefixes cost no prefill."""
    if sample.prompt_tokens_total is None:
        return None
    return sample.prompt_tokens_total - (sample.cached_prompt_tokens_total or 0.0)


_COUNTERS = (
    "prompt_tokens_total", "generation_tokens_total", "cached_prompt_tokens_total",
    "prefix_queries_total", "prefix_hits_total", "external_queries_total", "external_hits_total",
    "preemptions_total", "requests_finished_total", "ttft_sum_s", "ttft_count", "itl_sum_s",
    "itl_count", "drafts_total", "accepted_total", "kv_load_bytes_total", "kv_store_bytes_total",
)  # fmt: skip
_all_counters: Callable[[EngineSample], tuple[float | None, ...]] = operator.attrgetter(*_COUNTERS)


def _began_anew(last: EngineSample, now: EngineSample) -> bool:
    """Return whether any counter fell, which only a restart does.

    Then none of the others is comparable, also one that has meanwhile overtaken its old value.
    """
    both = zip(_all_counters(last), _all_counters(now), strict=True)
    return any(
        before is not None and after is not None and after < before for before, after in both
    )


def _quotient(part: tuple[float, float] | None, whole: tuple[float, float] | None) -> float | None:
    if part is None or whole is None or whole[0] <= 0:
        return None
    return part[0] / whole[0]


def _count(engine: EngineSample | None, read: Counter) -> int | None:
    value = read(engine) if engine is not None else None
    return None if value is None else round(value)


def _counts(parts: dict[str, float] | None) -> dict[str, int] | None:
    return None if parts is None else {name: round(value) for name, value in parts.items()}
