"""Updates of runtimes: what is offered, and one that a person asked for. Nothing else updates."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from studio.app.consent import ask
from studio.app.installs import Installs
from studio.domain.errors import HostLacks, NotFound
from studio.domain.hardware import HostSnapshot
from studio.domain.runtimes import (
    InstallRequest,
    RuntimeUpdate,
    RuntimeUpdated,
    RuntimeUpdates,
    UpdateKind,
)
from studio.host.meter import Report
from studio.host.paths import Paths
from studio.presets.store import PresetStore
from studio.runtimes import folder as folders
from studio.runtimes import install, updates
from studio.runtimes.catalog import Catalog


class Updates:
    """The updates of one home."""

    def __init__(
        self,
        paths: Paths,
        catalog: Catalog,
        presets: PresetStore,
        host: Callable[[], Awaitable[HostSnapshot]],
        report: Report,
        installs: Installs | None = None,
    ) -> None:
        """`installs` is shared with whoever else installs in this service."""
        self._installs = installs if installs is not None else Installs(paths)
        self._paths = paths
        self._catalog = catalog
        self._presets = presets
        self._host = host
        self._report = report

    async def offered(self) -> RuntimeUpdates:
        """Return for each installed runtime what could take its place.

        Raises: BadInput (`document-invalid`, `lock-missing`), Damaged (`document-damaged`).
        """
        return await asyncio.to_thread(self._offered, await self._host())

    def _offered(self, host: HostSnapshot) -> RuntimeUpdates:
        used: dict[str, list[str]] = {}
        for preset in self._presets.all():
            used.setdefault(preset.runtime, []).append(preset.id)
        found = updates.offered(self._catalog.recipes(), self._paths, host)
        return RuntimeUpdates(
            updates=tuple(
                msgspec.structs.replace(one, presets=tuple(used.get(one.runtime, ())))
                for one in found
            )
        )

    async def update(self, name: str, request: InstallRequest) -> RuntimeUpdated:
        """Install what the recipe says now beside what is installed, try it, then use it.

        Raises: NotFound (`runtime-unknown`, `runtime-not-installed`), HostLacks
        (`runtime-does-not-fit`), NeedsConsent (`large-download`), Busy (`install-running`,
        `install-stopped`), and what the installer raises:
        Damaged (`canary-failed`) leaves the present one in use.
        """
        recipe = await asyncio.to_thread(self._catalog.recipe, name)
        before = await asyncio.to_thread(folders.current, self._paths, name)
        if before is None:
            raise NotFound(
                "runtime-not-installed",
                f"{recipe.title} is not installed, so there is nothing to update.",
                hint=f"`weir runtime install {recipe.name}` installs it.",
            )
        offers = await asyncio.to_thread(updates.offered, [recipe], self._paths, await self._host())
        for one in offers:
            if one.kind is UpdateKind.RECIPE:
                _require(one, request)
        after = await self._installs.run(
            name,
            recipe.title,
            self._report,
            lambda report: install.install(recipe, self._paths, report, is_update=True),
        )
        return RuntimeUpdated(runtime=recipe.name, before=before.runtime_id, after=after.runtime_id)


def _require(offer: RuntimeUpdate, request: InstallRequest) -> None:
    if not offer.usable:
        raise HostLacks(
            "runtime-does-not-fit",
            f"{offer.title} as it is now does not work on this machine: {' '.join(offer.reasons)}",
            hint="What is installed goes on as it is.",
        )
    ask(offer.title, offer.fetch_bytes or 0, offer.disk_bytes, consent=request.consent)
