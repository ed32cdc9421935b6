"""What the service answers about getting models ready, and does: one method for each call."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from studio.app.consent import ask
from studio.app.model_files import ModelFiles, request_for
from studio.domain.downloads import FetchedFile
from studio.domain.errors import StudioError
from studio.domain.manifests import ModelSpec, Preset, RuntimeRecipe
from studio.domain.preparing import PrepareRequest, PresetStanding
from studio.host import network
from studio.host.meter import Report
from studio.host.paths import Paths
from studio.hub import get as hub_get
from studio.hub.access import Access
from studio.models.standing import of_all, with_bases
from studio.presets.store import PresetStore
from studio.runtimes import folder as runtime_folders
from studio.runtimes.catalog import Catalog


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """What a person named: a preset, or a model alone."""

    preset: Preset | None
    models: tuple[ModelSpec, ...]
    users: tuple[Preset, ...]
    """Presets whose runtime may do the steps, best first."""


class Preparing:
    """The models of one home's presets."""

    def __init__(
        self,
        paths: Paths,
        presets: PresetStore,
        catalog: Catalog,
        files: ModelFiles,
        report: Report,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._paths = paths
        self._presets = presets
        self._catalog = catalog
        self._files = files
        self._report = report
        self._environ = environ

    async def missing(self, name: str, *, listed: bool = False) -> PresetStanding:
        """Return what a preset's models, or one model, still need.

        With `listed` hubs are asked for the names and sizes of what is missing; one that does not
        answer is named in the note, and the preset's own figures stand.

        Raises: NotFound (`model-unknown`), BadInput (`document-invalid`), HostLacks.
        """
        named = await asyncio.to_thread(self._named, name)
        found = await asyncio.to_thread(self._standing, named)
        if not listed or found.is_usable:
            return found
        listings, note = await self._listings(named, found)
        return await asyncio.to_thread(self._standing, named, listings, note)

    async def prepare(self, request: PrepareRequest) -> PresetStanding:
        """Bring the models to where they can be served, and return how they stand then.

        Raises: NeedsConsent (`large-download`), and what `ModelFiles.ready` raises.
        """
        named = await asyncio.to_thread(self._named, request.name)
        for spec in named.models:
            await asyncio.to_thread(self._files.require, spec)
        found = await asyncio.to_thread(self._standing, named)
        ask(request.name, found.download_bytes or 0, found.disk_bytes, consent=request.consent)
        recipe, python = await asyncio.to_thread(self._runtime, named)
        for spec in named.models:
            await self._files.ready(spec, recipe, python, self._report, is_compared=True)
        return await asyncio.to_thread(self._standing, named)

    def _named(self, name: str) -> Named:
        if name in self._presets.ids():
            preset = self._presets.get(name)
            return Named(preset=preset, models=preset.models, users=(preset,))
        spec = self._presets.model(name)
        users = tuple(one for one in self._presets.all() if _uses(one, name))
        return Named(preset=None, models=(spec,), users=users)

    def _standing(
        self,
        named: Named,
        listings: Mapping[str, tuple[FetchedFile, ...]] | None = None,
        note: str | None = None,
    ) -> PresetStanding:
        preset = named.preset.id if named.preset is not None else None
        return of_all(
            self._paths, preset, named.models,
            environ=self._environ, listings=listings, note=note,
        )  # fmt: skip

    def _runtime(self, named: Named) -> tuple[RuntimeRecipe | None, Path | None]:
        """Return the recipe whose series counts, and an interpreter that is installed."""
        recipe = None
        for preset in named.users:
            for name in preset.runtimes:
                one = self._catalog.recipe(name)
                recipe = recipe or one
                installed = runtime_folders.in_use(self._paths, name)
                if installed is not None:
                    return one, runtime_folders.python_of(self._paths, installed)
        return recipe, None

    async def _listings(
        self, named: Named, found: PresetStanding
    ) -> tuple[dict[str, tuple[FetchedFile, ...]], str | None]:
        """Ask hubs what the missing repositories hold."""
        policy = await asyncio.to_thread(network.in_force, self._paths, self._environ)
        access = Access(paths=self._paths, policy=policy, environ=self._environ)
        waiting = {m.id for m in found.models if not m.is_usable}
        listings, note = {}, None
        for spec in with_bases(named.models):
            for source in spec.sources if spec.id in waiting else ():
                try:
                    repository = await hub_get.listed(request_for(source), access)
                except StudioError as error:
                    note = f"{error.message} {error.hint or ''}".strip()
                    continue
                listings[source.repository] = repository.files
        return listings, note


def _uses(preset: Preset, model_id: str) -> bool:
    return any(one.id == model_id for one in with_bases(preset.models))
