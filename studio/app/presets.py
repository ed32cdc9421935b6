"""What the service answers about presets and does with the person's own: one method for each call.

The disk is read in threads, so that a slow one stalls nobody's answer. A host in a file answers
like this machine, and nothing is ever started here.
"""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from studio.app import argv_notes
from studio.app.machine import in_words
from studio.app.pin_overrides import with_pin
from studio.app.settings import Pin
from studio.app.up import Choice, launch
from studio.domain.control import PresetInfo
from studio.domain.errors import BadInput, NotFound, StudioError
from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import InstalledRuntime, Preset, RuntimeRecipe
from studio.domain.presets import (
    ArgvRequest,
    ArgvResult,
    CommandFormat,
    CopyRequest,
    EditRequest,
    ImportPresetRequest,
    PresetDetail,
    PresetDiff,
    PresetRemoved,
    PresetText,
    RetitleRequest,
    UpdateRequest,
)
from studio.host import hosts
from studio.host.paths import Paths
from studio.models import library
from studio.models.places import shared_root
from studio.models.standing import of_all
from studio.presets import choose, knobs, resolve
from studio.presets.choose import Fit
from studio.presets.own import OwnPresets
from studio.presets.store import PresetStore
from studio.runtimes import folder as runtime_folders
from studio.runtimes import install, pin
from studio.runtimes.catalog import Catalog
from studio.serving import formats
from studio.serving.command import Places

_SOCKET_INSIDE = "/run/weir/engine.sock"
"""In a container, which gets that folder as a file system of its own (`formats.compose`)."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """A host, and its name in words."""

    host: HostSnapshot
    title: str


class Presets:
    """The presets of one home."""

    def __init__(
        self,
        paths: Paths,
        store: PresetStore,
        catalog: Catalog,
        host: Callable[[], Awaitable[HostSnapshot]],
        pins: Callable[[], Mapping[str, Pin]] = dict,
    ) -> None:
        """`host` tells this machine, `pins` the pools that were pinned on it."""
        self._pins = pins
        self._paths = paths
        self._store = store
        self._own = OwnPresets(store)
        self._catalog = catalog
        self._host = host

    async def all(self, host: str | None = None) -> list[PresetInfo]:
        """Return every preset with its verdict, for this machine or a host in a file.

        A preset that cannot be read is in the list, with the reason.
        Raises: what reading the recipes raises; NotFound (`host-unknown`), BadInput
        (`document-invalid`) for a host.
        """
        ground = await self._ground(host)
        return await asyncio.to_thread(self._all, ground)

    def _all(self, ground: _Ground) -> list[PresetInfo]:
        recipes = {recipe.name: recipe for recipe in self._catalog.recipes()}
        readable, broken = self._store.readable()
        fits = [(one, choose.fit(one, recipes.get(one.runtime), ground.host)) for one in readable]
        usable = [preset for preset, fit in fits if not _reasons(fit)]
        best = max(usable, key=lambda preset: preset.rank, default=None)
        listed = [self._info(one, recipes.get(one.runtime), fit, best) for one, fit in fits]
        listed.sort(key=lambda one: (not one.usable, -one.rank, one.id))
        return [*listed, *(_broken(preset_id, error) for preset_id, error in broken.items())]

    def _info(
        self, preset: Preset, recipe: RuntimeRecipe | None, fit: Fit, best: Preset | None
    ) -> PresetInfo:
        reasons = _reasons(fit)
        resolved = fit.resolved
        return PresetInfo(
            id=preset.id,
            title=preset.title,
            expert=preset.expert,
            summary=preset.summary,
            runtime=preset.runtime,
            model=preset.model.title,
            licence=preset.model.licence,
            origin=preset.model.origin,
            usable=not reasons,
            reasons=reasons,
            download_bytes=None if recipe is None else self._download_bytes(preset, recipe),
            knobs=preset.knobs,
            rank=preset.rank,
            is_best=preset is best,
            is_own=preset.is_own,
            badges=resolved.badges if resolved is not None else (),
            notes=self._notes(preset, recipe),
            warnings=tuple(one.sentence for one in resolved.warnings) if resolved else (),
            unverified=len(preset.unverified) + sum(len(m.unverified) for m in preset.models),
        )

    def _download_bytes(self, preset: Preset, recipe: RuntimeRecipe) -> int:
        models = sum(library.download_bytes(spec, self._paths) for spec in preset.models)
        return models + install.download_bytes(recipe, self._paths)

    def _notes(self, preset: Preset, recipe: RuntimeRecipe | None) -> tuple[str, ...]:
        """Return what a person has to do before the preset can be served."""
        notes = []
        if recipe is not None and runtime_folders.in_use(self._paths, recipe.name) is None:
            try:
                pin.require_installable(recipe)
            except StudioError as error:
                notes.append(f"{error.message} {error.hint or ''}".strip())
        missing = [
            f"{spec.title} is not here. {library.how_to_get(self._paths, spec)}"
            for spec in preset.models
            if library.find(self._paths, spec) is None and not library.can_get(spec)
        ]
        return (*notes, *missing)

    async def one(self, preset_id: str, host: str | None = None) -> PresetDetail:
        """Return everything about one preset, with its values on this machine or another host.

        Raises: NotFound (`preset-unknown`, `host-unknown`), and what reading files raises.
        """
        ground = await self._ground(host)
        return await asyncio.to_thread(self._one, preset_id, ground)

    def _one(self, preset_id: str, ground: _Ground) -> PresetDetail:
        preset = self._store.get(preset_id)
        recipe = self._recipe(preset.runtime)
        fit = choose.fit(preset, recipe, ground.host)
        reasons = _reasons(fit)
        return PresetDetail(
            preset=preset,
            path=str(self._store.path(preset_id)),
            host=ground.title,
            usable=not reasons,
            reasons=reasons,
            notes=self._notes(preset, recipe),
            resolved=fit.resolved,
            default_values=fit.resolved.knobs if fit.resolved is not None else {},
            files=of_all(self._paths, preset.id, preset.models),
        )

    async def copy(self, preset_id: str, request: CopyRequest) -> PresetText:
        """Make a preset of the person's own from another one. Raises: as `OwnPresets.copy`."""
        await asyncio.to_thread(self._own.copy, preset_id, request)
        return await self.text(request.id)

    async def take(self, request: ImportPresetRequest) -> PresetText:
        """Take over a preset that somebody else wrote. Raises: as `OwnPresets.take`."""
        made = await asyncio.to_thread(self._own.take, request)
        return await self.text(made.id)

    async def edit(self, preset_id: str, request: EditRequest) -> PresetText:
        """Change a preset, or replace its file. Raises: as `OwnPresets.edit` and `.save`."""
        if request.text is not None and request.values:
            raise BadInput("request-invalid", "Either `values` or `text` can be given, not both.")
        if request.text is not None:
            await asyncio.to_thread(self._own.save, preset_id, request.text)
        else:
            await asyncio.to_thread(self._own.edit, preset_id, request.values)
        return await self._changed(preset_id)

    async def retitle(self, preset_id: str, request: RetitleRequest) -> PresetText:
        """Give a preset another title. Raises: as `OwnPresets.retitle`."""
        await asyncio.to_thread(self._own.retitle, preset_id, request.title)
        return await self.text(preset_id)

    async def remove(self, preset_id: str) -> PresetRemoved:
        """Delete a preset of the person's own. Raises: as `OwnPresets.remove`."""
        return await asyncio.to_thread(self._own.remove, preset_id)

    async def update(self, preset_id: str, request: UpdateRequest) -> PresetText:
        """Take over what changed in a preset's original. Raises: as `OwnPresets.update`."""
        await asyncio.to_thread(self._own.update, preset_id, request)
        return await self._changed(preset_id)

    async def _changed(self, preset_id: str) -> PresetText:
        made = await self.text(preset_id)
        # Saved all the same: the second of two changes is often what makes the first one right.
        resolved = (await self.one(preset_id)).resolved
        refused = () if resolved is None else resolved.refusals
        return msgspec.structs.replace(made, refusals=tuple(one.in_words for one in refused))

    async def text(self, preset_id: str) -> PresetText:
        """Return a preset's file. Raises: NotFound (`preset-unknown`), HostLacks."""
        return await asyncio.to_thread(self._own.show, preset_id)

    async def diff(self, preset_id: str, other_id: str | None) -> PresetDiff:
        """Return what differs. Raises: as `OwnPresets.diff`."""
        return await asyncio.to_thread(self._own.diff, preset_id, other_id)

    async def argv(self, request: ArgvRequest) -> ArgvResult:
        """Return the command that would serve a preset; no card is needed, nothing is started.

        Raises: NotFound (`preset-unknown`, `runtime-unknown`, `host-unknown`), BadInput
        (`knob-unknown`, `knob-value`, `preset-refused`), and what reading files raises.
        """
        ground = await self._ground(request.host)
        return await asyncio.to_thread(self._argv, request, ground)

    def _argv(self, request: ArgvRequest, ground: _Ground) -> ArgvResult:
        preset = self._store.get(request.preset)
        recipe = self._catalog.recipe(choose.runtime_of(preset, _checked(preset, request)))
        installed = runtime_folders.in_use(self._paths, recipe.name)
        overrides = with_pin(
            self._pins() if request.host is None else {},
            preset,
            request.overrides,
            runtime_id=installed.runtime_id if installed is not None else None,
            cards=ground.host.gpus,
        )
        fit = choose.fit(preset, recipe, ground.host, request.gpus, overrides)
        assert fit.facts is not None
        assert fit.resolved is not None
        resolve.require(fit.resolved)
        choice = Choice(
            preset=preset,
            recipe=recipe,
            host=ground.host,
            overrides=overrides,
            facts=fit.facts,
            gpus=request.gpus,
        )
        is_contained = request.format is CommandFormat.COMPOSE
        places = self._places(preset, recipe, installed, is_contained=is_contained)
        made = launch(choice, places, {})
        warnings = [one.sentence for one in fit.resolved.warnings]
        return ArgvResult(
            preset=preset.id,
            runtime=recipe.name,
            host=ground.title,
            argv=formats.listening(made, "127.0.0.1"),
            environment=dict(made.environment),
            gpus=fit.facts.gpus,
            settings=fit.resolved.settings,
            badges=fit.resolved.badges,
            rules=fit.resolved.rules,
            notes=(
                *fit.reasons,
                *argv_notes.about_cards(
                    ground.host, request.gpus, fit.facts.gpus, fit.cards_wanted
                ),
                *warnings,
                *self._notes(preset, recipe),
                *argv_notes.about_installing(
                    self._paths, preset, recipe, is_installed=installed is not None
                ),
            ),
            format=request.format,
            text=formats.written(
                made,
                request.format,
                gpus=fit.facts.gpus or (request.gpus if fit.cards_wanted else None) or (),
                card_count=fit.cards_wanted,
                folders=self._folders(preset, places),
            ),
        )

    def _places(
        self,
        preset: Preset,
        recipe: RuntimeRecipe,
        installed: InstalledRuntime | None,
        *,
        is_contained: bool,
    ) -> Places:
        if installed is not None:
            folder = runtime_folders.folder_of(self._paths, installed)
            python = runtime_folders.python_of(self._paths, installed)
        else:  # where it would be, but for the part that installing decides
            folder = self._paths.runtimes / recipe.name / argv_notes.PLACE_OF_ID
            python = folder / "python" / "bin" / "python3"
        models = [str(library.place_of(self._paths, spec)) for spec in preset.models]
        return Places(
            python=str(python),
            runtime=str(folder),
            runtime_id=installed.runtime_id if installed is not None else "",
            model=models[0],
            drafter=models[1] if len(models) > 1 else "",
            # The folder of our own sockets holds the control token, which is no container's matter.
            socket=_SOCKET_INSIDE if is_contained else str(self._paths.sockets / "engine.sock"),
            cache=str(self._paths.engine_cache),
        )

    def _folders(self, preset: Preset, places: Places) -> tuple[str, ...]:
        """Return what a container has to see: models of the person's own lie anywhere."""
        lying = [shared_root(library.place_of(self._paths, m)) for m in preset.models]
        own = [str(one) for one in lying if not one.is_relative_to(self._paths.models)]
        models = [] if len(own) == len(lying) else [str(self._paths.models)]
        return tuple(dict.fromkeys([places.runtime, *models, *own, places.cache]))

    def _recipe(self, name: str) -> RuntimeRecipe | None:
        try:
            return self._catalog.recipe(name)
        except NotFound:
            return None

    async def _ground(self, reference: str | None) -> _Ground:
        if reference is None:
            host = await self._host()
        else:
            host = (await asyncio.to_thread(hosts.load, reference, self._paths)).host
        return _Ground(host=host, title=in_words(host))


def _checked(preset: Preset, request: ArgvRequest) -> Mapping[str, str]:
    """Return the overrides, once they are known to be ones."""
    knobs.read_overrides(preset, request.overrides)
    return request.overrides


def _reasons(fit: Fit) -> tuple[str, ...]:
    if fit.reasons or fit.resolved is None:
        return fit.reasons
    return tuple(one.sentence for one in fit.resolved.refusals)


def _broken(preset_id: str, error: StudioError) -> PresetInfo:
    return PresetInfo(
        id=preset_id,
        title=preset_id,
        expert="",
        summary="",
        runtime="",
        model="",
        licence="",
        origin="",
        usable=False,
        is_broken=True,
        reasons=(error.message, error.hint) if error.hint else (error.message,),
    )
