"""What the service answers about runtimes that travel as files: one method for each call."""

import asyncio
import functools
from collections.abc import Awaitable, Callable
from pathlib import Path

from studio.app.installs import Installs
from studio.domain.bundles import (
    Exported,
    ExportRequest,
    Imported,
    ImportRequest,
    SignerList,
    TrustRequest,
)
from studio.domain.errors import BadInput, NotFound
from studio.domain.hardware import HostSnapshot
from studio.domain.runtimes import RuntimeWork
from studio.host import wsl
from studio.host.meter import Report
from studio.host.paths import Paths
from studio.runtimes import bundle_export, bundle_import, signers
from studio.runtimes.catalog import Catalog


class Bundles:
    """Exports and imports of one home, and whose imports it accepts."""

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

    async def export(self, name: str, request: ExportRequest) -> Exported:
        """Write an installed runtime into one signed file.

        Raises: NotFound (`runtime-unknown`, `runtime-not-installed`), BadInput (`path-relative`),
        Busy (`install-running`, `export-stopped`), and what `studio.runtimes.bundle_export.export`
        raises; NotFound (`folder-missing`) also for a folder that is none.
        """
        host = await self._host()
        recipe = self._catalog.recipe(name)
        to = _absolute(request.to)
        if request.to.endswith("/") and not await asyncio.to_thread(to.is_dir):
            raise NotFound("folder-missing", f"There is no folder {to}.", hint="Make it first.")
        key = _absolute(request.key) if request.key is not None else None
        return await self._installs.run(
            recipe.name,
            recipe.title,
            self._report,
            lambda report: bundle_export.export(
                recipe, self._paths, report, to=to, key=key, glibc=host.glibc
            ),
            RuntimeWork.EXPORT,
        )

    async def install(self, request: ImportRequest) -> Imported:
        """Install a runtime out of one signed file.

        Raises: NotFound (`runtime-uncatalogued`), BadInput (`path-relative`), Busy
        (`install-running`, `install-stopped`), and what `studio.runtimes.bundle_import` raises.
        """
        path = _absolute(request.path)
        head = await bundle_import.read_head(path, self._paths, request.trust)
        bundle_import.require_fit(head, await self._host())
        record = head.index.record
        try:
            recipe = await asyncio.to_thread(self._catalog.recipe, record.name)
        except NotFound as error:
            raise NotFound(
                "runtime-uncatalogued",
                f"{path.name} holds {record.name}, which this version of the Studio does not know.",
                hint="Bring both machines to the same version of the Studio.",
            ) from error
        return await self._installs.run(
            record.name,
            head.index.recipe.title,
            self._report,
            lambda report: bundle_import.install(path, head, recipe, self._paths, report),
        )

    async def signers(self) -> SignerList:
        """Return everybody whose runtimes may be imported.

        Raises: what `studio.runtimes.signers.listed` raises.
        """
        return await asyncio.to_thread(signers.listed, self._paths)

    async def trust(self, request: TrustRequest) -> SignerList:
        """Trust a signer.

        Raises: what `studio.runtimes.signers.trust` raises.
        """
        work = functools.partial(signers.trust, self._paths, request.fingerprint, request.name)
        return await asyncio.to_thread(work)

    async def forget(self, reference: str) -> SignerList:
        """Trust a signer no more.

        Raises: what `studio.runtimes.signers.forget` raises.
        """
        return await asyncio.to_thread(signers.forget, self._paths, reference)


def _absolute(text: str) -> Path:
    """Return a path that means the same in every folder."""
    path = Path(wsl.meant(text))
    if not path.is_absolute() or "\0" in text:
        raise BadInput(
            "path-relative",
            f"`{text}` is no absolute path, and the service stands in another folder than you.",
            hint="Give the whole path.",
        )
    return path
