"""Beside the weir: who is in the pool, who waits for an engine, what the monitor warns of."""

import msgspec

from studio.domain.alarms import Alarm, Severity
from studio.domain.demand import Queue
from studio.domain.diagnosis import Match, Offered
from studio.domain.pool import PoolReport, Resident, ResidentState
from studio.domain.remedies import Remedy as Cure
from studio.domain.remedies import RemedyKind
from studio.domain.units import UNKNOWN, duration_text, tokens_text
from studio.ui.language import nt, t, told
from studio.ui.viewmodels.words import Role, Shape, number

ROWS = 8
"""So many requests are named; the others are counted."""


class Deed(msgspec.Struct, frozen=True, kw_only=True):
    """A button: `fix` with the number of a remedy, `mute` or `unmute` with an alarm's code, `copy`
    with a command that only the person can give, `retry`, `why` with a part of the log page.
    """

    kind: str
    what: str
    text: str
    tooltip: str = ""


class NoticeView(msgspec.Struct, frozen=True, kw_only=True):
    """An alarm as a card."""

    code: str
    title: str
    body: str
    evidence: str
    role: Role
    shape: Shape
    deeds: tuple[Deed, ...]
    enabled: bool = True


class RequestsView(msgspec.Struct, frozen=True, kw_only=True):
    """The running requests as a small table."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    empty: str
    more: str
    queue: str
    """Who waits for an engine and what happens next; empty: nobody, nothing."""


def requests_view(pool: PoolReport | None, queue: Queue | None, now_s: float) -> RequestsView:
    """Return the table of requests and the line about the queue, at `now_s` since the epoch."""
    residents = pool.residents if pool else ()
    left = len(residents) - ROWS
    empty = t("No request runs. Clients use the address above.")
    if pool is None:
        empty = t("What runs is not known now.")
    return RequestsView(
        heading=t("Running requests"),
        columns=(t("Key"), t("Model"), t("Tokens"), t("State"), t("Age")),
        rows=tuple(_row(one) for one in residents[:ROWS]),
        empty="" if residents else empty,
        more=nt("and {n} more", "and {n} more", left).format(n=left) if left > 0 else "",
        queue=queue_line(queue, now_s),
    )


def _row(one: Resident) -> tuple[str, ...]:
    tokens = UNKNOWN
    if one.tokens is not None:
        count = number(tokens_text(one.tokens))
        tokens = f"≈ {count}" if one.is_estimated else count
    state = t("writing") if one.state is ResidentState.WRITING else t("reading")
    return (one.key or UNKNOWN, one.model or UNKNOWN, tokens, state, duration_text(one.age_s))


def queue_line(queue: Queue | None, now_s: float) -> str:
    """Return who waits for an engine, and what happens by itself next."""
    if queue is None:
        return ""
    parts = []
    for one in queue.presets:
        count = len(one.requests)
        words = nt("{n} request waits for {name}", "{n} requests wait for {name}", count)
        parts.append(words.format(n=count, name=one.served_name))
    if queue.idle_stop_at is not None:
        left = duration_text(max(0.0, queue.idle_stop_at - now_s))
        parts.append(t("stops in {left} if nobody asks").format(left=left))
    if queue.held_since is not None:
        parts.append(t("nothing starts on demand, because somebody pressed Stop"))
    return " · ".join(parts)


def notices(
    alarms: tuple[Alarm, ...], offered: tuple[Offered, ...], *, is_fixing: bool
) -> tuple[NoticeView, ...]:
    """Return a card for each alarm that is not muted, and then one line's card for each muted."""
    ordered = sorted(alarms, key=lambda alarm: alarm.is_muted)
    return tuple(_notice(alarm, offered, is_fixing=is_fixing) for alarm in ordered)


def failure_notice(
    failure: Match | None, offered: tuple[Offered, ...], *, can_start: bool, is_fixing: bool
) -> tuple[NoticeView, ...]:
    """Return the card of what failed last, while nothing runs and no fresher card says it."""
    if failure is None:
        return ()
    words = [f"• {told(one.text)}" for one in failure.remedies]
    again = Deed(kind="retry", what="", text=t("Try again"))
    why = Deed(
        kind="why",
        what="diagnosis",
        text=t("Why"),
        tooltip=t("Cause, the lines that prove it, and what can be done"),
    )
    deeds = (*cures(offered, failure.code), *((again,) if can_start else ()), why)
    return (
        NoticeView(
            code=f"failure-{failure.code}",
            title=t("The last start failed"),
            body="\n".join((told(failure.cause), *words)),
            evidence="\n".join(failure.evidence),
            role=Role.WARN,
            shape=Shape.TRIANGLE,
            deeds=deeds,
            enabled=not is_fixing,
        ),
    )


def cures(offered: tuple[Offered, ...], about: str) -> tuple[Deed, ...]:
    """Return a button for each remedy of `about`: take it, or copy what is to be typed."""
    taken = tuple(
        Deed(
            kind="fix",
            what=str(one.number),
            text=cure_words(one.remedy),
            tooltip=told(one.remedy.text),
        )
        for one in offered
        if one.about == about and one.number is not None and one.remedy.can_apply
    )
    typed = tuple(
        Deed(
            kind="copy",
            what=one.command,
            text=t("Copy the command"),
            tooltip=f"{one.command}\n{told(one.remedy.text)}",
        )
        for one in offered
        if one.about == about and one.command and not one.remedy.can_apply
    )
    return (*taken, *typed)


def cure_words(remedy: Cure) -> str:
    """Return the few words of a button; the whole sentence stands beside it."""
    match remedy.kind:
        case RemedyKind.RESTART_WITH:
            settings = ", ".join(f"{name}={value}" for name, value in remedy.settings.items())
            return t("Start with {settings}").format(settings=settings)
        case RemedyKind.REPAIR:
            return t("Mend the model") if remedy.part == "model" else t("Mend the runtime")
        case _:
            return t("Start again")


def _notice(alarm: Alarm, offered: tuple[Offered, ...], *, is_fixing: bool) -> NoticeView:
    harm = alarm.severity is Severity.HARM
    if alarm.is_muted:
        deed = Deed(kind="unmute", what=alarm.code, text=t("Unmute"))
        return NoticeView(
            code=alarm.code,
            title=t("{title} (muted)").format(title=told(alarm.title)),
            body="",
            evidence="",
            role=Role.QUIET,
            shape=Shape.RING,
            deeds=(deed,),
        )
    mute = Deed(
        kind="mute",
        what=alarm.code,
        text=t("Mute"),
        tooltip=t("Say no more of it as long as it holds; the next one is heard again"),
    )
    words = [f"• {told(one.text)}" for one in alarm.remedies]
    return NoticeView(
        code=alarm.code,
        title=told(alarm.title),
        body="\n".join((told(alarm.cause), *words)),
        evidence="\n".join(alarm.evidence),
        role=Role.HARM if harm else Role.WARN,
        shape=Shape.CROSS if harm else Shape.TRIANGLE,
        deeds=(*cures(offered, alarm.code), mute),
        enabled=not is_fixing,
    )
