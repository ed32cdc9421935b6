"""Beside the weir: who is in the pool, who waits for an engine, what the monitor warns of."""

import msgspec

from studio.domain.alarms import Alarm, Severity
from studio.domain.demand import Queue
from studio.domain.diagnosis import Offered
from studio.domain.pool import PoolReport, Resident, ResidentState
from studio.domain.remedies import Remedy as Cure
from studio.domain.remedies import RemedyKind
from studio.domain.units import UNKNOWN, duration_text, tokens_text
from studio.ui.language import nt, t
from studio.ui.viewmodels.words import Role, Shape

ROWS = 8
"""So many requests are named; the others are counted."""


class Deed(msgspec.Struct, frozen=True, kw_only=True):
    """A button: `fix` with the number of a remedy, `mute` or `unmute` with an alarm's code."""

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
    return RequestsView(
        heading=t("Running requests"),
        columns=(t("Key"), t("Model"), t("Tokens"), t("State"), t("Age")),
        rows=tuple(_row(one) for one in residents[:ROWS]),
        empty="" if residents else t("No request runs. Clients use the address above."),
        more=nt("and {n} more", "and {n} more", left).format(n=left) if left > 0 else "",
        queue=queue_line(queue, now_s),
    )


def _row(one: Resident) -> tuple[str, ...]:
    tokens = UNKNOWN
    if one.tokens is not None:
        tokens = f"≈ {tokens_text(one.tokens)}" if one.is_estimated else tokens_text(one.tokens)
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


def cures(offered: tuple[Offered, ...], about: str) -> tuple[Deed, ...]:
    """Return a button for each remedy of `about` that the service can take itself."""
    return tuple(
        Deed(kind="fix", what=str(one.number), text=cure_words(one.remedy), tooltip=one.remedy.text)
        for one in offered
        if one.about == about and one.number is not None and one.remedy.can_apply
    )


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
            title=t("{title} (muted)").format(title=alarm.title),
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
    words = [f"• {one.text}" for one in alarm.remedies]
    return NoticeView(
        code=alarm.code,
        title=alarm.title,
        body="\n".join((alarm.cause, *words)),
        evidence="\n".join(alarm.evidence),
        role=Role.HARM if harm else Role.WARN,
        shape=Shape.CROSS if harm else Shape.TRIANGLE,
        deeds=(*cures(offered, alarm.code), mute),
        enabled=not is_fixing,
    )
