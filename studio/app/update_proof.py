"""What a version of the Studio has to find again of what the one before had: see `update_trial.py`.

The version that hands over writes down what a person would miss; the one on trial lists the same.
"""

from collections.abc import Iterable

import msgspec

from studio.domain.control import PresetInfo
from studio.domain.runtimes import RuntimeInfo
from studio.host.paths import Paths
from studio.presets.store import PresetStore
from studio.runtimes import folder


class Holdings(msgspec.Struct, frozen=True, kw_only=True):
    """What lay in a home, and could be read, when a version handed over."""

    presets: tuple[str, ...] = ()
    """The person's own, by id."""
    runtimes: tuple[str, ...] = ()
    """Those that are installed, by name."""


def holdings(paths: Paths) -> Holdings:
    """Return what this version can read of a home; what it cannot read nobody is asked for."""
    readable, _broken = PresetStore(paths).readable()
    names = sorted(path.name for path in paths.runtimes.glob("*") if path.is_dir())
    return Holdings(
        presets=tuple(sorted(one.id for one in readable if one.is_own)),
        runtimes=tuple(name for name in names if folder.in_use(paths, name) is not None),
    )


def missing_preset(before: Holdings, now: Iterable[PresetInfo]) -> str | None:
    """Return in words what a list of presets lacks."""
    listed = tuple(now)
    lost = sorted(set(before.presets) - {one.id for one in listed if one.is_own})
    if lost:
        return f"it does not find the preset `{lost[0]}` of this home"
    return None if listed else "it lists no presets"


def missing_runtime(before: Holdings, now: Iterable[RuntimeInfo]) -> str | None:
    """Return in words what a list of runtimes lacks.

    One that the newer catalogue has dropped is not missed: its folder stays as it is.
    """
    listed = {one.name: one for one in now}
    if not listed:
        return "it lists no runtimes"
    lost = [one for one in before.runtimes if one in listed and listed[one].runtime_id is None]
    return f"it does not find the installed runtime `{lost[0]}`" if lost else None
