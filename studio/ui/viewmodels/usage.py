"""What keys used: by day as bars, by key as a table."""

import datetime
from collections.abc import Sequence

import msgspec

from studio.domain.keys import UsageRow
from studio.domain.units import UNKNOWN, latency_text
from studio.ui.language import marked, nt, t
from studio.ui.viewmodels.moments import day_words

CellView = tuple[str, float | str | None, str]

SPANS: tuple[tuple[str, str, int], ...] = (
    ("7d", marked("7 d"), 7),
    ("30d", marked("30 d"), 30),
    ("90d", marked("90 d"), 90),
)
SPARK_DAYS = 30


class DayView(msgspec.Struct, frozen=True, kw_only=True):
    """What was used on one day, in tokens."""

    label: str
    computed: int = 0
    """Prompt tokens that had to be computed."""
    cached: int = 0
    generated: int = 0
    requests: int = 0

    @property
    def tokens(self) -> int:
        """Return all of them."""
        return self.computed + self.cached + self.generated


class UsageLine(msgspec.Struct, frozen=True, kw_only=True):
    """One key, or one model, in the table."""

    id: str
    cells: tuple[CellView, ...]


def columns(*, by_model: bool) -> tuple[tuple[str, str, str], ...]:
    """Return name, title and hover of each column."""
    return (
        ("key", t("Model") if by_model else t("Key"), ""),
        ("requests", t("Requests"), ""),
        ("errors", t("Failed"), t("Requests that were refused or broke off")),
        ("prompt", t("Prompt"), t("Tokens of prompts, those reused among them")),
        ("cached", t("Reused"), t("Tokens of prompts that were found in the pool")),
        ("generated", t("Answer"), t("Tokens generated")),
        ("ttft", t("First token"), t("Half of the answers began at least so soon")),
        ("speed", t("tok/s"), t("Half of the answers came at least so fast")),
    )


def days(
    rows: Sequence[UsageRow], today: datetime.date, count: int, key_id: str = ""
) -> tuple[DayView, ...]:
    """Return the last `count` days, oldest first, of one key or of all.

    A day without use is there, too.
    """
    found: dict[str, DayView] = {}
    for row in rows:
        if row.begins_at is None or (key_id and row.key_id != key_id):
            continue
        day = row.begins_at[:10]
        before = found.get(day) or DayView(label="")
        found[day] = DayView(
            label="",
            computed=before.computed + max(0, row.prompt_tokens - row.cached_tokens),
            cached=before.cached + row.cached_tokens,
            generated=before.generated + row.generated_tokens,
            requests=before.requests + row.requests,
        )
    shown = []
    for back in reversed(range(count)):
        day_of = today - datetime.timedelta(days=back)
        view = found.get(day_of.isoformat()) or DayView(label="")
        shown.append(msgspec.structs.replace(view, label=day_words(day_of)))
    return tuple(shown)


def legend() -> tuple[str, str, str]:
    """Return what the parts of a bar are, from below."""
    return (t("computed"), t("reused"), t("generated"))


def day_line(day: DayView) -> str:
    """Return one day in words."""
    return nt(
        "{day}: {requests} request, {computed} computed, {cached} reused, {generated} generated",
        "{day}: {requests} requests, {computed} computed, {cached} reused, {generated} generated",
        day.requests,
    ).format(
        day=day.label,
        requests=f"{day.requests:,}",
        computed=f"{day.computed:,}",
        cached=f"{day.cached:,}",
        generated=f"{day.generated:,}",
    )


def total_line(shown: Sequence[DayView]) -> str:
    """Return all days together in words."""
    total = sum(day.tokens for day in shown)
    if not total and not any(day.requests for day in shown):
        return t("No key was used in this time.")
    requests = sum(day.requests for day in shown)
    return nt(
        "{requests} request, {tokens} tokens", "{requests} requests, {tokens} tokens", requests
    ).format(requests=f"{requests:,}", tokens=f"{total:,}")


def usage_lines(rows: Sequence[UsageRow]) -> tuple[UsageLine, ...]:
    """Return the table, what used most first."""
    ordered = sorted(rows, key=lambda row: -(row.prompt_tokens + row.generated_tokens))
    return tuple(
        UsageLine(
            id=f"{row.key_id}-{row.model or ''}",
            cells=(
                (row.model or row.key or t("(none)"), row.model or row.key, ""),
                _count(row.requests),
                _count(row.errors),
                _count(row.prompt_tokens),
                _count(row.cached_tokens),
                _count(row.generated_tokens),
                (latency_text(row.ttft_p50_s), row.ttft_p50_s, _most(row)),
                (
                    UNKNOWN if row.tok_s_p50 is None else f"{row.tok_s_p50:,.1f}",
                    row.tok_s_p50,
                    "",
                ),
            ),
        )
        for row in ordered
    )


def _count(number: int) -> CellView:
    return (f"{number:,}", number, "")


def _most(row: UsageRow) -> str:
    if row.ttft_p95_s is None:
        return ""
    return t("95 of 100: {most}").format(most=latency_text(row.ttft_p95_s))
