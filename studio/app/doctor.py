"""What `weir doctor` asks: the host's facts, the catalogue's needs, and the gateway's port."""

import asyncio
import os
from collections.abc import Callable, Sequence

from studio import __version__
from studio.app.machine import Machine
from studio.app.wiring import Parts
from studio.doctor import report
from studio.domain.control import GatewayInfo
from studio.domain.doctor import (
    EVERYTHING,
    Area,
    Check,
    DoctorReport,
    Level,
    PresetVerdict,
    RuntimeVerdict,
)
from studio.domain.errors import PortTaken, StudioError
from studio.domain.hardware import HostSnapshot
from studio.domain.hosts import HostEntry, HostFile
from studio.domain.manifests import Preset, RuntimeRecipe
from studio.domain.runtimes import RuntimeState
from studio.domain.secrets import StoreInfo, StoreKind
from studio.host import hosts, processes
from studio.host.http_ports import listen
from studio.host.paths import Paths
from studio.models import library
from studio.presets import choose
from studio.runtimes import describe, folder, pin, verdict

_ADDRESS = "127.0.0.1"


class Doctor:
    """Answers for this machine, or for one from a file."""

    def __init__(self, parts: Parts, machine: Machine, gateway: Callable[[], GatewayInfo]) -> None:
        self._paths = parts.paths
        self._machine = machine
        self._presets = parts.presets
        self._catalog = parts.catalog
        self._settings = parts.settings
        self._gateway = gateway
        self._secrets = parts.secrets

    async def report(self, host_id: str | None = None) -> DoctorReport:
        """Return every verdict on this machine, or on a host of the catalogue.

        Raises: NotFound (`host-unknown`), BadInput (`document-invalid`), Damaged
        (`document-damaged`).
        """
        replayed = self._machine.replayed
        if host_id is not None:
            replayed = await asyncio.to_thread(hosts.of_catalogue, host_id, self._paths)
        if replayed is not None:
            return await asyncio.to_thread(self._of, replayed.host, replayed, (), frozenset[int]())
        host, port, store = await asyncio.gather(
            self._machine.look(), self._port_check(), asyncio.to_thread(self._store_check)
        )
        ours = await asyncio.to_thread(processes.tree, os.getpid(), own_role="service")
        pids = frozenset(one.pid for one in ours)
        return await asyncio.to_thread(self._of, host, None, (port, store), pids)

    async def hosts(self) -> list[HostEntry]:
        """Return the hosts of the catalogue."""
        return await asyncio.to_thread(hosts.listed, self._paths)

    def _of(
        self,
        host: HostSnapshot,
        replayed: HostFile | None,
        more: Sequence[Check],
        own_pids: frozenset[int],
    ) -> DoctorReport:
        recipes, faults = self._recipes()
        installed = frozenset(
            recipe.name
            for recipe in recipes
            if replayed is None and folder.in_use(self._paths, recipe.name) is not None
        )
        presets, more_faults = self._preset_verdicts(recipes, host, is_here=replayed is None)
        found = report.checks(host, recipes, own_pids=own_pids, installed=installed)
        found = (*found, *faults, *more_faults, *more)
        return DoctorReport(
            version=__version__,
            replayed=replayed.id if replayed is not None else None,
            title=report.title(host),
            level=report.level(found, presets),
            checks=found,
            runtimes=tuple(
                _runtime(
                    recipe,
                    self._paths,
                    host,
                    is_installed=recipe.name in installed,
                    is_here=replayed is None,
                )
                for recipe in recipes
            ),
            presets=presets,
            host=host,
        )

    def _recipes(self) -> tuple[list[RuntimeRecipe], list[Check]]:
        """Return the recipes that can be read; each of the others becomes a check."""
        faults = [
            _unreadable("runtime-file", f"Runtime {name}", error, name)
            for name, error in self._catalog.unreadable()
        ]
        try:
            return self._catalog.recipes(), faults
        except StudioError as error:
            return [], [*faults, _unreadable("runtime-pins", "Runtimes", error, EVERYTHING)]

    def _preset_verdicts(
        self, recipes: Sequence[RuntimeRecipe], host: HostSnapshot, *, is_here: bool
    ) -> tuple[tuple[PresetVerdict, ...], list[Check]]:
        """Return the verdict on each preset; one that cannot be read becomes a check."""
        by_name = {recipe.name: recipe for recipe in recipes}
        found, faults = [], []
        for preset_id in self._presets.ids():
            try:
                preset = self._presets.get(preset_id)
            except StudioError as error:
                faults.append(
                    _unreadable("preset-file", f"The preset {preset_id}", error, preset_id)
                )
                continue
            recipe = by_name.get(preset.runtime)
            reasons = choose.reasons_against(preset, recipe, host)
            found.append(
                (
                    -preset.rank,
                    PresetVerdict(
                        id=preset.id,
                        title=preset.title,
                        usable=not reasons,
                        reasons=reasons,
                        is_ready=not reasons and self._is_ready(preset, recipe, is_here=is_here),
                    ),
                )
            )
        found.sort(key=lambda one: (one[0], one[1].id))
        return tuple(one for _, one in found), faults

    def _is_ready(self, preset: Preset, recipe: RuntimeRecipe | None, *, is_here: bool) -> bool:
        """Tell whether runtime and models are here, or can be fetched without another word."""
        if recipe is None:
            return False
        is_installed = is_here and folder.in_use(self._paths, recipe.name) is not None
        if not is_installed and pin.open_state(recipe) is not None:
            return False
        return all(
            spec.wheel is not None or (is_here and library.find(self._paths, spec) is not None)
            for spec in preset.models
        )

    def _store_check(self) -> Check:
        return _kept(self._secrets.info())

    async def _port_check(self) -> Check:
        title, port = "Port of the gateway", self._settings.now.port
        if self._gateway().port == port:
            return _port(Level.GOOD, title, f"The gateway listens on {port}.")
        try:
            (await listen(_ADDRESS, port)).close()
        except PortTaken as error:
            free = error.data.get("free_port")
            advice = f"Start with `weir up --port {free}`." if free else "Choose another port."
            return _port(Level.LOOK, title, error.message, advice)
        except StudioError as error:
            return _port(Level.LOOK, title, error.message, error.hint)
        return _port(Level.GOOD, title, f"Port {port} is free.")


def _kept(store: StoreInfo) -> Check:
    """Return where keys and tokens that have to be read again are kept; both places are good."""
    found = f"The {store.where} keeps them."
    if store.kind is StoreKind.FILE:
        found = (
            f"They are kept in files that only you can read, under {store.where}: no keyring can"
            f" be used ({store.reason})."
        )
    return Check(
        code="secret-store",
        area=Area.SERVICE,
        title="Keys that are kept",
        level=Level.GOOD,
        found=found,
    )


def _port(level: Level, title: str, found: str, advice: str | None = None) -> Check:
    return Check(
        code="gateway-port", area=Area.SERVICE, title=title, level=level, found=found, advice=advice
    )


def _runtime(
    recipe: RuntimeRecipe, paths: Paths, host: HostSnapshot, *, is_installed: bool, is_here: bool
) -> RuntimeVerdict:
    reasons = verdict.reasons_against(recipe, host, is_installed=is_installed)
    state = describe.info(recipe, paths, host).state
    waits = state in (RuntimeState.NOT_PINNED, RuntimeState.UNVERIFIED)
    return RuntimeVerdict(
        name=recipe.name,
        title=recipe.title,
        usable=not reasons,
        # What is installed here is not installed there; what waits for a pin waits everywhere.
        state=state if is_here or waits else None,
        reasons=reasons,
        warnings=verdict.warnings_about(recipe, host),
    )


def _unreadable(code: str, title: str, error: StudioError, what: str) -> Check:
    return Check(
        code=code,
        area=Area.SERVICE,
        title=title,
        level=Level.STOPS,
        found=error.message,
        advice=error.hint,
        stops=(what,),
    )
