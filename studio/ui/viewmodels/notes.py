"""What is worth a notification while nobody looks: ready, failed, spilling, newer. Pure."""

from collections.abc import Iterable

import msgspec

from studio.domain.alarms import Alarm, Severity
from studio.domain.events import AlarmChanged, Event
from studio.domain.server import EngineState
from studio.domain.units import duration_text
from studio.ui.language import t, told
from studio.ui.state import Known, Link

_ENGINE = "engine"
_VERSION = "version"


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """One notification."""

    about: str
    """What it is about: a newer one about the same takes its place."""
    title: str
    text: str
    is_harm: bool = False


def notes(before: Known, after: Known) -> tuple[Note, ...]:
    """Return what became of the engine between two moments. A window that just came asks nobody."""
    if before.link is not Link.LIVE or after.link is not Link.LIVE:
        return ()
    name = _name(after)
    was, now = before.engine.state, after.engine.state
    if now is EngineState.READY and was is not EngineState.READY:
        boot_s = after.engine.boot_s
        text = t("Booted in {boot_s}.").format(boot_s=duration_text(boot_s)) if boot_s else ""
        return (Note(about=_ENGINE, title=t("{name} is ready").format(name=name), text=text),)
    if after.problem is not None and after.problem != before.problem:
        return (
            Note(
                about=_ENGINE,
                title=t("{name} needs a look").format(name=name),
                text=told(after.problem.message),
                is_harm=True,
            ),
        )
    return ()


def alarm_notes(events: Iterable[Event], said: frozenset[str]) -> tuple[Note, ...]:
    """Return the alarms among `events` that do harm and that nobody has muted or heard yet."""
    alarms = {event.alarm.code: event.alarm for event in events if isinstance(event, AlarmChanged)}
    return tuple(
        Note(about=one.code, title=told(one.title), text=told(one.cause), is_harm=True)
        for one in alarms.values()
        if is_loud(one) and one.code not in said
    )


def is_loud(alarm: Alarm) -> bool:
    """Tell whether an alarm is worth a notification: it holds, hurts, and is not muted."""
    hurts = alarm.severity is Severity.HARM or alarm.code.startswith("spill")
    return hurts and alarm.ended_at is None and not alarm.is_muted


def heard(events: Iterable[Event], said: frozenset[str]) -> frozenset[str]:
    """Return the codes that were said and still hold."""
    for event in events:
        if isinstance(event, AlarmChanged):
            code = event.alarm.code
            said = said | {code} if is_loud(event.alarm) else said - {code}
    return said


def version_note(version: str) -> Note:
    """Return what is said of a newer version of the Studio, once for each."""
    return Note(
        about=_VERSION,
        title=t("Version {version} is there").format(version=version),
        text=t("What is new stands in the settings, under Updates. Nothing is fetched by itself."),
    )


def _name(known: Known) -> str:
    identity = known.engine.preset or (known.attempt.preset if known.attempt else None)
    titles = {preset.id: told(preset.title) for preset in known.presets or ()}
    return titles.get(identity or "", identity or t("The engine"))
