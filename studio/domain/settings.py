"""What the person chooses for every start: what follows a death, a standstill, and early requests,
and how often the monitor looks.

`None` means that nobody chose it, and the default holds.
"""

import enum

import msgspec


class OnDeath(enum.StrEnum):
    """What follows when an engine dies while it serves."""

    RESTART = "restart"
    """Start it again; the third death within ten minutes is the last."""
    TELL = "tell"
    """Leave it down and say what it died of."""


class OnStall(enum.StrEnum):
    """What follows when an engine has work and takes no step any more."""

    RESTART = "restart"
    """End it and start it again; counts as a death."""
    WAIT = "wait"
    """Leave it alone; how long it stands still is shown."""
    TELL = "tell"
    """Leave it alone, and show it as an error until it moves again."""


class CheckUpdates(enum.StrEnum):
    """Whether the service may look once a day whether there is a newer version of the Studio."""

    ON = "on"
    OFF = "off"
    """Nobody is asked unless a person types `weir update check`."""


class CareSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The choices as they hold now."""

    on_death: OnDeath = OnDeath.RESTART
    on_stall: OnStall = OnStall.RESTART
    stall_s: float | None = None
    """Seconds without a step that count as a standstill; None: what the preset says."""
    wait_s: float | None = None
    """Seconds that requests wait for an engine that is coming; 0: none; None: 60, or as long as
    its boot should take."""
    sample_s: float = 1.0
    """Seconds between two looks of the monitor at cards, engine and host."""
    history_mib: int = 256
    """How large the monitor's history gets at most; the oldest minutes go first."""
    check_updates: bool = False
    """Whether the service looks for newer versions of the Studio once a day."""
    chosen: tuple[str, ...] = ()
    """Which of them the person chose, by their names as typed."""


class CareChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to set and what to forget, by name as typed: `on-death`, `on-stall`, `stall-s`,
    `wait-s`, `sample-s`, `history-mib`, `check-updates`."""

    values: dict[str, str] = {}
    forget: tuple[str, ...] = ()
