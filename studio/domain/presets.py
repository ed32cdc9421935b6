"""What the control API says about presets, and what it may be asked (docs/control-api.md)."""

import enum
from typing import Any

import msgspec

from studio.domain.manifests import Preset
from studio.domain.preparing import PresetStanding
from studio.domain.rules import Resolved, Value


class PresetDetail(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one preset, with its values on a host."""

    preset: Preset
    path: str
    """Its file."""
    host: str
    """Which host the values are for, in words."""
    usable: bool
    reasons: tuple[str, ...] = ()
    """Why not, when not usable."""
    notes: tuple[str, ...] = ()
    """What has to be done before it can be served."""
    resolved: Resolved | None = None
    """None: its runtime is not in the catalogue."""
    default_values: dict[str, Value] = {}
    """Knobs without overrides on this host."""
    files: PresetStanding | None = None
    """What its models still need, as far as is known without a hub."""


class ChangeKind(enum.StrEnum):
    """Who changed a value since a preset was copied."""

    YOURS = "yours"
    UPDATE = "update"
    BOTH = "both"
    """You and the update, to the same value."""
    CONFLICT = "conflict"
    """You and the update, to different values."""
    DIFFERS = "differs"
    """Two presets compared, neither of which came of the other."""


class ValueChange(msgspec.Struct, frozen=True, kw_only=True):
    """One value that is not the same everywhere. None: it is not there."""

    name: str
    """The knob's name, or the place in the file: `rules.wsl.environment.NAME`."""
    kind: ChangeKind
    base: Any = None
    """When it was copied."""
    mine: Any = None
    theirs: Any = None
    """In the preset it was copied from, as it is now; or in the other preset."""


class PresetDiff(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between presets."""

    mine: str
    theirs: str
    is_three_way: bool = False
    """Whether the base is known: what the copy was made from, as it was then."""
    note: str | None = None
    """Why it is not, or what became of the original."""
    changes: tuple[ValueChange, ...] = ()


class CopyRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Make a preset of the person's own from another."""

    id: str
    """Of the new one; the same as the original's to replace it."""
    title: str | None = None
    values: dict[str, str] = {}
    """Knob to its default in the new one, as typed after `--set`."""


class RetitleRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Give a preset of the person's own another title; its id stays."""

    title: str


class UpdateRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bring a preset of the person's own up to what it was copied from, as that is now."""

    take: tuple[str, ...] | None = None
    """Names of changes (`ValueChange.name`) whose value comes from the original; None: all that
    the person did not change."""


class PresetRemoved(msgspec.Struct, frozen=True, kw_only=True):
    """A preset of the person's own that is gone."""

    id: str
    path: str
    """Where it lay."""
    text: str
    """Its whole file: taking it over again undoes the removal."""
    is_bundled_back: bool = False
    """The preset of that id that came with the Studio stands in its place again."""


class EditRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Change a preset of the person's own; a bundled one is copied under its id first."""

    values: dict[str, str] = {}
    """Knob to its new default, as typed after `--set`."""
    text: str | None = None
    """The whole file instead."""


class ImportPresetRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Take over a preset that somebody else wrote."""

    text: str
    """Its whole file."""
    id: str | None = None
    """What to call it; None: as it calls itself."""
    source: str | None = None
    """The file it was read from, for messages; None: it came without one."""


class PresetText(msgspec.Struct, frozen=True, kw_only=True):
    """A preset's file."""

    id: str
    path: str
    is_own: bool
    text: str
    refusals: tuple[str, ...] = ()
    """After a change: why it cannot be served like this on this machine, each with the way out."""


class CommandFormat(enum.StrEnum):
    """How an engine's command is written down."""

    SHELL = "shell"
    COMPOSE = "compose"
    SYSTEMD = "systemd"


class ArgvRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Ask for the command that would serve a preset; starts nothing."""

    preset: str
    overrides: dict[str, str] = {}
    gpus: tuple[int, ...] | None = None
    host: str | None = None
    """An id of `presets/hosts`, or a file; None: this machine."""
    format: CommandFormat = CommandFormat.SHELL


class ArgvResult(msgspec.Struct, frozen=True, kw_only=True):
    """The command that would serve a preset, without any secret."""

    preset: str
    runtime: str
    host: str
    argv: tuple[str, ...]
    environment: dict[str, str]
    gpus: tuple[int, ...] = ()
    settings: dict[str, Any] = {}
    badges: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What would be in the way of it, and warnings."""
    format: CommandFormat
    text: str
    """In the format that was asked for."""
