"""What a log was found to say, and what is offered about a failure, as both ends send it."""

import msgspec

from studio.domain.control import UpResult
from studio.domain.remedies import Remedy


class DiagnoseRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Read a log and say why the engine in it failed."""

    path: str | None = None
    """A file on the service's machine, also a report; None: the log of the Studio's own last
    engine."""
    exit_code: int | None = None
    """How the process ended, in any form: -9, 137, 3221225477."""


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """One recognised failure."""

    code: str
    cause: str
    evidence: tuple[str, ...] = ()
    """Lines of the log that say so."""
    remedy: str | None = None
    """The best thing to do, in words."""
    remedies: tuple[Remedy, ...] = ()
    """All of them, the best first."""


class KnownDeath(msgspec.Struct, frozen=True, kw_only=True):
    """An engine that died after it had served, and where what is known of it lies."""

    at: str
    """ISO 8601 in UTC."""
    cause: str | None
    """In a sentence."""
    folder: str


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """What a log was found to say; empty `matches`: nothing that is known."""

    matches: tuple[Match, ...]
    """The most likely cause first; what follows from it behind."""
    source: str
    """The file that was read."""
    inside: str | None = None
    """Which log in it, where that is a zip: a report, or what somebody packed."""
    lines: int
    death: KnownDeath | None = None
    """The last one within a day, where the Studio's own log says nothing: it was healed since."""


class Offered(msgspec.Struct, frozen=True, kw_only=True):
    """One remedy of what went wrong, to be taken by its number."""

    number: int | None
    """From 1 on; None: only words, nothing that can be taken."""
    about: str
    """The code of the failure or of the slow path."""
    remedy: Remedy
    command: str | None = None
    """What to type to do the same by hand."""


class RemedyList(msgspec.Struct, frozen=True, kw_only=True):
    """What can be done about what failed last, and about slow paths of what runs."""

    preset: str | None = None
    failure: Match | None = None
    """What failed last; None when the last start went well."""
    offered: tuple[Offered, ...] = ()


class FixRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Take one of the offered remedies."""

    number: int
    about: str | None = None
    """What the remedy was for when it was shown; refused when that has changed since."""
    consent: bool = False
    """Yes to large downloads and to the next free port."""


class Fixed(msgspec.Struct, frozen=True, kw_only=True):
    """What was done."""

    taken: Offered
    repaired: tuple[str, ...] = ()
    """Runtimes and models that were mended."""
    result: UpResult
    """What serves now."""
