"""The call about the disk that holds the Studio's folder."""

import re

from studio.app.disk import DiskUsage
from studio.control.calls import Query, Route


class DiskRoutes:
    """Answers for one home."""

    def __init__(self, disk: DiskUsage) -> None:
        self._disk = disk

    def routes(self) -> list[Route]:
        """Return the calls."""
        return [("GET", re.compile(r"/disk"), self._report)]

    async def _report(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._disk.report()
