"""Why an engine failed, what can be done about it, and the boots of this machine."""

import datetime
from collections.abc import Sequence

import msgspec

from studio.domain.boots import BootHistory, BootOutcome, BootRecord
from studio.domain.diagnosis import Diagnosis, Match, Offered, RemedyList
from studio.domain.server import BootPhase
from studio.domain.units import duration_text, tokens_text
from studio.ui.language import marked, t, told
from studio.ui.viewmodels.words import PHASE_WORDS, Role, Shape, named

_PHASES = {phase.value: phase for phase in BootPhase}
_LEAST_SHOWN_S = 0.05


class RemedyLine(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to do; `number`: the Studio can take it; `command`: to copy."""

    text: str
    number: int | None = None
    about: str | None = None
    command: str | None = None


class CauseView(msgspec.Struct, frozen=True, kw_only=True):
    """One cause, with the lines that prove it."""

    title: str
    code: str
    evidence: str
    first_line: str
    """What to look for in the log."""
    remedies: tuple[RemedyLine, ...]


class BootView(msgspec.Struct, frozen=True, kw_only=True):
    """One boot as a row."""

    at: str
    preset: str
    outcome: str
    shape: Shape
    role: Role
    kind: str
    """Cold or warm."""
    seconds: str
    pool: str
    phases: str


_OUTCOMES: dict[BootOutcome, tuple[str, Shape, Role]] = {
    BootOutcome.SERVED: (marked("served"), Shape.TICK, Role.OK),
    BootOutcome.FAILED: (marked("failed"), Shape.CROSS, Role.HARM),
    BootOutcome.STOPPED: (marked("stopped"), Shape.RING, Role.QUIET),
}


def failure_causes(known: RemedyList | None) -> tuple[CauseView, ...]:
    """Return what failed last, with the remedies that can be taken."""
    if known is None or known.failure is None:
        return ()
    offered = [one for one in known.offered if one.about == known.failure.code]
    return (_cause(known.failure, tuple(_offer(one) for one in offered)),)


def file_causes(found: Diagnosis) -> tuple[CauseView, ...]:
    """Return what a log in a file says."""
    return tuple(
        _cause(
            one,
            tuple(RemedyLine(text=told(what.text), command=what.command) for what in one.remedies),
        )
        for one in found.matches
    )


def headline(found: Diagnosis | None, known: RemedyList | None, *, is_live: bool) -> str:
    """Say what was read, and what came of it."""
    if found is not None:
        source = f"{found.source} · {found.inside}" if found.inside else found.source
        if found.matches:
            return t("What {source} says, {count} lines:").format(
                source=source, count=f"{found.lines:,}"
            )
        return t(
            "{source}: {count} lines, and nothing in them that is known. A report helps somebody"
            " else to find it."
        ).format(source=source, count=f"{found.lines:,}")
    if known is None and not is_live:
        return t("What failed last appears when the service answers.")
    if known is None:
        return t("Asking what failed last.")
    if known.failure is None:
        return t(
            "The last start went well. Drop a log or a report here to learn why another engine"
            " failed."
        )
    return t("What failed last:")


def boot_rows(history: BootHistory | None) -> tuple[BootView, ...]:
    """Return the boots, the newest first."""
    return tuple(_boot(one) for one in reversed(history.boots if history is not None else ()))


def boots_headline(rows: Sequence[BootView], *, is_known: bool, is_live: bool) -> str:
    """Say why no boot is listed, if none is."""
    if rows:
        return ""
    if not is_known:
        return (
            t("Asking for the boots.")
            if is_live
            else t("The boots appear when the service answers.")
        )
    return t("No engine was started here yet.")


def _cause(match: Match, remedies: tuple[RemedyLine, ...]) -> CauseView:
    return CauseView(
        title=told(match.cause),
        code=match.code,
        evidence="\n".join(match.evidence),
        first_line=match.evidence[0] if match.evidence else "",
        remedies=remedies,
    )


def _offer(one: Offered) -> RemedyLine:
    return RemedyLine(
        text=told(one.remedy.text),
        number=one.number,
        about=one.about,
        command=None if one.number is not None else one.remedy.command,
    )


def _boot(one: BootRecord) -> BootView:
    word, shape, role = _OUTCOMES[one.outcome]
    failed = one.outcome is BootOutcome.FAILED and one.error
    kind = "–" if one.is_cold is None else t("cold") if one.is_cold else t("warm")
    return BootView(
        at=_moment(one.at),
        preset=one.preset,
        outcome=named(t(word), one.error) if failed and one.error else t(word),
        shape=shape,
        role=role,
        kind=kind if one.is_cold is None or one.is_cold_certain else f"{kind}?",
        seconds=duration_text(one.boot_s),
        pool=tokens_text(one.pool_tokens),
        phases=" · ".join(
            f"{t(PHASE_WORDS[_PHASES[name]]) if name in _PHASES else name} {duration_text(seconds)}"
            for name, seconds in one.phases_s.items()
            if seconds >= _LEAST_SHOWN_S
        ),
    )


def _moment(text: str) -> str:
    try:
        return f"{datetime.datetime.fromisoformat(text).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return text
