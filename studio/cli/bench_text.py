"""Runs of the bench as text, pure; its words stand in `bench_words`."""

import textwrap
from collections.abc import Iterable, Sequence

from studio.cli import bench_words as words
from studio.cli.render import READABLE_WIDTH, labelled, moment_text, table
from studio.cli.words import runtime_text
from studio.domain.bench import (
    BenchCard,
    BenchComparison,
    BenchPart,
    BenchProgress,
    BenchReport,
    BenchResult,
    BenchRuns,
    BenchSummary,
    BenchVerdict,
)
from studio.domain.units import (
    UNKNOWN,
    duration_text,
    latency_text,
    rate_text,
    tokens_text,
)

_ID_SHOWN = 12
_INDENT = "  "
_SEPARATOR = " · "
_ROOMY = 110
_P95 = words.COLUMNS.index("p95")


def progress_text(progress: BenchProgress) -> str:
    """Return how far a run is, in one line."""
    return words.MEASURES.format(
        part=progress.part,
        number=min(progress.done + 1, progress.total),
        total=progress.total,
        elapsed=duration_text(progress.elapsed_s),
        limit=duration_text(progress.limit_s),
    )


def report_text(report: BenchReport, width: int = READABLE_WIDTH) -> str:
    """Return a run: what was measured, its figures, and what they are compared with."""
    result = report.result
    blocks = [_head(report)]
    if result.parts:
        blocks.append(figures_text(result.parts, width))
    blocks += _listed(words.LEFT_OUT, result.left_out, width)
    notes = [*result.notes, *(f"{part.name}: {part.note}" for part in result.parts if part.note)]
    blocks += _listed(words.NOTES, notes, width)
    blocks += [comparison_text(one, width) for one in report.comparisons]
    return "\n\n".join(blocks)


def _head(report: BenchReport) -> str:
    result = report.result
    head = words.HEAD.format(
        preset=result.preset, cards=cards_text(result), at=moment_text(result.at)
    )
    kind = words.QUICK if result.is_quick else words.FULL
    pairs = [(words.LABEL_RUN, result.id)]
    pairs.append(("", words.TOOK.format(kind=kind, time=duration_text(result.took_s))))
    if result.runtime is not None:
        runtime = runtime_text(result.runtime, (result.runtime_id or "")[:_ID_SHOWN])
        pairs.append((words.LABEL_RUNTIME, runtime))
    changed = " ".join(f"{name}={value}" for name, value in result.overrides.items())
    if changed:
        pairs.append((words.LABEL_SETTINGS, changed))
    pairs.append((words.LABEL_POOL, tokens_text(result.pool_tokens)))
    pairs += [(words.LABEL_POWER, _power(card)) for card in result.cards]
    if result.partial is not None:
        pairs.append((words.LABEL_PARTIAL, result.partial))
    if report.path is not None:
        pairs.append((words.LABEL_KEPT, report.path))
    return f"{head}\n{labelled(pairs)}"


def cards_text(result: BenchResult) -> str:
    """Return what a run computed on."""
    names = [card.name for card in result.cards]
    return ", ".join(names) if names else result.processor or UNKNOWN


def _power(card: BenchCard) -> str:
    return words.POWER.format(
        card=card.name,
        watts=_watts(card.power_w),
        limit=_watts(card.power_limit_w),
        degrees=UNKNOWN if card.temperature_max_c is None else f"{card.temperature_max_c} °C",
    )


def _watts(watts: float | None) -> str:
    return UNKNOWN if watts is None else f"{watts:.0f} W"


def figures_text(parts: Sequence[BenchPart], width: int = READABLE_WIDTH) -> str:
    """Return the figures of a run, one part a line; the slowest first tokens need some room."""
    rows: list[tuple[str, ...]] = [words.COLUMNS]
    rows += [_row(part) for part in parts]
    if width < _ROOMY:
        rows = [row[:_P95] + row[_P95 + 1 :] for row in rows]
    return table(rows)


def _row(part: BenchPart) -> tuple[str, ...]:
    name = f"{part.name} {words.DISTURBED_MARK}" if part.is_disturbed else part.name
    return (
        name,
        rate_text(part.decode_tokens_per_s),
        rate_text(part.total_tokens_per_s if part.streams > 1 else None),
        UNKNOWN if part.tokens_per_step is None else f"{part.tokens_per_step:.2f}",
        UNKNOWN if part.step_s is None else f"{part.step_s * 1_000:.1f} ms",
        latency_text(part.ttft_p50_s),
        latency_text(part.ttft_p95_s),
        _read(part),
    )


def _read(part: BenchPart) -> str:
    """Return how much of a prompt was read, and how fast."""
    if part.prompt_tokens is None:
        return UNKNOWN
    computed = part.prompt_tokens - (part.cached_tokens or 0)
    if part.prefill_tokens_per_s is None:
        return f"{computed:,}"
    rate = rate_text(part.prefill_tokens_per_s).removesuffix(" tok/s")
    return words.READ.format(tokens=f"{computed:,}", rate=rate)


def comparison_text(comparison: BenchComparison, width: int = READABLE_WIDTH) -> str:
    """Return one comparison: a sentence for each difference, then what is the same."""
    head = words.COMPARED.format(title=comparison.title)
    differing = [one for one in comparison.differences if one.verdict is not BenchVerdict.SAME]
    same = [one for one in comparison.differences if one.verdict is BenchVerdict.SAME]
    said = [one.sentence for one in differing]
    names = ", ".join(one.sentence.split(":")[0] for one in same)
    if same:
        form = words.SAME if differing else words.ALL_SAME
        said.append(form.format(figures=names))
    if not comparison.differences:
        said.append(words.NOTHING_TO_COMPARE)
    return "\n".join([*textwrap.wrap(head, width), *_folded([*said, *comparison.notes], width)])


def _listed(head: str, sentences: Sequence[str], width: int) -> list[str]:
    return ["\n".join([head, *_folded(sentences, width)])] if sentences else []


def _folded(sentences: Iterable[str], width: int) -> list[str]:
    return [
        line
        for sentence in sentences
        for line in textwrap.wrap(
            sentence, width, initial_indent=_INDENT, subsequent_indent=_INDENT * 2,
            break_long_words=False, break_on_hyphens=False,
        )
    ]  # fmt: skip


def runs_text(runs: BenchRuns, preset: str | None) -> str:
    """Return the kept runs, the newest first."""
    lines: list[str] = []
    if runs.runs:
        rows = [words.LIST_COLUMNS, *(_summary(one) for one in reversed(runs.runs))]
        lines.append(table(rows))
    elif not runs.damaged:
        lines.append(words.NONE if preset is None else words.NONE_OF.format(preset=preset))
    lines += [words.DAMAGED.format(reason=reason) for reason in runs.damaged]
    return "\n".join(lines)


def _summary(one: BenchSummary) -> tuple[str, ...]:
    marks = [
        mark
        for mark, holds in (
            (words.MARK_QUICK, one.is_quick),
            (words.MARK_PARTIAL, one.is_partial),
            (words.MARK_DISTURBED, one.is_disturbed),
        )
        if holds
    ]
    return (
        one.id,
        one.preset,
        one.cards,
        rate_text(one.decode_tokens_per_s),
        rate_text(one.total_tokens_per_s),
        rate_text(one.prefill_tokens_per_s),
        _SEPARATOR.join(marks),
    )
