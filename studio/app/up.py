"""`weir up` as a list of stages: detect, gateway, runtime, model, boot. Each skips what is done."""

import asyncio
import dataclasses
import functools
import logging
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from studio.app.cards import choice as card_choice
from studio.app.cards import remembered as kept_cards
from studio.app.cards import require_known
from studio.app.installs import Installs
from studio.app.model_files import ModelFiles
from studio.app.pin_overrides import with_pin
from studio.app.settings import SettingsFile
from studio.app.stages import Stages
from studio.domain.control import KeyRequest, NewKey, UpRequest, UpResult
from studio.domain.errors import BadInput, HostLacks, NeedsConsent, StudioError
from studio.domain.events import Stage
from studio.domain.hardware import HostSnapshot
from studio.domain.integrity import Repaired
from studio.domain.manifests import InstalledRuntime, ModelSpec, Preset, RuntimeRecipe
from studio.domain.rules import Facts
from studio.domain.runtimes import RuntimeWork
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.units import GIB, bytes_text, duration_text, tokens_text
from studio.host import plain_home
from studio.host.files import from_os_error, make_private
from studio.host.paths import Paths
from studio.models import library
from studio.models.standing import in_words, of_all
from studio.presets import choose, knobs, resolve
from studio.presets.store import PresetStore
from studio.runtimes import folder as runtime_folders
from studio.runtimes import install, litter, pin, repair
from studio.runtimes.catalog import Catalog
from studio.serving import command
from studio.serving.command import Launch, Places

logger = logging.getLogger(__name__)

_NO_NEEDS: Mapping[int, int] = {}
ASK_ABOVE_BYTES = 2 * GIB
"""Downloads larger than this want a yes."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What will be served, decided before anything is fetched."""

    preset: Preset
    recipe: RuntimeRecipe
    host: HostSnapshot
    overrides: dict[str, str]
    facts: Facts
    gpus: tuple[int, ...] | None
    """The cards that were asked for, to be remembered; `facts.gpus` are those that are used."""
    typed: dict[str, str] | None = None
    """The overrides without a pin of the pool; None: there is no such pin."""

    @property
    def asked(self) -> dict[str, str]:
        """What the person asked for, to be remembered."""
        return self.overrides if self.typed is None else self.typed


def decide(
    catalog: Catalog,
    preset: Preset,
    host: HostSnapshot,
    gpus: tuple[int, ...] | None,
    overrides: dict[str, str],
) -> Choice:
    """Return the choice of `preset` with these overrides on `host`.

    Raises: HostLacks (`preset-does-not-fit`), BadInput (`knob-unknown`, `knob-value`,
    `preset-refused`), NotFound (`runtime-unknown`).
    """
    knobs.read_overrides(preset, overrides)  # a mistyped runtime is a wrong value
    recipe = catalog.recipe(choose.runtime_of(preset, overrides))
    fit = choose.fit(preset, recipe, host, gpus, overrides)
    if fit.reasons or fit.facts is None or fit.resolved is None:
        raise HostLacks(
            "preset-does-not-fit",
            f"`{preset.id}` does not fit this machine: {' '.join(fit.reasons)}",
            hint="See what fits with `weir presets`.",
        )
    resolve.require(fit.resolved)
    return Choice(
        preset=preset, recipe=recipe, host=host, overrides=overrides, facts=fit.facts,
        gpus=gpus if fit.facts.gpus else None,
    )  # fmt: skip


class Up:
    """Carries out one `weir up` at a time."""

    def __init__(
        self,
        *,
        paths: Paths,
        presets: PresetStore,
        catalog: Catalog,
        settings: SettingsFile,
        stages: Stages,
        models: ModelFiles,
        host: Callable[[], Awaitable[HostSnapshot]],
        open_gateway: Callable[[int, bool], Awaitable[str]],
        ensure_ready: Callable[[Launch, Choice, Sequence[Path]], Awaitable[EngineSnapshot]],
        first_key: Callable[[KeyRequest], Awaitable[NewKey | None]],
        installs: Installs | None = None,
    ) -> None:
        self._installs = installs if installs is not None else Installs(paths)
        self._paths = paths
        self._presets = presets
        self._catalog = catalog
        self._settings = settings
        self._stages = stages
        self._models = models
        self._host = host
        self._open_gateway = open_gateway
        self._ensure_ready = ensure_ready
        self._first_key = first_key

    async def choose(self, request: UpRequest) -> Choice:
        """Return what `request` asks for on this host, checked as far as can be without a network.

        Raises: NotFound (`preset-unknown`, `runtime-unknown`), HostLacks (`preset-does-not-fit`,
        `no-preset-fits`), BadInput (`knob-unknown`, `knob-value`, `preset-refused`, `gpu-unknown`,
        `port-invalid`).
        """
        _check_port(self._settings.now.port if request.port is None else request.port)
        host = await self._host()
        gpus = request.gpus if request.gpus is not None else kept_cards(self._settings.now, host)
        require_known(request.gpus, host)
        preset = self._pick(request, host, gpus)
        remembered = self._settings.now
        same = request.preset is None and preset.id == remembered.preset
        known = remembered.overrides if same else {}  # the preset may have lost a knob since
        known = {name: text for name, text in known.items() if name in preset.knobs}
        overrides = {**known, **request.overrides}
        choice = decide(self._catalog, preset, host, gpus, overrides)
        return self._pinned(choice)

    def _pinned(self, choice: Choice) -> Choice:
        """Return the choice with the pool that was pinned for it, where the pin holds here."""
        installed = runtime_folders.in_use(self._paths, choice.recipe.name)
        used = set(choice.facts.gpus)
        overrides = with_pin(
            self._settings.now.pins,
            choice.preset,
            choice.overrides,
            runtime_id=installed.runtime_id if installed is not None else None,
            cards=(card for card in choice.host.gpus if card.index in used),
        )
        if overrides == choice.overrides:
            return choice
        made = decide(self._catalog, choice.preset, choice.host, choice.gpus, overrides)
        return dataclasses.replace(made, typed=choice.overrides)

    def check_words(self, request: UpRequest) -> None:
        """Refuse an unknown preset, knob or value before anything is looked at.

        Raises: NotFound (`preset-unknown`), BadInput (`knob-unknown`, `knob-value`).
        """
        if request.preset is not None:
            knobs.read_overrides(self._presets.get(request.preset), request.overrides)

    def _pick(self, request: UpRequest, host: HostSnapshot, gpus: tuple[int, ...] | None) -> Preset:
        if request.preset is not None:
            return self._presets.get(request.preset)
        last = self._settings.now.preset
        if last is not None and last in self._presets.ids():
            return self._presets.get(last)
        recipes = {recipe.name: recipe for recipe in self._catalog.recipes()}
        best = choose.best(self._presets.all(), recipes, host, gpus)
        if best is None:
            raise HostLacks(
                "no-preset-fits",
                "No preset of this version fits this machine.",
                hint="`weir presets` says for each what is missing.",
            )
        return best

    async def run(
        self,
        choice: Choice,
        request: UpRequest,
        card_needs: Mapping[int, int] = _NO_NEEDS,
        *,
        is_asked: Callable[[], bool] = lambda: True,
    ) -> UpResult:
        """Carry out `choice`; returns when its first token was generated.

        `card_needs`: the bytes of each card that the plan is certain of. `is_asked` says in the
        end whether a person wanted it: only then it is remembered.
        """
        preset, stages = choice.preset, self._stages
        port = request.port or self._settings.now.port
        stages.begin(Stage.GATEWAY, f"port {port}")
        base_url = await self._open_gateway(port, request.consent)
        stages.end(Stage.GATEWAY, base_url)
        self.require(choice, request)
        runtime = await self._runtime(choice)
        folder = runtime_folders.folder_of(self._paths, runtime)
        python = runtime_folders.python_of(self._paths, runtime)
        models = [await self._model(spec, choice.recipe, python) for spec in preset.models]
        stages.begin(Stage.BOOT, preset.title)
        await asyncio.to_thread(litter.sweep, self._paths)
        rendered = self.render(choice, runtime, folder, models)
        launch = dataclasses.replace(rendered, card_needs=dict(card_needs))
        engine = await self._ensure_ready(launch, choice, models)
        stages.end(Stage.BOOT, f"ready after {duration_text(engine.boot_s)}")
        made = await self._first_key(KeyRequest(name="default"))
        if is_asked():
            self._remember(choice)
        return UpResult(
            base_url=base_url,
            api_key=made.key if made else None,
            preset=preset.id,
            served_name=preset.served_name,
            runtime=runtime.name,
            runtime_id=runtime.runtime_id,
            pool_tokens=engine.pool_tokens,
            boot_s=engine.boot_s,
            is_cold=engine.is_cold,
            notes=(*engine.tries, *([engine.pool_note] if engine.pool_note else ())),
            offers=engine.offers,
            overrides=dict(engine.overrides),
            badges=engine.badges,
        )

    def render(
        self, choice: Choice, runtime: InstalledRuntime, folder: Path, models: list[Path]
    ) -> Launch:
        """Return the launch of `choice`. The socket's name is new each time.

        Raises: HostLacks (`not-writable`, `disk-full`).
        """
        sockets = self._paths.sockets
        try:
            make_private(sockets, must_be_own=sockets != self._paths.service)
        except OSError as error:
            raise from_os_error(error, sockets) from error
        plain_home.make(self._paths)
        places = Places(
            python=self._plain(runtime_folders.python_of(self._paths, runtime)),
            runtime=self._plain(folder),
            runtime_id=runtime.runtime_id,
            model=str(models[0]),
            drafter=str(models[1]) if len(models) > 1 else "",
            socket=str(sockets / f"engine-{secrets.token_hex(4)}.sock"),
            cache=self._plain(self._paths.engine_cache),
        )
        return launch(choice, places, os.environ)

    def _plain(self, place: Path) -> str:
        return plain_home.name_of(self._paths, place)

    def still_to_fetch_bytes(self, preset: Preset, recipe: RuntimeRecipe) -> int:
        """Return the download that serving `preset` would need now."""
        models = sum(library.download_bytes(spec, self._paths) for spec in preset.models)
        return models + install.download_bytes(recipe, self._paths)

    def require(self, choice: Choice, request: UpRequest) -> None:
        """Raise unless all that `choice` needs is here or may be fetched.

        Raises: NeedsConsent (`large-download`); HostLacks (`runtime-not-pinned`, `hash-unverified`)
        for a runtime whose recipe leaves something open; for a model that the Studio cannot fetch,
        what `library.check` raises.
        """
        if runtime_folders.in_use(self._paths, choice.recipe.name) is None:
            pin.require_installable(choice.recipe)
        for spec in choice.preset.models:
            self._models.require(spec)
        size = self.still_to_fetch_bytes(choice.preset, choice.recipe)
        if size <= ASK_ABOVE_BYTES or request.consent:
            return
        standing = of_all(self._paths, choice.preset.id, choice.preset.models)
        disk = choice.recipe.needs.disk_bytes + standing.disk_bytes
        raise NeedsConsent(
            "large-download",
            f"`{choice.preset.id}` ({choice.preset.title}) needs {bytes_text(size)} of downloads "
            f"and {bytes_text(disk)} of disk in {self._paths.home}.{in_words(standing)}",
            hint="Say yes with `weir up --yes`, or choose another preset: `weir presets`.",
            data={"what": choice.preset.id, "download_bytes": size, "disk_bytes": disk},
        )

    async def _runtime(self, choice: Choice) -> InstalledRuntime:
        recipe, stages = choice.recipe, self._stages
        found = await repair.ensure_whole(
            recipe, self._paths, stages.report, functools.partial(self._mended, recipe)
        )
        if found is not None:
            note = f"{recipe.name} is installed"
            if runtime_folders.is_outdated(self._paths, recipe, found):
                note += "; there is an update: `weir runtime updates`"
            stages.end(Stage.RUNTIME, note, skipped=True)
            return found
        stages.begin(Stage.RUNTIME, recipe.title)
        made = await self._installs.run(
            recipe.name,
            recipe.title,
            stages.report,
            lambda report: install.install(recipe, self._paths, report),
        )
        stages.end(Stage.RUNTIME, f"{recipe.name} · {made.interpreter}")
        return made

    async def _mended(self, recipe: RuntimeRecipe) -> Repaired:
        """Repair, so that it can be stopped as one that somebody asked for."""
        return await self._installs.run(
            recipe.name,
            recipe.title,
            self._stages.report,
            lambda report: repair.repair(recipe, self._paths, report),
            RuntimeWork.REPAIR,
        )

    async def _model(self, spec: ModelSpec, recipe: RuntimeRecipe, python: Path) -> Path:
        stages, about = self._stages, f"{spec.title} · {spec.licence} · {spec.origin}"
        is_here = await asyncio.to_thread(library.find, self._paths, spec) is not None
        if not is_here:
            stages.begin(Stage.MODEL, about)
        folder = await self._models.ready(spec, recipe, python, stages.report)
        note = f"{spec.title} is here" if is_here else about
        stages.end(Stage.MODEL, note, skipped=is_here)
        return folder

    def _remember(self, choice: Choice) -> None:
        try:
            self._settings.change(
                preset=choice.preset.id,
                overrides=choice.asked,
                **card_choice(choice.gpus, choice.host),
            )
        except StudioError as error:  # it serves, and its first key would be lost with an error
            logger.warning("the choice cannot be kept: %s", error)


def launch(choice: Choice, places: Places, inherited: Mapping[str, str]) -> Launch:
    """Return the command of `choice` at `places`."""
    folders = {"model": places.model, "drafter": places.drafter, "cache": places.cache}
    resolved = resolve.resolve(choice.preset, choice.facts, choice.overrides, folders)
    return command.render(
        choice.preset, resolved, choice.recipe, places=places, inherited=inherited
    )


def serves(engine: EngineSnapshot, choice: Choice) -> bool:
    """Tell whether just this is being served."""
    is_same = engine.preset == choice.preset.id and engine.overrides == choice.overrides
    return engine.state is EngineState.READY and is_same


def already_running(choice: Choice, engine: EngineSnapshot, base_url: str) -> UpResult:
    """Return what `weir up` says of an engine that serves `choice` already."""
    return UpResult(
        base_url=base_url,
        preset=choice.preset.id,
        served_name=choice.preset.served_name,
        runtime=engine.runtime or choice.recipe.name,
        runtime_id=engine.runtime_id or "",
        pool_tokens=engine.pool_tokens,
        boot_s=engine.boot_s,
        is_cold=engine.is_cold,
        offers=engine.offers,
        already_running=True,
        overrides=dict(engine.overrides),
        badges=engine.badges,
    )


def switch_command(choice: Choice) -> str:
    """Return what to type to replace what runs by `choice`."""
    words = [f"--set {name}={value}" for name, value in choice.overrides.items()]
    return " ".join(["weir switch", choice.preset.id, *words])


def describe(engine: EngineSnapshot) -> str:
    """Return an engine's readiness in one line for the service's log."""
    return (
        f"{engine.preset} on {engine.runtime} {engine.runtime_id}: "
        f"pool {tokens_text(engine.pool_tokens)}, {_temperature(engine)}boot "
        f"{duration_text(engine.boot_s)}"
    )


def _temperature(engine: EngineSnapshot) -> str:
    return "" if engine.is_cold is None else ("cold " if engine.is_cold else "warm ")


def _check_port(port: int) -> None:
    if not 0 < port < 1 << 16:
        raise BadInput(
            "port-invalid",
            f"There is no port {port}; ports go from 1 to 65,535.",
            hint="Choose one with `weir up --port 18020`.",
        )
