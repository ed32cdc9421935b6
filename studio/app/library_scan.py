"""Looks where models lie, one look at a time, and says which presets each of them is for."""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from studio.app.library_uses import forget_place, made_elsewhere, places_of, specs_of, uses_of
from studio.app.settings import SettingsFile
from studio.domain.errors import NotFound
from studio.domain.library import Library
from studio.domain.manifests import ModelSpec, Preset
from studio.host.paths import Paths
from studio.models.digests import DigestBook
from studio.models.lost import Lost, Served
from studio.models.roots import Root, roots
from studio.models.shelf import Model, Scan, Shelf


class Scanner:
    """Scans the roots of one home; nothing is decided from an old scan."""

    def __init__(
        self,
        paths: Paths,
        settings: SettingsFile,
        cache: Callable[[], Path],
        presets: Callable[[], Sequence[Preset]],
        digests: DigestBook,
        on_scan: Callable[[Scan], None],
    ) -> None:
        """`on_scan` hears of every scan, on the loop."""
        self._paths = paths
        self._settings = settings
        self._cache = cache
        self._presets = presets
        self._on_scan = on_scan
        self._shelf = Shelf(paths.models, paths.cache, digests)
        self._lost = Lost(paths.models)
        self._one_at_a_time = asyncio.Lock()
        self.last: Scan | None = None
        self.version = 0
        """Counts how often a scan found something else than the one before."""

    def folders(self) -> tuple[Root, ...]:
        """Return the roots."""
        now = self._settings.now
        return roots(self._paths.models, self._cache(), now.model_folders, now.model_references)

    async def scan(self) -> Scan:
        """Return what lies where now."""
        async with self._one_at_a_time:
            scan = await asyncio.to_thread(self._scan_now)
            if self.last is None or settled(scan.library) != settled(self.last.library):
                self.version += 1
            self.last = scan
        self._on_scan(scan)
        return scan

    async def at(self, path: str) -> Model | None:
        """Return the model at a path, as it is now."""
        models = (await self.scan()).models
        return next((one for one in models if str(one.place) == path), None)

    async def in_folder(self, folder: Path) -> Model:
        """Return the model in a folder. Raises: NotFound (`model-unknown`)."""
        models = (await self.scan()).models
        found = next((one for one in models if one.found.folder == str(folder)), None)
        if found is None:
            raise NotFound("model-unknown", f"There is no model in {folder} any more.")
        return found

    def specs(self) -> tuple[ModelSpec, ...]:
        """Return every model that presets need."""
        return tuple(specs_of(self._presets()).values())

    def forget(self, model: Model) -> None:
        """Miss a model no longer: the Studio itself removes it. Blocks."""
        self._lost.forget(str(model.place))

    def dismiss(self, model: Model) -> None:
        """Serve a model no longer that is not listed any more, and stays where it is. Blocks."""
        self.forget(model)
        forget_place(self._paths, self.specs(), model)

    def _scan_now(self) -> Scan:
        presets = self._presets()
        specs = specs_of(presets)
        scan = self._shelf.scan(self.folders(), tuple(specs.values()))
        made_elsewhere(self._paths, specs.values(), scan.models)
        uses, places = uses_of(presets), places_of(self._paths, specs.values())
        models, served = [], []
        for one in scan.models:
            ids = {*one.entry.uses, *places.get(os.path.realpath(one.place), ())}
            names = tuple(sorted({name for key in ids for name in uses[key]}))
            entry = msgspec.structs.replace(one.entry, uses=names)
            models.append(msgspec.structs.replace(one, entry=entry))
            if ids:
                served.append(Served.of(entry, ids))
        lost = self._lost.after(served, scan.library.roots, uses)
        library = msgspec.structs.replace(scan.library, lost=lost)
        return msgspec.structs.replace(scan, models=tuple(models), library=library)


def settled(library: Library) -> Library:
    """Return a library without what is another one in every scan."""
    return msgspec.structs.replace(library, took_s=0.0, at_s=0.0)
