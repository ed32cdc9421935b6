"""The calls about the Studio's own Linux inside Windows; answered on Windows, without a service."""

import re

from studio.app.wsl import WslSetup
from studio.control.calls import Query, Route, decoded
from studio.domain.wsl import WslConfigRequest, WslLanRequest, WslRemoveRequest, WslSetupRequest


class WslRoutes:
    """Answers for one Windows user."""

    def __init__(self, setup: WslSetup) -> None:
        self._setup = setup

    def routes(self) -> list[Route]:
        """Return the calls."""
        return [
            ("GET", re.compile(r"/wsl"), self._report),
            ("POST", re.compile(r"/wsl/setup"), self._take_step),
            ("POST", re.compile(r"/wsl/memory"), self._configure),
            ("POST", re.compile(r"/wsl/lan"), self._lan),
            ("POST", re.compile(r"/wsl/compact"), self._compact),
            ("POST", re.compile(r"/wsl/remove"), self._remove),
        ]

    async def _report(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._setup.report()

    async def _take_step(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._setup.setup(decoded(body, WslSetupRequest))

    async def _configure(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._setup.configure(decoded(body, WslConfigRequest))

    async def _lan(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._setup.lan(decoded(body, WslLanRequest))

    async def _compact(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._setup.compact()

    async def _remove(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._setup.remove(decoded(body, WslRemoveRequest))
