"""A run in one line of a list. Pure."""

from studio.benchmark.compare import cards_text
from studio.benchmark.load import length_of
from studio.domain.bench import BenchKind, BenchResult, BenchSummary


def summary(result: BenchResult) -> BenchSummary:
    """Return the figures of a run that people ask for first."""
    by_name = {part.name: part for part in result.parts}
    single = by_name.get("decode-1")
    several = [part for part in result.parts if part.kind is BenchKind.DECODE]
    widest = max(several, key=lambda part: part.streams, default=None)
    reading = [part for part in result.parts if part.kind is BenchKind.PREFILL]
    longest = max(reading, key=lambda part: length_of(part.name) or 0, default=None)
    return BenchSummary(
        id=result.id,
        at=result.at,
        preset=result.preset,
        runtime=result.runtime,
        runtime_id=result.runtime_id,
        cards=cards_text(result),
        is_quick=result.is_quick,
        is_partial=result.partial is not None,
        is_disturbed=result.is_disturbed,
        decode_tokens_per_s=single.decode_tokens_per_s if single is not None else None,
        total_tokens_per_s=widest.total_tokens_per_s if widest is not None else None,
        prefill_tokens_per_s=longest.prefill_tokens_per_s if longest is not None else None,
    )
