"""Keys, their usage and requests, as text and as CSV."""

import csv
import io
from collections.abc import Sequence

import msgspec

from studio.cli import kept_key_words, prompt_words
from studio.cli import key_words as words
from studio.cli.kept_key_text import kept_text
from studio.cli.render import count_text, moment_text, table
from studio.domain.control import KeyInfo
from studio.domain.keys import KeyLimits, RequestEntry, UsageRow
from studio.domain.units import UNKNOWN, duration_text, latency_text, rate_text


def keys_text(keys: Sequence[KeyInfo]) -> str:
    """Return the keys with their usage, never the keys themselves."""
    if not keys:
        return words.NONE
    rows = [
        (
            one.id,
            one.name,
            f"{one.prefix}…",
            count_text(one.requests),
            count_text(one.prompt_tokens + one.generated_tokens),
            moment_text(one.last_used_at) if one.last_used_at else words.NEVER_USED,
            state_text(one),
        )
        for one in keys
    ]
    kept = kept_text(keys)
    text = table([words.HEADINGS, *rows])
    return text if kept is None else f"{text}\n{kept}"


def state_text(key: KeyInfo) -> str:
    """Return whether a key works."""
    if key.revoked_at is not None:
        return words.REVOKED
    if key.has_expired:
        return words.EXPIRED
    if key.prompts_until is not None:
        return prompt_words.STATE.format(until=moment_text(key.prompts_until))
    return words.LIMITED if key.limits != KeyLimits() else words.WORKS


def key_text(key: KeyInfo) -> str:
    """Return all about one key."""
    rows = [
        (words.LABEL_NAME, key.name),
        (words.LABEL_ID, key.id),
        (words.LABEL_KEY, f"{key.prefix}…"),
        (words.LABEL_STATE, state_text(key)),
        (words.LABEL_MADE, moment_text(key.created_at)),
    ]
    if key.rotated_at is not None:
        rows.append((words.LABEL_ROTATED, moment_text(key.rotated_at)))
    if key.stored is not None:
        rows.append((kept_key_words.LABEL, kept_key_words.PLACES[key.stored]))
    used = words.NEVER_USED
    if key.last_used_at is not None:
        used = moment_text(key.last_used_at)
        if key.last_address is not None:
            used = words.FROM.format(when=used, address=key.last_address)
    rows.append((words.LABEL_USED, used))
    rows.append((words.LABEL_RUNNING, count_text(key.running)))
    rows.append(
        (
            words.LABEL_REQUESTS,
            words.REQUESTS.format(count=count_text(key.requests), errors=count_text(key.errors)),
        )
    )
    rows.append(
        (
            words.LABEL_TOKENS,
            words.TOKENS.format(
                prompt=count_text(key.prompt_tokens),
                cached=count_text(key.cached_tokens),
                generated=count_text(key.generated_tokens),
            ),
        )
    )
    limits = _limit_rows(key.limits)
    rows += limits or [(words.LABEL_LIMITS, words.NO_LIMITS)]
    return table(rows)


def usage_text(rows: Sequence[UsageRow]) -> str:
    """Return what keys used, as a table."""
    if not rows:
        return words.NO_USAGE
    has_begin = any(row.begins_at is not None for row in rows)
    is_by_model = not any(row.key for row in rows)
    headings = words.USAGE_HEADINGS
    if is_by_model:
        headings = (words.MODEL, *headings[1:])
    lines = [(words.BEGINS, *headings) if has_begin else headings]
    for row in rows:
        cells = (
            (row.model or words.NO_KEY) if is_by_model else row.key,
            count_text(row.requests),
            count_text(row.errors),
            count_text(row.prompt_tokens),
            count_text(row.cached_tokens),
            count_text(row.generated_tokens),
            latency_text(row.ttft_p50_s),
            latency_text(row.ttft_p95_s),
            _rate(row.tok_s_p50),
            _rate(row.tok_s_p5),
        )
        lines.append((_begin_text(row.begins_at), *cells) if has_begin else cells)
    text = table(lines)
    estimated = sum(row.estimated for row in rows)
    if not estimated:
        return text
    cut_off = words.ESTIMATED.format(count=count_text(estimated))
    return f"{text}\n{words.ESTIMATED_ONE if estimated == 1 else cut_off}"


def requests_text(entries: Sequence[RequestEntry], *, is_narrowed: bool = False) -> str:
    """Return requests, oldest first; `is_narrowed`: only some of them were asked for."""
    if not entries:
        return words.NO_REQUESTS if is_narrowed else words.NO_REQUESTS_YET
    lines = [words.REQUEST_HEADINGS]
    for one in entries:
        notes = [one.code or "", one.reason or ""]
        notes += [words.NOTE_LEFT] if one.has_client_left else []
        notes += [words.NOTE_ESTIMATED] if one.is_estimated else []
        if one.adjusted:
            notes.append(words.NOTE_ADJUSTED.format(notes="; ".join(one.adjusted)))
        lines.append(
            (
                one.at[:19].replace("T", " "),
                one.key or words.NO_KEY,
                one.route.removeprefix("/v1/") or UNKNOWN,
                str(one.status),
                _tokens(one.prompt_tokens),
                _tokens(one.generated_tokens),
                latency_text(one.ttft_s),
                duration_text(one.duration_s),
                ", ".join(note for note in notes if note),
            )
        )
    return table(lines)


def csv_text(rows: Sequence[UsageRow] | Sequence[RequestEntry], kind: type[msgspec.Struct]) -> str:
    """Return rows as CSV with a heading; unknown is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(kind.__struct_fields__)
    for row in rows:
        values = (_flat(getattr(row, name)) for name in kind.__struct_fields__)
        writer.writerow(["" if value is None else _safe(value) for value in values])
    return out.getvalue().rstrip("\n")


def _flat(value: object) -> object:
    return "; ".join(map(str, value)) if isinstance(value, tuple) else value


def _safe(value: object) -> object:
    """Return a cell that no spreadsheet takes for a formula: names are what people type."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t"):
        return f"'{value}"
    return value


def _tokens(count: int | None) -> str:
    return UNKNOWN if count is None else count_text(count)


def _limit_rows(limits: KeyLimits) -> list[tuple[str, str]]:
    rows = []
    for name, label in words.LIMITS.items():
        value = getattr(limits, name)
        if value is None:
            continue
        if isinstance(value, tuple):
            text = ", ".join(value)
        elif isinstance(value, bool):
            text = words.STARTS_NOTHING
        elif isinstance(value, int):
            text = count_text(value)
        else:
            text = moment_text(value)
        rows.append((label, text))
    return rows


def _rate(tokens_per_s: float | None) -> str:
    return rate_text(tokens_per_s).removesuffix(" tok/s")


def _begin_text(begins_at: str | None) -> str:
    """Return a day as it is, a moment to the minute."""
    text = begins_at or ""
    return moment_text(text) if "T" in text else text
