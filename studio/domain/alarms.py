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
