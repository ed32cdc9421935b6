"""What the service answers about runtimes: the list, one of them, and what a person supplies."""

import asyncio
from collections.abc import Awaitable, Callable

from studio.domain.hardware import HostSnapshot
from studio.domain.runtimes import PinRequest, RuntimeDetail, RuntimeList
from studio.host.paths import Paths
from studio.runtimes import describe, pin
from studio.runtimes.catalog import Catalog


class Runtimes:
    """Reads the disk in threads, so that a slow disk stalls nobody's answer."""

    def __init__(
        self, paths: Paths, catalog: Catalog, host: Callable[[], Awaitable[HostSnapshot]]
    ) -> None:
        self._paths = paths
        self._catalog = catalog
        self._host = host

    async def all(self) -> RuntimeList:
        """Return every runtime of the catalogue with its verdict for this host.

        Raises: BadInput (`document-invalid`), Damaged (`document-damaged`).
        """
        return await asyncio.to_thread(self._all, await self._host())

    def _all(self, host: HostSnapshot) -> RuntimeList:
        recipes = self._catalog.recipes()
        return RuntimeList(
            runtimes=tuple(describe.info(recipe, self._paths, host) for recipe in recipes)
        )

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

        Raises: NotFound (`runtime-unknown`), and what `studio.runtimes.pin.record` raises.
        """
        await asyncio.to_thread(self._pin, name, request)
        return await self.one(name)

    def _pin(self, name: str, request: PinRequest) -> None:
        pin.record(self._paths, self._catalog.published(name), request)
