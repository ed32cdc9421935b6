"""What the service answers about runtimes and does with them: one method for each call.

The disk is read in threads, so that a slow one stalls nobody's answer. What takes long reports its
progress and returns when it is done; the locks of the installer keep two from meeting.
"""

import asyncio
import functools
from collections.abc import Awaitable, Callable

from studio.app.consent import ask
from studio.app.installs import Installs
from studio.domain.control import RuntimeVersions
from studio.domain.errors import HostLacks, NotFound
from studio.domain.hardware import HostSnapshot
from studio.domain.integrity import Collected, Repaired, Verdict
from studio.domain.manifests import InstalledRuntime, RuntimeRecipe
from studio.domain.runtimes import (
    FetchedSeries,
    InstallRequest,
    InstallStopped,
    PinRequest,
    RollbackRequest,
    RuntimeDetail,
    RuntimeList,
    RuntimeWork,
)
from studio.host.meter import Report
from studio.host.network import in_force
from studio.host.paths import Paths
from studio.runtimes import describe, install, moved, pin, repair, series, verdict, verify, versions
from studio.runtimes import folder as folders
from studio.runtimes.catalog import Catalog


class Runtimes:
    """The runtimes of one home."""

    def __init__(
        self,
        paths: Paths,
        catalog: Catalog,
        host: Callable[[], Awaitable[HostSnapshot]],
        report: Report,
        installs: Installs | None = None,
    ) -> None:
        """`installs` is shared with whoever else installs in this service."""
        self._installs = installs if installs is not None else Installs(paths)
        self._paths = paths
        self._catalog = catalog
        self._host = host
        self._report = report

    async def all(self) -> RuntimeList:
        """Return every runtime of the catalogue with its verdict for this host.

        One whose recipe cannot be read is in the list as damaged.
        Raises: Damaged (`document-damaged`).
        """
        return await asyncio.to_thread(self._all, await self._host())

    def _all(self, host: HostSnapshot) -> RuntimeList:
        recipes = self._catalog.recipes()
        found = [describe.info(recipe, self._paths, host) for recipe in recipes]
        found += [describe.unreadable(name, error) for name, error in self._catalog.unreadable()]
        return RuntimeList(runtimes=tuple(sorted(found, key=lambda one: one.name)))

    async def one(self, name: str) -> RuntimeDetail:
        """Return everything about one runtime.

        Raises: NotFound (`runtime-unknown`), and what `all` raises.
        """
        return await asyncio.to_thread(self._one, name, await self._host())

    def _one(self, name: str, host: HostSnapshot) -> RuntimeDetail:
        recipe = self._catalog.recipe(name)
        return describe.detail(recipe, self._catalog.pinned(name), self._paths, host)

    async def pin(self, name: str, request: PinRequest) -> RuntimeDetail:
        """Keep what the person supplied, and return the runtime as it now is.

        Raises: NotFound (`runtime-unknown`), and what `studio.runtimes.pin` raises.
        """
        published = await asyncio.to_thread(self._catalog.published, name)
        policy = await asyncio.to_thread(in_force, self._paths)
        full = await pin.resolved(self._paths, published, request, policy)
        await asyncio.to_thread(pin.record, self._paths, published, full)
        return await self.one(name)

    async def series(self, name: str) -> FetchedSeries:
        """Fetch, check and return the patch series that a runtime takes from other projects.

        Raises: NotFound (`runtime-unknown`), and what `studio.runtimes.series.fetched` raises.
        """
        return await series.fetched(self._catalog.recipe(name), self._paths, None)

    async def install(self, name: str, request: InstallRequest) -> RuntimeDetail:
        """Install a runtime; one that is installed stays as it is, whatever its recipe says by now.

        Raises: NotFound (`runtime-unknown`), HostLacks (`runtime-not-pinned`, `hash-unverified`,
        `runtime-does-not-fit`), NeedsConsent (`large-download`), Busy (`install-running`,
        `install-stopped`), and what the installer raises.
        """
        recipe = self._catalog.recipe(name)
        if await asyncio.to_thread(folders.in_use, self._paths, name) is None:
            pin.require_installable(recipe)
            _require_fit(recipe, await self._host())
            size = await asyncio.to_thread(install.download_bytes, recipe, self._paths)
            ask(recipe.title, size, recipe.needs.disk_bytes, consent=request.consent)
            await self._installs.run(
                name,
                recipe.title,
                self._report,
                lambda report: install.install(recipe, self._paths, report),
            )
        return await self.one(name)

    async def stop(self, name: str) -> InstallStopped:
        """Stop what is being done to a runtime, whoever asked for it; returns when it has ended.

        What is in use stays in use, what was fetched or restored is kept.

        Raises: NotFound (`runtime-unknown`).
        """
        return await self._installs.stop(self._catalog.recipe(name).name)

    async def verify(self, name: str, *, full: bool) -> Verdict:
        """Compare what is installed with the list of its files.

        Raises: NotFound (`runtime-unknown`, `runtime-not-installed`), HostLacks (`not-readable`),
        with `full` Busy (`verify-stopped`).
        """
        recipe = self._catalog.recipe(name)
        runtime = await asyncio.to_thread(self._installed, recipe)

        async def compared(report: Report) -> Verdict:
            await moved.settle(self._paths, runtime, report)
            return await verify.verify(self._paths, runtime, full=full, report=report)

        if not full:
            return await compared(self._report)
        return await self._installs.run(
            recipe.name, recipe.title, self._report, compared, RuntimeWork.VERIFY
        )

    def _installed(self, recipe: RuntimeRecipe) -> InstalledRuntime:
        found = folders.current(self._paths, recipe.name)
        if found is None:
            raise NotFound(
                "runtime-not-installed",
                f"{recipe.title} is not installed.",
                hint=f"`weir runtime install {recipe.name}` does that.",
            )
        return found

    async def repair(self, name: str) -> Repaired:
        """Restore what differs; fetches only that.

        Raises: NotFound (`runtime-unknown`), Busy (`install-running`, `repair-stopped`), and what
        `studio.runtimes.repair.repair` raises.
        """
        recipe = self._catalog.recipe(name)
        return await self._installs.run(
            recipe.name,
            recipe.title,
            self._report,
            lambda report: repair.repair(recipe, self._paths, report),
            RuntimeWork.REPAIR,
        )

    async def kept(self, name: str) -> RuntimeVersions:
        """Return the installations of a runtime that are kept, the one in use named.

        Raises: NotFound (`runtime-unknown`).
        """
        return await asyncio.to_thread(self._kept, self._catalog.recipe(name).name)

    def _kept(self, name: str) -> RuntimeVersions:
        now = folders.current(self._paths, name)
        return RuntimeVersions(
            name=name,
            current=now.runtime_id if now is not None else None,
            kept=tuple(versions.kept(self._paths, name)),
        )

    async def rollback(self, name: str, request: RollbackRequest) -> RuntimeVersions:
        """Use the installation before the present one, or take the last such step back.

        Raises: NotFound (`runtime-unknown`, `nothing-to-roll-back`, `nothing-to-go-forward-to`),
        Busy (`install-running`).
        """
        recipe = self._catalog.recipe(name)
        step = versions.forward if request.forward else versions.rollback
        await asyncio.to_thread(step, self._paths, recipe.name)
        return await self.kept(name)

    async def collect(self, *, dry_run: bool) -> Collected:
        """Remove what nothing uses, or only say what that would be.

        Raises: Busy (`install-running`).
        """
        return await asyncio.to_thread(
            functools.partial(versions.collect, self._paths, dry_run=dry_run)
        )


def _require_fit(recipe: RuntimeRecipe, host: HostSnapshot) -> None:
    reasons = verdict.reasons_against(recipe, host)
    if reasons:
        raise HostLacks(
            "runtime-does-not-fit",
            f"{recipe.title} does not work on this machine: {' '.join(reasons)}",
            hint="`weir runtime list` shows which ones do.",
        )
