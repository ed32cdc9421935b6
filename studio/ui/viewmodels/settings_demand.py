"""The settings of models on demand, and what the gateway changes in requests. Pure."""

from studio.domain.demand import Abandoned, DemandPreset, DemandReport
from studio.domain.gateway import Adjustment, AdjustmentList
from studio.ui.language import t, told
from studio.ui.viewmodels.settings import (
    ADD,
    OFF,
    ON,
    REMOVE,
    SET,
    CardView,
    Kind,
    Machine,
    Option,
    RowView,
    switch,
)
from studio.ui.viewmodels.words import listed


def demand_cards(machine: Machine) -> tuple[CardView, ...]:
    """Return what requests may start, and what is changed in them."""
    cards = []
    if machine.demand is not None:
        cards.append(_demand(machine.demand, machine))
        cards.append(_turns(machine.demand))
    if machine.adjustments is not None:
        cards.append(_adjustments(machine.adjustments))
    return tuple(cards)


def _demand(report: DemandReport, machine: Machine) -> CardView:
    chosen = report.settings
    titles = {one.id: told(one.title) for one in machine.presets or ()}
    held = report.queue.held_since is not None
    return CardView(
        id="demand",
        title=t("Models on demand"),
        about=t("A request for a preset on the list starts it, and waits while it starts."),
        rows=(
            switch(
                "demand.is-on",
                t("Requests may start them"),
                is_on=chosen.is_on,
                note=t(
                    "Nothing starts now, because somebody pressed Stop; switching it on ends that."
                )
                if held
                else "",
            ),
            RowView(
                id="demand.presets",
                title=t("On the list"),
                kind=Kind.LIST,
                about=t("The name of a preset, as the Plan page shows it in brackets."),
                placeholder="cpu-demo",
                items=tuple(_listed(one, titles) for one in report.presets),
                button=t(ADD),
                remove=t(REMOVE),
                note="" if report.presets else t("Nothing is listed, so requests start nothing."),
            ),
            RowView(
                id="demand.default-ttl",
                title=t("Stopped when nobody asks for"),
                kind=Kind.TEXT,
                about=t("A span such as `90s`, `30m` or `2h`; 0 for never."),
                value=_span(chosen.ttl_s),
                button=t(SET),
                is_short=True,
            ),
            switch(
                "demand.by-hand",
                t("Also what you started yourself"),
                is_on=chosen.ttl_by_hand,
                about=t("Off: an engine that a person started runs until a person stops it."),
            ),
        ),
    )


def _listed(one: DemandPreset, titles: dict[str, str]) -> Option:
    text = f"{titles.get(one.preset, one.preset)} ({one.preset})"
    if one.problem is not None:
        cannot = t("{preset} · cannot be started").format(preset=text)
        return Option(value=one.preset, text=cannot, tooltip=told(one.problem.message))
    names = ", ".join(one.names)
    tip = t("Asked for as {names}").format(names=names) if names else ""
    return Option(value=one.preset, text=text, tooltip=tip)


def _turns(report: DemandReport) -> CardView:
    chosen = report.settings
    return CardView(
        id="turns",
        title=t("Taking turns"),
        about=t("Where not all of them fit at a time, they serve one after another."),
        rows=(
            _auto("demand.residence", t("Serves at least"), chosen.residence_s,
                  t("as long as its boot took")),
            _auto("demand.wait", t("A request waits at most"), chosen.wait_s,
                  t("280 s, with a stream 30 min")),
            RowView(
                id="demand.queue-length",
                title=t("Requests that may wait"),
                kind=Kind.TEXT,
                about=t("Those beyond are turned away at once."),
                value=str(chosen.queue_length),
                button=t(SET),
                is_short=True,
            ),
            RowView(
                id="demand.abandoned",
                title=t("A start that nobody waits for any more"),
                kind=Kind.CHOICE,
                about=t("Most clients ask again, and then find it ready."),
                value=chosen.abandoned.value,
                options=(
                    Option(value=Abandoned.FINISH.value, text=t("Goes on")),
                    Option(value=Abandoned.END.value, text=t("Is ended")),
                ),
            ),
        ),
    )  # fmt: skip


def _auto(row_id: str, title: str, seconds: float | None, otherwise: str) -> RowView:
    return RowView(
        id=row_id,
        title=title,
        kind=Kind.TEXT,
        value=_span(seconds),
        placeholder=otherwise,
        button=t(SET),
        can_reset=seconds is not None,
    )


def _span(seconds: float | None) -> str:
    """Return a span as it is typed."""
    if seconds is None:
        return ""
    if seconds == 0:
        return "0"
    for unit, size in (("h", 3_600), ("m", 60)):
        if seconds % size == 0:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:g}s"


def _adjustments(found: AdjustmentList) -> CardView:
    rows = [
        switch(
            "adjust.all",
            t("Change what the engine would refuse"),
            is_on=not found.are_off,
            about=t("Off: every request goes to the engine as it came."),
        ),
        *(_adjustment(one, are_off=found.are_off) for one in found.adjustments),
    ]
    return CardView(
        id="adjustments",
        title=t("Requests put right"),
        about=t("Clients send what this engine or this model does not take; each rule mends one."),
        rows=tuple(rows),
    )


def _adjustment(one: Adjustment, *, are_off: bool) -> RowView:
    return RowView(
        id=f"adjust.{one.id}",
        title=one.id,
        kind=Kind.SWITCH,
        value=ON if one.is_on else OFF,
        about=told(one.what),
        note=_used(one),
        tooltip=told(one.why),
        is_enabled=not are_off,
        is_mono=True,
    )


def _used(one: Adjustment) -> str:
    parts = []
    if one.fits is False:
        parts.append(t("Not needed for what serves now."))
    if one.times:
        parts.append(t("{n} requests so far.").format(n=f"{one.times:,}"))
    if one.keys:
        parts.append(t("Otherwise for: {names}.").format(names=listed(sorted(one.keys))))
    return " ".join(parts)
