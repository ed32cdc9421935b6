"""What `weir doctor` says of a host: one verdict for each requirement, with what to do about it."""

import enum

import msgspec

from studio.domain.hardware import HostSnapshot
from studio.domain.runtimes import RuntimeState


class Level(enum.StrEnum):
    """How a fact counts."""

    GOOD = "good"
    LOOK = "look"
    """Works, but slower, with less room, or only for now."""
    STOPS = "stops"
    """Something cannot run at all: `stops` says what."""
    UNKNOWN = "unknown"
    """Could not be found out; never counts against a host."""


class Area(enum.StrEnum):
    """What a check is about, for sorting."""

    CARDS = "cards"
    SYSTEM = "system"
    STORAGE = "storage"
    TOOLS = "tools"
    SERVICE = "service"


EVERYTHING = "everything"
"""In `Check.stops`: no preset at all can run."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One requirement against one host."""

    code: str
    """Stable, kebab-case: `driver`, `card-memory-held`, `home-disk`, …"""
    area: Area
    title: str
    level: Level
    found: str
    """What is there, in a sentence."""
    advice: str | None = None
    """What to do, when something is to be done."""
    gpu: int | None = None
    """The card that it is about; None: none, or all."""
    stops: tuple[str, ...] = ()
    """Names of the runtimes that cannot work; or `EVERYTHING`."""


class RuntimeVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a runtime can work on the host."""

    name: str
    title: str
    usable: bool
    """Whether the host is good for it, whatever is still to be supplied."""
    state: RuntimeState | None = None
    """Where it stands in this Studio; None: on a replayed host it stands nowhere."""
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class PresetVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a preset can run on the host."""

    id: str
    title: str
    usable: bool
    reasons: tuple[str, ...] = ()
    is_ready: bool | None = None
    """Whether `weir up` serves it without anything more from the person; it may download."""


class DoctorReport(msgspec.Struct, frozen=True, kw_only=True):
    """What `weir doctor --json` prints; with `host` in it, it is a host file too."""

    schema_version: int = 1
    version: str
    """Of the program."""
    replayed: str | None = None
    """The host file that was looked at instead of this machine."""
    title: str
    """The host in a line."""
    level: Level
    """`stops` only when no preset at all can run."""
    checks: tuple[Check, ...] = ()
    runtimes: tuple[RuntimeVerdict, ...] = ()
    presets: tuple[PresetVerdict, ...] = ()
    host: HostSnapshot
