"""Plans: what fits, and how large the pool will be, before anything is fetched.

Reading is done in a thread, so that a slow disk stalls nobody's answer.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from studio.app.boots_seen import BootsSeen
from studio.app.cards import remembered, require_known
from studio.app.machine import Machine
from studio.app.pin_overrides import with_pin
from studio.app.plan_cases import Case, in_words, of_folder, of_preset, planned
from studio.app.plan_refusals import check, has_more_room, refusal
from studio.app.settings import SettingsFile
from studio.domain.errors import BadInput, HostLacks, NotFound
from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import Preset, RuntimeRecipe
from studio.domain.plans import Plan, PlanRequest, PlanVerdict
from studio.domain.preparing import PresetStanding
from studio.host import hosts, processes, wsl
from studio.host.documents import read_toml
from studio.host.paths import Paths, bundled_root
from studio.models import library
from studio.models.standing import of_all
from studio.planner import boots, calibration, headroom
from studio.planner.arguments import Arguments
from studio.planner.boots import Boots
from studio.planner.budget import Processor, Surroundings, Tables
from studio.planner.calibration import Calibration
from studio.planner.card_ledger import Ground
from studio.planner.headroom import Rungs
from studio.planner.memory import MemoryTable
from studio.planner.outcome import Outcome
from studio.planner.plan import About, must_give, plan
from studio.planner.reductions import Ladder
from studio.planner.work import work_out
from studio.presets import choose
from studio.presets.store import PresetStore
from studio.runtimes import folder as runtime_folders
from studio.runtimes import install
from studio.runtimes.catalog import Catalog

T = TypeVar("T")

logger = logging.getLogger(__name__)

_REFUSED = (PlanVerdict.DOES_NOT_FIT, PlanVerdict.FITS_IF)
_RELEASE_LOOK_S = 1.0
_RELEASE_LOOKS = 8
"""Freed memory of cards was seen to come back after 0.5 to 1.5 s; it is waited for as it comes."""
_STOCK_ENGINE = re.compile(r"vllm-\d+\.\d+(\.\w+)*")
_DEFAULT_ENGINE = "vllm-0.32.0"
_CPU_ENGINE = "cpu-vllm-0.32.0"


class Plans:
    """The planner of one home."""

    def __init__(
        self,
        *,
        paths: Paths,
        presets: PresetStore,
        catalog: Catalog,
        settings: SettingsFile,
        machine: Machine,
        own_pids: Callable[[], frozenset[int]],
    ) -> None:
        self.seen = BootsSeen(paths.home / "calibration.json")
        self._paths = paths
        self._presets = presets
        self._catalog = catalog
        self._settings = settings
        self._machine = machine
        self._own_pids = own_pids
        self._documents: dict[str, tuple[tuple[Path, int], object]] = {}

    async def plan(self, request: PlanRequest) -> Plan:
        """Return what a preset, or a model's folder, comes to.

        Raises: NotFound (`preset-unknown`, `host-unknown`, `model-missing`, `config-missing`, …),
        BadInput (`plan-of-both`, `knob-unknown`, `knob-value`, …), and what reading files raises.
        """
        check(request)
        if request.host is not None:
            return await asyncio.to_thread(self._of_catalogue, request)
        host = await self._machine.look()
        is_replay = self._machine.replayed is not None
        ground = self._ground(host, allow_spill=request.allow_spill, is_replay=is_replay)
        return await asyncio.to_thread(self._plan, request, ground)

    def _of_catalogue(self, request: PlanRequest) -> Plan:
        host = hosts.of_catalogue(request.host or "", self._paths).host
        ground = self._ground(host, allow_spill=request.allow_spill, is_replay=True)
        return self._plan(request, ground)

    def _ground(self, host: HostSnapshot, *, allow_spill: bool, is_replay: bool) -> Ground:
        if is_replay:
            return Ground(host=host, allow_spill=allow_spill, is_replay=True)
        return Ground(
            host=host,
            lines=self.seen.known().lines,
            own_pids=self._own_pids(),
            allow_spill=allow_spill,
        )

    def _plan(self, request: PlanRequest, ground: Ground) -> Plan:
        known = Calibration() if ground.is_replay else self.seen.known()
        case, around = self._case(request, ground, known)
        made = self.judged(request, case, around)
        return msgspec.structs.replace(made, files=self._files(case.preset))

    # -- what is planned -------------------------------------------------------------------

    def _case(
        self, request: PlanRequest, ground: Ground, known: Calibration
    ) -> tuple[Case, Surroundings]:
        gpus = request.gpus
        require_known(gpus, ground.host)
        if gpus is None and not ground.is_replay:
            gpus = remembered(self._settings.now, ground.host)
        if request.model is not None:
            return self._folder_case(request, ground, known, gpus)
        preset, overrides = self._picked(request, ground, gpus)
        recipe = self._catalog.recipe(choose.runtime_of(preset, overrides))
        if not ground.is_replay:
            installed = runtime_folders.in_use(self._paths, recipe.name)
            overrides = with_pin(
                self._settings.now.pins,
                preset,
                overrides,
                runtime_id=installed.runtime_id if installed is not None else None,
                cards=ground.host.gpus,
            )
        return self.case_of(preset, recipe, ground, known, overrides, gpus)

    def _picked(
        self, request: PlanRequest, ground: Ground, gpus: tuple[int, ...] | None
    ) -> tuple[Preset, dict[str, str]]:
        """Return the preset and the overrides: as `weir up` would take them."""
        now = self._settings.now
        if request.preset is not None:
            return self._presets.get(request.preset), request.overrides
        if not ground.is_replay and now.preset is not None and now.preset in self._presets.ids():
            preset = self._presets.get(now.preset)
            kept = {name: text for name, text in now.overrides.items() if name in preset.knobs}
            return preset, {**kept, **request.overrides}
        recipes = {recipe.name: recipe for recipe in self._catalog.recipes()}
        readable, _ = self._presets.readable()
        best = choose.best(readable, recipes, ground.host, gpus)
        if best is None:
            raise HostLacks(
                "no-preset-fits",
                "No preset of this version fits this machine.",
                hint="`weir presets` says for each what is missing.",
            )
        return best, request.overrides

    def case_of(
        self,
        preset: Preset,
        recipe: RuntimeRecipe,
        ground: Ground,
        known: Calibration,
        overrides: Mapping[str, str],
        gpus: tuple[int, ...] | None,
    ) -> tuple[Case, Surroundings]:
        """Return what is planned for a preset, and what is known around it."""
        installed = runtime_folders.in_use(self._paths, recipe.name)
        around = Surroundings(
            tables=self.tables(),
            memory_bytes=ground.host.available_memory_bytes,
            is_wsl=ground.host.is_wsl,
            calibration=known,
            runtime_id=installed.runtime_id if installed is not None else None,
            preset=preset.id,
        )
        case = of_preset(
            preset,
            recipe,
            paths=self._paths,
            ground=ground,
            around=around,
            overrides=overrides,
            gpus=gpus,
        )
        return case, around

    def _folder_case(
        self,
        request: PlanRequest,
        ground: Ground,
        known: Calibration,
        gpus: tuple[int, ...] | None,
    ) -> tuple[Case, Surroundings]:
        name = request.engine or (_DEFAULT_ENGINE if ground.host.gpus else _CPU_ENGINE)
        recipe = self._recipe_or_none(name)
        if recipe is None:
            _require_engine(name)
        around = Surroundings(
            tables=self.tables(),
            calibration=known,
            memory_bytes=ground.host.available_memory_bytes,
            is_wsl=ground.host.is_wsl,
        )
        case = of_folder(
            Path(wsl.meant(request.model or "")),
            Path(wsl.meant(request.drafter)) if request.drafter is not None else None,
            engine_name=name,
            recipe=recipe,
            known=self.document("runtimes/arguments.toml", Arguments),
            ground=ground,
            around=around,
            overrides=request.overrides,
            gpus=gpus,
        )
        return case, around

    def _recipe_or_none(self, name: str) -> RuntimeRecipe | None:
        try:
            return self._catalog.recipe(name)
        except NotFound:  # a stock engine is no runtime
            return None

    # -- what it comes to ------------------------------------------------------------------

    def judged(self, request: PlanRequest, case: Case, around: Surroundings) -> Plan:
        """Return the plan of a case: worked out, and if need be with what must give."""
        outcome = work_out(case.subject, case.attempt(case.overrides))
        ladder = self.document("presets/planner/reductions.toml", Ladder)

        def evaluate(texts: Mapping[str, str]) -> Outcome | None:
            try:
                return work_out(case.subject, case.attempt(texts))
            except BadInput:  # the preset has no such knob, or refuses the value
                return None

        given_up = must_give(outcome, evaluate, case.overrides, ladder.steps)
        return plan(self._about(request, case, around), outcome, given_up)

    def _about(self, request: PlanRequest, case: Case, around: Surroundings) -> About:
        ground, host = case.subject.ground, case.subject.ground.host
        runtime = case.recipe.name if case.recipe is not None else None
        cards = calibration.names_of(case.cards)
        seen = calibration.boot_times(
            around.calibration, runtime_id=around.runtime_id, preset=around.preset, cards=cards
        )
        times = boots.forecast(
            seen,
            self.document("presets/planner/boots.toml", Boots).rows,
            runtime=runtime,
            profiles=case.profiles,
            is_wsl=host.is_wsl,
        )
        rungs = self.document("presets/planner/headroom.toml", Rungs).rungs
        return About(
            preset=case.preset.id if case.preset is not None else None,
            title=case.preset.title if case.preset is not None else None,
            model=case.model,
            drafter=case.drafter,
            runtime=runtime,
            engine=case.subject.engine.name,
            host=in_words(host),
            is_replay=ground.is_replay,
            cards=tuple(planned(card, ground) for card in case.cards),
            download_bytes=self._download_bytes(case),
            download_bytes_per_s=request.download_bytes_per_s
            or around.calibration.download_bytes_per_s,
            disk_bytes=case.subject.demands.disk_bytes,
            boot_cold_s=times.cold_s,
            boot_warm_s=times.warm_s,
            boot_source=times.source,
            rungs=headroom.ladder(rungs, case.profiles, is_wsl=host.is_wsl),
        )

    def _files(self, preset: Preset | None) -> PresetStanding | None:
        """Return what the models still need, or None when that is nothing."""
        found = of_all(self._paths, preset.id, preset.models) if preset is not None else None
        return None if found is None or found.is_usable else found

    def _download_bytes(self, case: Case) -> int | None:
        if case.preset is None or case.recipe is None:
            return None
        models = sum(library.download_bytes(one, self._paths) for one in case.preset.models)
        return models + install.download_bytes(case.recipe, self._paths)

    # -- a start ---------------------------------------------------------------------------

    async def require(
        self,
        preset: Preset,
        recipe: RuntimeRecipe,
        host: HostSnapshot,
        *,
        overrides: Mapping[str, str],
        gpus: tuple[int, ...] | None,
        allow_spill: bool,
    ) -> Plan:
        """Return the plan of a start; refuses one that does not fit.

        Raises: HostLacks (`plan-does-not-fit`, `plan-spills`), with what must give as the hint.
        """
        request = PlanRequest(
            preset=preset.id, overrides=dict(overrides), gpus=gpus, allow_spill=allow_spill
        )

        def work(now: HostSnapshot) -> Plan:
            known = self.seen.known()
            ground = self._ground(now, allow_spill=allow_spill, is_replay=False)
            case, around = self.case_of(preset, recipe, ground, known, overrides, gpus)
            return self.judged(request, case, around)

        found = await asyncio.to_thread(work, host)
        for _ in range(_RELEASE_LOOKS):
            if not _is_refused(found) or not found.cards:
                break
            # Cards give memory back late: an engine that has just ended may still be seen there.
            await asyncio.sleep(_RELEASE_LOOK_S)
            later = await self._machine.look()
            if not has_more_room(later, host):
                break
            host, found = later, await asyncio.to_thread(work, later)
        if _is_refused(found):
            raise refusal(found)
        if allow_spill:
            logger.warning("%s is started with spilling allowed, for this run", preset.id)
        for warning in (*found.reasons, *found.warnings):
            logger.info("plan of %s: %s", preset.id, warning)
        return found

    def tables(self) -> Tables:
        """Return the data that forecasts are made with."""
        return Tables(
            processor=self.document("presets/planner/processor.toml", Processor),
            memory=self.document("presets/planner/memory.toml", MemoryTable),
        )

    def document(self, name: str, kind: type[T]) -> T:
        """Return a document of the catalogue; one that has none of its own uses the bundled one."""
        own = self._paths.catalogue / name
        path = own if own.is_file() else bundled_root() / name
        stamp = (path, path.stat().st_mtime_ns)
        kept = self._documents.get(name)
        if kept is None or kept[0] != stamp:
            kept = self._documents[name] = (stamp, read_toml(path, kind))
        found = kept[1]
        assert isinstance(found, kind)
        return found


def _is_refused(found: Plan) -> bool:
    """Tell whether a start is refused: only for what is certain."""
    return found.verdict in _REFUSED and not found.may_start


def engine_pids(leader: int | None) -> frozenset[int]:
    """Return the processes of our own engine, which ends before another one starts."""
    if leader is None:
        return frozenset()
    return frozenset(one.pid for one in processes.tree(leader, own_role="engine"))


def _require_engine(name: str) -> None:
    """Refuse what is neither a runtime nor a release of vLLM: its rules would be a guess."""
    if _STOCK_ENGINE.fullmatch(name):
        return
    number = re.search(r"\d+(\.\d+)+", name)
    raise BadInput(
        "engine-unknown",
        f"`{name}` is neither a runtime of the catalogue nor a release of vLLM.",
        hint=f"Did you mean `vllm-{number[0]}`?"
        if number
        else "Name a release, for example `vllm-0.31.0`, or a runtime of `weir runtime list`.",
    )
