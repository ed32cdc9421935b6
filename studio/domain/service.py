"""What is known and may be asked about the service as the system's own: unit, autostart, sleep."""

import enum

import msgspec

from studio.domain.errors import ErrorInfo


class RunsAs(enum.StrEnum):
    """Who keeps the service that runs now."""

    UNIT = "unit"
    """systemd, by the unit."""
    HAND = "hand"
    """A terminal, a window, or another service manager."""


class SleepPolicy(enum.StrEnum):
    """What becomes of the engine when the machine goes to sleep."""

    KEEP = "keep"
    STOP = "stop"


class AutostartState(enum.StrEnum):
    """Where the start at login stands."""

    OFF = "off"
    NEXT = "next"
    """Chosen; tried when the service is started by its unit."""
    CARDS = "waiting-for-cards"
    NETWORK = "waiting-for-network"
    TRYING = "trying"
    BACKING_OFF = "backing-off"
    SERVED = "served"
    STOOD_DOWN = "stood-down"
    """Somebody started or stopped something meanwhile."""
    GAVE_UP = "gave-up"


class AutostartInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What is started with the service, and how that went."""

    state: AutostartState = AutostartState.OFF
    preset: str | None = None
    overrides: dict[str, str] = {}
    attempts: int = 0
    next_at: float | None = None
    """When it is tried again, in seconds since the epoch."""
    error: ErrorInfo | None = None
    """Why the last attempt failed."""


class AutostartRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Start `preset` with the service from now on; None: nothing."""

    preset: str | None = None
    overrides: dict[str, str] = {}


class SleepRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Choose what becomes of the engine when the machine sleeps."""

    policy: SleepPolicy


class SleepInfo(msgspec.Struct, frozen=True, kw_only=True):
    """How the service deals with the machine's sleep."""

    policy: SleepPolicy = SleepPolicy.KEEP
    is_announced: bool | None = None
    """Whether the system says beforehand when it sleeps; None: not asked yet."""
    slept_at: float | None = None
    """Begin of the last sleep, in seconds since the epoch."""
    woke_at: float | None = None
    outcome: str | None = None
    """What the look at the engine after it found, in words."""


class UnitRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Install or remove the unit."""

    force: bool = False
    """Also over what a person wrote, or over the unit of another folder."""
    linger: bool = False
    """Let the service run without a login, from the machine's start on."""
    restart: bool = False
    """Let a service that the unit keeps already start anew with what was written."""


class UnitStart(msgspec.Struct, frozen=True, kw_only=True):
    """What came of starting the service through its unit."""

    is_started: bool
    problem: ErrorInfo | None = None
    """Why it was not."""


class UnitText(msgspec.Struct, frozen=True, kw_only=True):
    """The unit as it would be written, passwords left out."""

    path: str
    text: str


class UnitInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The service as systemd knows it."""

    unit_file: str
    is_installed: bool
    is_edited: bool | None = None
    """Whether a person changed the file; None: there is none."""
    is_outdated: bool | None = None
    """Whether an install would write something else now."""
    home: str | None = None
    """The Studio's folder that the unit serves."""
    drop_ins: tuple[str, ...] = ()
    """Files of the person's own that change the unit."""
    enabled: str | None = None
    """`enabled`, `disabled`, `masked` …; None: systemd cannot be asked."""
    active: str | None = None
    """`active`, `inactive`, `failed`, `activating` …"""
    restarts: int | None = None
    has_linger: bool | None = None
    user: str
    runs_as: RunsAs | None = None
    """None: no service of this folder runs."""
    pid: int | None = None
    problem: ErrorInfo | None = None
    """Why systemd cannot keep the service here."""
    notes: tuple[str, ...] = ()
    """What there is to know or to do, in words."""
    autostart: AutostartInfo = AutostartInfo()
    sleep: SleepInfo = SleepInfo()
