"""The calls about removing the Studio; answered without a service only, so that nothing is used."""

import asyncio
import re

from studio.app.uninstall import Uninstall
from studio.control.calls import Query, Route, decoded
from studio.domain.uninstall import UninstallRequest


class UninstallRoutes:
    """Answers for one home and the program that runs."""

    def __init__(self, uninstall: Uninstall) -> None:
        self._uninstall = uninstall

    def routes(self) -> list[Route]:
        """Return the calls."""
        return [
            ("GET", re.compile(r"/uninstall"), self._plan),
            ("POST", re.compile(r"/uninstall"), self._remove),
        ]

    async def _plan(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await asyncio.to_thread(self._uninstall.plan)

    async def _remove(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        request = decoded(body, UninstallRequest)
        return await asyncio.to_thread(self._uninstall.remove, request)
