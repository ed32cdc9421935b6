"""A plan as the window shows it: verdict, ledger bar, figures, what to give up."""

import itertools

import msgspec

from studio.domain.errors import ErrorInfo
from studio.domain.plans import LedgerItem, LedgerPlace, Plan, PlannedCard, PlanVerdict
from studio.domain.units import UNKNOWN, bytes_text, duration_text, tokens_text
from studio.ui.language import marked, nt, t, told
from studio.ui.viewmodels.sources import source_words
from studio.ui.viewmodels.words import Role, Shape, Text

FREE = "free"
_NOT_OURS = "not-ours"

TONES: dict[str, tuple[Role, float]] = {
    "weights": (Role.DEEP, 1.0),
    "drafter": (Role.DEEP, 0.65),
    "vision": (Role.DEEP, 0.45),
    "state-pages": (Role.CLEAR, 0.8),
    "kv-pool": (Role.WATER, 1.0),
    "graphs": (Role.QUIET, 0.75),
    "activation-peak": (Role.QUIET, 0.55),
    FREE: (Role.INK, 0.35),
    _NOT_OURS: (Role.INK, 0.18),
}
"""Colour and opacity of each part of the ledger; the rest is quiet, in tones that take turns."""
_REST = ((Role.QUIET, 0.35), (Role.QUIET, 0.62), (Role.QUIET, 0.48))

_VERDICTS: dict[PlanVerdict, tuple[str, Role, Shape]] = {
    PlanVerdict.FITS: (marked("Fits this machine"), Role.OK, Shape.TICK),
    PlanVerdict.FITS_IF: (marked("Fits with these changes"), Role.WARN, Shape.HALF),
    PlanVerdict.DOES_NOT_FIT: (marked("Does not fit this machine"), Role.HARM, Shape.CROSS),
    PlanVerdict.UNKNOWN: (marked("Cannot be said yet"), Role.WARN, Shape.RING),
}


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the bar."""

    name: str
    title: str
    size: str
    tooltip: str
    share: float
    """Of the whole bar."""
    role: Role
    opacity: float
    is_free: bool = False


class LedgerView(msgspec.Struct, frozen=True, kw_only=True):
    """One bar: a card, several cards alike, or the host's memory."""

    title: str
    segments: tuple[Segment, ...]
    line: float | None = None
    """Where bytes begin to spill, as a share of the bar."""
    line_words: str = ""
    spoken: str = ""


class PlanView(msgspec.Struct, frozen=True, kw_only=True):
    """The card beside the chooser."""

    verdict: str
    role: Role
    shape: Shape
    ledgers: tuple[LedgerView, ...] = ()
    figures: tuple[tuple[str, Text], ...] = ()
    notes: tuple[str, ...] = ()
    """What to give up, why not, and what to look out for: a sentence each."""


def plan_view(
    plan: Plan | None, problem: ErrorInfo | None, *, is_planning: bool, is_live: bool = True
) -> PlanView:
    """Return the card for a plan, for its refusal, or for the wait."""
    if problem is not None:
        notes = tuple(told(part) for part in (problem.message, problem.hint or "") if part)
        return PlanView(
            verdict=t("There is no plan"), role=Role.WARN, shape=Shape.TRIANGLE, notes=notes
        )
    if plan is None:
        words = t("Choose a preset to see what fits")
        if is_planning:
            words = t("Planning…")
        elif not is_live:
            words = t("What fits appears when the service answers")
        return PlanView(verdict=words, role=Role.QUIET, shape=Shape.RING)
    words, role, shape = _VERDICTS[plan.verdict]
    return PlanView(
        verdict=t(words),
        role=role,
        shape=shape,
        ledgers=_ledgers(plan),
        figures=_figures(plan),
        notes=_notes(plan),
    )


def given_up(title: str, costs: str) -> str:
    """Return what is given up and what that costs, in one line."""
    return t("{what}. {costs}").format(what=told(title), costs=told(costs))


def _notes(plan: Plan) -> tuple[str, ...]:
    changes = tuple(given_up(one.title, one.costs) for one in plan.reductions)
    return (
        *(told(one) for one in plan.reasons),
        *changes,
        *(told(one) for one in plan.warnings),
    )


def _figures(plan: Plan) -> tuple[tuple[str, Text], ...]:
    pool = tokens_text(plan.pool_tokens)
    if plan.pool_tokens is not None and plan.pool_tokens_error:
        pool = f"{plan.pool_tokens:,} ± {tokens_text(plan.pool_tokens_error)}"
    boot = t("{cold} cold, {warm} warm").format(
        cold=duration_text(plan.boot_cold_s), warm=duration_text(plan.boot_warm_s)
    )
    seats = UNKNOWN
    if plan.seats is not None:
        seats = nt("{n} request at a time", "{n} requests at a time", plan.seats).format(
            n=f"{plan.seats:,}"
        )
    down = bytes_text(plan.download_bytes) if plan.download_bytes != 0 else t("nothing")
    if plan.download_bytes and plan.download_s is not None:
        down = f"{down}, {duration_text(plan.download_s)}"
    return (
        (t("Pool"), Text(text=pool, tooltip=t("Tokens that the KV cache can hold"))),
        (t("Context"), _known(tokens_text(plan.max_model_len))),
        (t("Seats"), _known(seats)),
        (
            t("Start"),
            Text(text=boot, tooltip=source_words(plan.boot_source or "") or t("Not measured yet")),
        ),
        (t("Download"), _known(down)),
    )


def _known(text: str) -> Text:
    return Text(text=text, tooltip=t("The plan does not know it") if text == UNKNOWN else "")


def _ledgers(plan: Plan) -> tuple[LedgerView, ...]:
    on_card = [item for item in plan.ledger if item.place is LedgerPlace.CARD]
    if not on_card or not plan.cards:
        memory = [item for item in plan.ledger if item.place is LedgerPlace.MEMORY]
        return (_ledger(t("Memory"), memory, None),) if memory else ()
    own = {item.gpu for item in on_card if item.gpu is not None}
    alike = {(card.name, card.total_bytes, card.free_bytes) for card in plan.cards}
    if own or len(alike) > 1:
        return tuple(_one_card(on_card, card) for card in plan.cards)
    first, count = plan.cards[0], len(plan.cards)
    if count == 1:
        return (_one_card(on_card, first),)
    title = t("Each of {n} cards, {name}").format(n=count, name=first.name)
    return (_ledger(title, on_card, first),)


def _one_card(items: list[LedgerItem], card: PlannedCard) -> LedgerView:
    mine = [item for item in items if item.gpu in (None, card.index)]
    title = t("Card {index}, {name}").format(index=card.index, name=card.name)
    return _ledger(title, mine, card)


def _ledger(title: str, items: list[LedgerItem], card: PlannedCard | None) -> LedgerView:
    """Return one bar; it is as long as the card, or as all parts where they are more."""
    ordered = sorted(items, key=lambda item: (item.name == _NOT_OURS, item.name == FREE))
    parts = sum(max(0, item.bytes or 0) for item in items)
    whole = max(parts, (card.total_bytes if card else None) or 0, 1)
    rest = itertools.cycle(_REST)
    tones = (TONES[item.name] if item.name in TONES else next(rest) for item in ordered)
    segments = tuple(_segment(item, whole, tone) for item, tone in zip(ordered, tones, strict=True))
    edge = card.line_bytes if card else None
    words = t("beyond this line it spills")
    if edge is None and card is not None and card.total_bytes and parts > card.total_bytes:
        edge, words = card.total_bytes, t("here the card ends")
    return LedgerView(
        title=f"{title}, {bytes_text(card.total_bytes)}" if card and card.total_bytes else title,
        segments=segments,
        line=None if edge is None else min(1.0, edge / whole),
        line_words="" if edge is None else words,
        spoken="; ".join(f"{one.title} {one.size}" for one in segments),
    )


def _segment(item: LedgerItem, whole: int, tone: tuple[Role, float]) -> Segment:
    role, opacity = tone
    size = bytes_text(item.bytes)
    if item.bytes is not None and item.error_bytes:
        tooltip = t("{size} ± {error}. {source}").format(
            size=size, error=bytes_text(item.error_bytes), source=source_words(item.source)
        )
    else:
        tooltip = source_words(item.source)
    return Segment(
        name=item.name,
        title=told(item.title),
        size=size,
        tooltip=tooltip,
        share=max(0, item.bytes or 0) / whole,
        role=role,
        opacity=opacity,
        is_free=item.name == FREE,
    )
