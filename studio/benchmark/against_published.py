"""A run beside the figures that were published for its preset. Pure."""

from collections.abc import Iterable, Sequence

from studio.benchmark.differences import DECODE, POOL, PREFILL, TOTAL, TTFT, Figure, beside
from studio.benchmark.load import label, length_of
from studio.benchmark.published import Row, rows
from studio.domain.bench import (
    BenchAgainst,
    BenchComparison,
    BenchDifference,
    BenchPart,
    BenchResult,
)
from studio.domain.manifests import Expected

_LENGTH_SLACK = 0.25
"""A prompt of 16k is compared with a figure of 20k, not with one of 112k."""


def with_published(
    result: BenchResult, expected: tuple[Expected, ...], same_share: float
) -> tuple[BenchComparison, ...]:
    """Return the run beside each published row of these cards, the most alike first."""
    return tuple(_with_row(result, row, same_share) for row in rows(expected, result))


def _with_row(result: BenchResult, row: Row, same_share: float) -> BenchComparison:
    expected = row.expected
    differences: list[BenchDifference] = []
    notes = list(row.differs)
    for figure, part, published, what in _pairs(result, row):
        if published is None:
            continue
        value = getattr(part, figure.name) if part is not None else None
        if part is None or value is None:
            notes.append(f"Published {what}: {figure.text(published)}, not measured in this run.")
            continue
        subject = f"{label(part.name)}, {figure.noun}"
        differences += beside(figure, part.name, subject, value, published, "published", same_share)
    differences += beside(
        POOL, "pool", "The pool", result.pool_tokens, expected.pool_tokens, "published", same_share
    )
    if expected.note:
        notes.append(f"The source adds: {expected.note}.")
    return BenchComparison(
        against=BenchAgainst.PUBLISHED,
        other=expected.source,
        title=f"published: {row.title}",
        differences=tuple(differences),
        notes=tuple(notes),
    )


def _pairs(
    result: BenchResult, row: Row
) -> Iterable[tuple[Figure, BenchPart | None, float | None, str]]:
    """Yield each figure, the part it is measured by, what was published, and of what."""
    expected, parts = row.expected, {part.name: part for part in result.parts}
    at = _at(row.prompt_tokens)
    # Decoding behind a long prompt is slower; no part of the load measures that.
    single = parts.get("decode-1") if row.prompt_tokens is None else None
    yield DECODE, single, expected.decode_tokens_per_s, f"for one answer{at}"
    several = parts.get(f"decode-{row.streams}") if row.streams is not None else None
    streams = f"{row.streams} requests" if row.streams is not None else "many requests"
    yield TOTAL, several, expected.total_tokens_per_s, f"for {streams} at once"
    length = row.reading_tokens or row.prompt_tokens
    reading = _nearest(result.parts, length)
    yield PREFILL, reading, expected.prefill_tokens_per_s, f"for reading{_at(length)}"
    first = parts.get("decode-1") if row.prompt_tokens is None else reading
    yield TTFT, first, expected.first_token_s, f"until the first token{at}"


def _at(tokens: int | None) -> str:
    return "" if tokens is None else f" at {tokens // 1_000}k"


def _nearest(parts: Sequence[BenchPart], tokens: int | None) -> BenchPart | None:
    """Return the prefill nearest to a length; the longest one where none is named."""
    reading = [(length, part) for part in parts if (length := length_of(part.name)) is not None]
    if not reading:
        return None
    if tokens is None:
        return max(reading, key=lambda pair: pair[0])[1]
    length, part = min(reading, key=lambda pair: abs(pair[0] - tokens))
    return part if abs(length / tokens - 1) <= _LENGTH_SLACK else None
