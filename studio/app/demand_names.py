"""What requests may ask for: the listed presets, whether each could be started, and their names."""

import asyncio
import contextlib
import time
from collections.abc import Callable

import msgspec

from studio.app.settings import SettingsFile
from studio.domain.demand import DemandPreset, ListedPreset
from studio.domain.errors import ErrorInfo, HostLacks, StudioError
from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import Preset
from studio.host.paths import Paths
from studio.models import library
from studio.presets import choose, knobs
from studio.presets.store import PresetStore
from studio.runtimes import folder as runtime_folders
from studio.runtimes.catalog import Catalog

_READ_AGAIN_S = 2.0
"""A preset that is edited, a model that is deleted: seen after so long."""
_CONTEXT = "max_model_len"

Listed = tuple[DemandPreset, ...]


class DemandNames:
    """The listed presets of one home."""

    def __init__(
        self,
        paths: Paths,
        presets: PresetStore,
        catalog: Catalog,
        settings: SettingsFile,
        seen_host: Callable[[], HostSnapshot | None],
    ) -> None:
        self._paths = paths
        self._presets = presets
        self._catalog = catalog
        self._settings = settings
        self._seen_host = seen_host
        self._known: Listed = ()
        self._read_s = -_READ_AGAIN_S
        self._read_for: object = None
        self._turn = asyncio.Lock()

    async def listed(self) -> Listed:
        """Return the listed presets in order, as they stand."""
        async with self._turn:
            chosen = self._settings.now.demand
            is_old = time.monotonic() - self._read_s >= _READ_AGAIN_S
            if is_old or self._read_for is not chosen:
                self._known = await asyncio.to_thread(self._read, dict(chosen.presets))
                self._read_s, self._read_for = time.monotonic(), chosen
            return self._known

    def _read(self, chosen: dict[str, ListedPreset]) -> Listed:
        found: list[DemandPreset] = []
        taken = set(chosen)
        for preset_id, how in chosen.items():
            one = self._one(preset_id, how)
            names: tuple[str, ...] = (preset_id,)
            if one.served_name is not None and one.served_name not in taken:
                names = (one.served_name, preset_id)
                taken.add(one.served_name)
            found.append(msgspec.structs.replace(one, names=names))
        return tuple(found)

    def _one(self, preset_id: str, how: ListedPreset) -> DemandPreset:
        default = self._settings.now.demand.ttl_s
        base = DemandPreset(
            preset=preset_id,
            overrides=how.overrides,
            ttl_s=default if how.ttl_s is None else how.ttl_s,
        )
        try:
            preset = self._presets.get(preset_id)
            knobs.read_overrides(preset, how.overrides)
        except StudioError as error:
            return msgspec.structs.replace(base, problem=error.info)
        problem: ErrorInfo | None = None
        try:
            self._require_here(preset, how.overrides)
        except StudioError as error:
            problem = error.info
        return msgspec.structs.replace(
            base,
            served_name=preset.served_name,
            max_model_len=self._context(preset, how.overrides),
            problem=problem,
        )

    def _require_here(self, preset: Preset, overrides: dict[str, str]) -> None:
        """Raise unless runtime and models are on this disk: a request downloads nothing.

        Raises: HostLacks (`not-installed`), NotFound, Damaged.
        """
        recipe = self._catalog.recipe(choose.runtime_of(preset, overrides))
        missing = None
        if runtime_folders.in_use(self._paths, recipe.name) is None:
            missing = f"its runtime `{recipe.name}` is not installed"
        for spec in preset.models:
            if missing is None and library.find(self._paths, spec) is None:
                missing = f"its model {spec.title} is not on this disk"
        if missing is not None:
            raise HostLacks(
                "not-installed",
                f"`{preset.id}` cannot be started by a request: {missing}.",
                hint=f"`weir up {preset.id}` or `weir switch {preset.id}` gets it.",
            )

    def _context(self, preset: Preset, overrides: dict[str, str]) -> int | None:
        """Return the context that it would have on this machine, as far as that is known."""
        value: object = None
        host = self._seen_host()
        if host is not None:
            with contextlib.suppress(StudioError):
                recipe = self._catalog.recipe(choose.runtime_of(preset, overrides))
                fit = choose.fit(preset, recipe, host, None, overrides)
                value = fit.resolved.settings.get(_CONTEXT) if fit.resolved is not None else None
        if value is None:
            knob = preset.knobs.get(_CONTEXT)
            value = overrides.get(_CONTEXT, knob.default if knob is not None else None)
        with contextlib.suppress(TypeError, ValueError):
            return int(str(value))
        return None


def meant(
    listed: Listed, name: str | None, *, running: str | None, last: str | None
) -> DemandPreset | None:
    """Return which preset a name means: of several with one public name the one that runs. Pure.

    Without a name: what runs, what served last, or the first one.
    """
    by_id = {one.preset: one for one in listed}
    if name is None:
        wanted = (running, last)
        found = next((by_id[one] for one in wanted if one is not None and one in by_id), None)
        return found or next(iter(listed), None)
    if name in by_id:
        return by_id[name]
    same = [one for one in listed if one.served_name == name]
    here = [one for one in same if one.preset == running]
    able = [one for one in same if one.problem is None]
    return next(iter([*here, *able, *same]), None)
