"""Answers and the engine's counters to figures. Pure."""

import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Sequence

from studio.benchmark.answer import Answer
from studio.benchmark.load import Step
from studio.domain.bench import BenchKind, BenchPart
from studio.domain.metrics import EngineSample

_OTHERS_SHARE = 0.02
_OTHERS_TOKENS = 8
"""Tokens of others that are no disturbance: what the engine counted around the edges."""
_CACHED_SHARE = 0.05


def part(
    step: Step,
    answers: Sequence[Answer],
    *,
    name: str,
    took_s: float,
    before: EngineSample | None = None,
    after: EngineSample | None = None,
    is_disturbed: bool = False,
) -> BenchPart:
    """Return what a part of the load measured."""
    ttfts = _known(answer.ttft_s for answer in answers)
    gaps = [gap for answer in answers for gap in _gaps(answer.pieces_s)]
    has_answers = step.answer_tokens > 1
    steps = tokens_per_step(before, after) if has_answers else None
    step_s = step_time(before, after) if has_answers else None
    rate = _median(decode_rate(one) for one in answers) if has_answers else None
    is_by_steps = rate is None and steps is not None and step_s is not None and step_s > 0
    if steps is not None and step_s is not None and is_by_steps:
        rate = steps / step_s
    # Of a short prompt the time to the first token is no reading but a round through everything.
    is_read = step.kind is not BenchKind.DECODE
    return BenchPart(
        name=name,
        kind=step.kind,
        streams=step.streams,
        requests=len(answers),
        prompt_tokens=_mean(answer.prompt_tokens for answer in answers),
        cached_tokens=_mean(answer.cached_tokens for answer in answers),
        generated_tokens=_sum(answer.generated_tokens for answer in answers),
        decode_tokens_per_s=rate,
        total_tokens_per_s=_total(answers) if has_answers else None,
        prefill_tokens_per_s=_median(map(prefill_rate, answers)) if is_read else None,
        ttft_p50_s=quantile(ttfts, 0.5),
        ttft_p95_s=quantile(ttfts, 0.95),
        itl_p50_s=quantile(gaps, 0.5),
        itl_p95_s=quantile(gaps, 0.95),
        tokens_per_step=steps,
        step_s=step_s,
        took_s=took_s,
        is_disturbed=is_disturbed or has_others(answers, before, after),
        note=_cache_note(answers, name) or (_one_piece() if is_by_steps else None),
    )


def decode_rate(answer: Answer) -> float | None:
    """Return a request's tokens a second after its first one, by the engine's own count.

    The first piece holds the token that prefill ends with, and may hold more under speculation.
    """
    tokens, seconds = answer.generated_tokens, answer.decoding_s
    return (tokens - 1) / seconds if tokens is not None and tokens > 1 and seconds else None


def prefill_rate(answer: Answer) -> float | None:
    """Return the prompt tokens that were computed, over the time to the first token."""
    ttft_s = answer.ttft_s
    if answer.prompt_tokens is None or ttft_s is None or ttft_s <= 0:
        return None
    computed = answer.prompt_tokens - (answer.cached_tokens or 0)
    return computed / ttft_s if computed > 0 else None


def tokens_per_step(before: EngineSample | None, after: EngineSample | None) -> float | None:
    """Return how many tokens a step brought a request: 1 and what was guessed right.

    An engine that drafts nothing has no such counters, and brings one. Source: vLLM 0.26 to 0.32,
    v1/spec_decode/metrics.py, which counts a draft for each step and request.
    """
    if after is None or before is None:
        return None
    if after.drafts_total is None:
        return 1.0 if after.generation_tokens_total is not None else None
    drafts = _delta(before, after, lambda sample: sample.drafts_total)
    accepted = _delta(before, after, lambda sample: sample.accepted_total)
    return 1 + accepted / drafts if drafts and accepted is not None else None


def step_time(before: EngineSample | None, after: EngineSample | None) -> float | None:
    """Return the mean time between two steps of a request, in seconds.

    vLLM observes it once for each step that brings a request tokens, however many they are
    (v1/metrics/stats.py, 0.26 to 0.32).
    """
    total = _delta(before, after, lambda sample: sample.itl_sum_s)
    count = _delta(before, after, lambda sample: sample.itl_count)
    return total / count if total is not None and count else None


def has_others(
    answers: Sequence[Answer], before: EngineSample | None, after: EngineSample | None
) -> bool:
    """Tell whether the engine generated more than was asked of it here."""
    counted = generated(before, after)
    own = _sum(answer.generated_tokens for answer in answers)
    if counted is None or own is None:
        return False
    return counted > own * (1 + _OTHERS_SHARE) + _OTHERS_TOKENS


def generated(before: EngineSample | None, after: EngineSample | None) -> float | None:
    """Return how many tokens the engine says that it generated between two samples."""
    return _delta(before, after, lambda sample: sample.generation_tokens_total)


def quantile(values: Sequence[float], share: float) -> float | None:
    """Return the value below which `share` of `values` lie, between neighbours in proportion."""
    if not values:
        return None
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _total(answers: Sequence[Answer]) -> float | None:
    """Return the tokens of all requests a second, while any of them was answered."""
    tokens = _sum(answer.generated_tokens for answer in answers)
    begun = [answer.pieces_s[0] for answer in answers if answer.pieces_s]
    ended = _known(answer.last_s for answer in answers)
    if tokens is None or not answers or len(begun) < len(answers) or len(ended) < len(answers):
        return None
    span_s = max(ended) - min(begun)
    return (tokens - len(answers)) / span_s if span_s > 0 else None


def _one_piece() -> str:
    """Say where a rate comes from when no moment of a first token could be seen."""
    return "No text was seen before the end, so the rate is that of the engine's steps."


def _cache_note(answers: Sequence[Answer], name: str) -> str | None:
    """Return what is wrong with the cache: a hit where there should be none, or the reverse."""
    prompt = _mean(answer.prompt_tokens for answer in answers)
    cached = _mean(answer.cached_tokens for answer in answers)
    if prompt is None or cached is None:
        return None
    if name == "turns-later" and cached == 0:
        return "The prefix cache gave nothing back: it is off, or the document is below a block."
    if name != "turns-later" and cached > prompt * _CACHED_SHARE:
        return "Part of the prompt was in the prefix cache although it was asked for apart."
    return None


def _delta(
    before: EngineSample | None,
    after: EngineSample | None,
    counter: Callable[[EngineSample], float | None],
) -> float | None:
    """Return by how much a counter grew; None when it fell, which only another engine's does."""
    if before is None or after is None:
        return None
    first, last = counter(before), counter(after)
    return last - first if first is not None and last is not None and last >= first else None


def _gaps(times: Sequence[float]) -> list[float]:
    return [later - earlier for earlier, later in itertools.pairwise(times)]


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _median(values: Iterable[float | None]) -> float | None:
    known = _known(values)
    return statistics.median(known) if known else None


def _mean(values: Iterable[int | None]) -> int | None:
    known = _known(values)
    return round(statistics.fmean(known)) if known else None


def _sum(values: Iterable[int | None]) -> int | None:
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total
