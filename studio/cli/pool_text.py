"""The pool in words."""

from collections.abc import Iterator

from studio.cli import pool_words as words
from studio.cli.console import plain
from studio.cli.render import labelled, table
from studio.domain.pool import PoolReport, Resident
from studio.domain.units import UNKNOWN, duration_text, percent_text, tokens_text

_ID_SHOWN = 12


def pool_text(pool: PoolReport) -> str:
    """Return the pool, then its residents."""
    if pool.tokens is None and pool.running is None:
        return words.NOTHING_SERVES
    text = labelled(_pairs(pool))
    if not pool.residents:
        return text
    rows = [words.HEADINGS, *(_row(one) for one in pool.residents)]
    text = f"{text}\n\n{table(rows)}"
    if any(one.is_estimated for one in pool.residents):
        text += f"\n{words.ESTIMATED}"
    return text


def _pairs(pool: PoolReport) -> Iterator[tuple[str, str]]:
    used = words.USED.format(
        used=UNKNOWN if pool.used_tokens is None else f"{pool.used_tokens:,}",
        total=tokens_text(pool.tokens),
        share=percent_text(pool.used_share),
    )
    yield words.LABEL_POOL, used
    if pool.blocks is not None and pool.block_tokens is not None:
        blocks = UNKNOWN if pool.used_blocks is None else f"{pool.used_blocks:,}"
        yield (
            words.LABEL_BLOCKS,
            words.BLOCKS.format(used=blocks, total=f"{pool.blocks:,}", size=pool.block_tokens),
        )
    yield words.LABEL_ROOM, pool.room.sentence
    yield words.LABEL_SEATS, _seats(pool)
    if pool.concurrency is not None:
        count, context = f"{pool.concurrency:.1f}", tokens_text(pool.context_tokens)
        yield words.LABEL_SEATS, words.CONCURRENCY.format(count=count, context=context)
    if pool.waiting:
        yield words.LABEL_WAITING, _waiting(pool)
    if pool.prefix_hit_share is not None:
        yield words.LABEL_HITS, _hits(pool)
    if pool.preemptions:
        yield words.LABEL_PREEMPTED, words.PREEMPTED.format(count=f"{pool.preemptions:,}")
    if pool.other_tokens:
        yield words.LABEL_OTHERS, words.OTHERS.format(tokens=tokens_text(pool.other_tokens))
    if pool.forecast_note is not None:
        yield words.LABEL_FORECAST, pool.forecast_note


def _seats(pool: PoolReport) -> str:
    running = UNKNOWN if pool.running is None else f"{pool.running}"
    if pool.seats is None:
        return words.SEATS_UNKNOWN.format(running=running)
    return words.SEATS.format(running=running, seats=pool.seats)


def _waiting(pool: PoolReport) -> str:
    reasons = ", ".join(
        f"{words.REASONS.get(reason, reason)}: {count}"
        for reason, count in (pool.waiting_by_reason or {}).items()
        if count
    )
    return (
        words.WAITING.format(count=pool.waiting, reasons=reasons) if reasons else f"{pool.waiting}"
    )


def _hits(pool: PoolReport) -> str:
    local = percent_text(pool.prefix_hit_share)
    if pool.external_hit_share is None:
        return words.HITS.format(local=local)
    return words.HITS_BOTH.format(local=local, external=percent_text(pool.external_hit_share))


def _row(one: Resident) -> tuple[str, ...]:
    return (
        plain(one.request_id[:_ID_SHOWN]),
        plain(one.key or UNKNOWN),
        words.STATES[one.state.value],
        duration_text(one.age_s),
        _count(one.prompt_tokens, one),
        _count(one.generated_tokens, one),
        _count(one.tokens, one),
    )


def _count(tokens: int | None, one: Resident) -> str:
    if tokens is None:
        return UNKNOWN
    text = f"{tokens:,}"
    return words.ESTIMATE.format(text=text) if one.is_estimated else text
