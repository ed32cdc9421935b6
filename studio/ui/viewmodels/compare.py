"""One plan, or two of them side by side: bars above one another, figures in one table."""

import enum
from collections.abc import Sequence

import msgspec

from studio.domain.errors import ErrorInfo
from studio.domain.plans import Plan
from studio.domain.units import UNKNOWN, bytes_text, duration_text, tokens_text
from studio.ui.language import marked, t
from studio.ui.viewmodels.plan import LedgerView, Segment, plan_view
from studio.ui.viewmodels.sources import source_words
from studio.ui.viewmodels.words import Role, Shape, Text


class Against(enum.StrEnum):
    """What a plan is held against."""

    NOTHING = "nothing"
    BEFORE = "before"
    """The same preset without what was changed."""
    OTHER = "other"


AGAINST: tuple[tuple[Against, str], ...] = (
    (Against.NOTHING, marked("One plan")),
    (Against.BEFORE, marked("Before and after")),
    (Against.OTHER, marked("Another preset")),
)


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """A plan as it was asked for."""

    title: str
    plan: Plan | None = None
    problem: ErrorInfo | None = None
    is_planning: bool = False


class SideView(msgspec.Struct, frozen=True, kw_only=True):
    """Title, verdict and bars of one plan."""

    title: str
    verdict: str
    role: Role
    shape: Shape
    ledgers: tuple[LedgerView, ...] = ()
    notes: tuple[str, ...] = ()


class LineView(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table: a value a side; `segment` is the part of the bar that it tells of."""

    name: str
    values: tuple[Text, ...]
    differs: bool
    segment: Segment | None = None


class CompareView(msgspec.Struct, frozen=True, kw_only=True):
    """The card."""

    heading: str
    sides: tuple[SideView, ...]
    figures: tuple[LineView, ...]
    parts: tuple[LineView, ...]
    busy: str


def compare_view(sides: Sequence[Side], *, is_live: bool = True) -> CompareView:
    """Return the card for one or two plans; nothing in it is reckoned here."""
    shown = [
        plan_view(one.plan, one.problem, is_planning=one.is_planning, is_live=is_live)
        for one in sides
    ]
    views = tuple(
        SideView(
            title=side.title if len(sides) > 1 else "",
            verdict=view.verdict,
            role=view.role,
            shape=view.shape,
            ledgers=view.ledgers,
            notes=view.notes,
        )
        for side, view in zip(sides, shown, strict=True)
    )
    return CompareView(
        heading=t("What it comes to"),
        sides=views,
        figures=_figures(sides),
        parts=_parts([view.ledgers for view in shown]),
        busy=t("Planning…") if any(one.is_planning for one in sides) else "",
    )


def _figures(sides: Sequence[Side]) -> tuple[LineView, ...]:
    plans = [one.plan for one in sides]
    if not any(plans):
        return ()
    return tuple(
        _line(name, [Text() if plan is None else said(plan) for plan in plans])
        for name, said in (
            (t("Pool, tokens"), _pool),
            (t("Context, tokens"), _context),
            (t("Seats"), _seats),
            (t("Whole contexts"), _residents),
            (t("First start"), _cold),
            (t("Later starts"), _warm),
            (t("Download"), _download),
            (t("Left on the card"), _headroom),
        )
    )


def _counted(value: int | None, tooltip: str) -> Text:
    return Text(text=UNKNOWN if value is None else f"{value:,}", tooltip=tooltip)


def _pool(plan: Plan) -> Text:
    tip = t("Tokens that the KV cache can hold")
    if plan.pool_tokens_error:
        tip = _give_or_take(tip, tokens_text(plan.pool_tokens_error))
    return _counted(plan.pool_tokens, tip)


def _context(plan: Plan) -> Text:
    tip = t("The longest that one request may be")
    if plan.longest_context is not None:
        tip = t("{tip}; up to {tokens} would start").format(
            tip=tip, tokens=tokens_text(plan.longest_context)
        )
    return _counted(plan.max_model_len, tip)


def _seats(plan: Plan) -> Text:
    return _counted(plan.seats, t("Requests that are admitted at a time"))


def _residents(plan: Plan) -> Text:
    tip = t("Requests of full length whose KV cache is in the pool at a time")
    known = plan.resident_requests
    return Text(text=UNKNOWN if known is None else f"{known:.2f}", tooltip=tip)


def _cold(plan: Plan) -> Text:
    return _boot(plan, plan.boot_cold_s)


def _warm(plan: Plan) -> Text:
    return _boot(plan, plan.boot_warm_s)


def _boot(plan: Plan, seconds: float | None) -> Text:
    return Text(
        text=duration_text(seconds),
        tooltip=source_words(plan.boot_source or "") or t("Not measured yet"),
    )


def _download(plan: Plan) -> Text:
    if plan.download_bytes == 0:
        return Text(text=t("nothing"))
    tip = t("How long it takes is known after the first download")
    if plan.download_s is not None:
        tip = t("About {time} at the speed of the last download").format(
            time=duration_text(plan.download_s)
        )
    return Text(text=bytes_text(plan.download_bytes), tooltip=tip)


def _headroom(plan: Plan) -> Text:
    tip = t("What is left on the fullest card when the engine runs")
    if plan.headroom_error_bytes:
        tip = _give_or_take(tip, bytes_text(plan.headroom_error_bytes))
    return Text(text=bytes_text(plan.headroom_bytes), tooltip=tip)


def _give_or_take(words: str, error: str) -> str:
    return t("{words}, give or take {error}").format(words=words, error=error)


def _parts(ledgers: Sequence[tuple[LedgerView, ...]]) -> tuple[LineView, ...]:
    firsts = [one[0].segments if one else () for one in ledgers]
    names = list(dict.fromkeys(segment.name for one in firsts for segment in one))
    lines = []
    for name in names:
        found = [next((one for one in side if one.name == name), None) for side in firsts]
        segment = next(one for one in found if one is not None)
        texts = [Text(text=one.size, tooltip=one.tooltip) if one else Text() for one in found]
        line = _line(segment.title, texts)
        lines.append(msgspec.structs.replace(line, segment=segment))
    return tuple(lines)


def _line(name: str, values: Sequence[Text]) -> LineView:
    words = {one.text for one in values if one.text != UNKNOWN}
    return LineView(name=name, values=tuple(values), differs=len(words) > 1)
