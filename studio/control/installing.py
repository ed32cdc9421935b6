"""The calls about what is being done to a runtime."""

import re
from urllib.parse import unquote

from studio.app.runtimes import Runtimes
from studio.control.calls import Query, Route


class InstallRoutes:
    """Answers for one home's runtimes."""

    def __init__(self, runtimes: Runtimes) -> None:
        self._runtimes = runtimes

    def routes(self) -> list[Route]:
        """Return the calls."""
        return [("POST", re.compile(r"/runtimes/([^/]{1,256})/stop"), self._stop)]

    async def _stop(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._runtimes.stop(unquote(parts[0]))
