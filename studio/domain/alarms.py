"""What the monitor warns of: sustained evidence, a cause, and what can be done."""

import enum

import msgspec

from studio.domain.remedies import Remedy


class Severity(enum.StrEnum):
    """How much it matters."""

    NOTICE = "notice"
    """Worth knowing; nothing is worse for it yet."""
    WARNING = "warning"
    """Answers are slower than they could be."""
    HARM = "harm"
    """Answers crawl, or the engine is about to die."""


class Alarm(msgspec.Struct, frozen=True, kw_only=True):
    """One alarm, from its first second to its end."""

    code: str
    """Stable, kebab-case: `spill-swap`, `card-lost`, `throttled-heat`."""
    severity: Severity
    title: str
    """A few words: `1.8 GiB in system memory`."""
    cause: str
    """One or two sentences with the numbers of this case."""
    evidence: tuple[str, ...] = ()
    """What was seen, one measurement a line."""
    remedies: tuple[Remedy, ...] = ()
    since: float
    """When the evidence began, in seconds since the epoch."""
    raised_at: float
    """When it had lasted long enough to be said."""
    ended_at: float | None = None
    """When it was over; None: it still holds."""
    where: str | None = None
    """Which card, adapter or process."""
    is_muted: bool = False
    """A person knows, and wants to hear no more of it."""


class Mute(msgspec.Struct, frozen=True, kw_only=True):
    """An alarm that a person has silenced. It is still watched, shown and kept."""

    code: str
    until: float | None = None
    """In seconds since the epoch; None: until it is unmuted, or over where `is_once`."""
    is_once: bool = False
    """Only as long as it holds: the next one is heard again."""


class MuteRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Silence an alarm."""

    for_s: float | None = None
    """For so many seconds; None: until it is unmuted."""
    is_once: bool = False


class AlarmList(msgspec.Struct, frozen=True, kw_only=True):
    """What the monitor warns of."""

    active: tuple[Alarm, ...] = ()
    """What holds now, the worst first."""
    ended: tuple[Alarm, ...] = ()
    """What is over since the service started, the newest last."""
    mutes: tuple[Mute, ...] = ()
    is_watched: bool = False
    """Whether a monitor runs; without a service nothing is looked at."""
