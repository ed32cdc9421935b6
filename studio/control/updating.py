"""The calls about updates of the Studio itself; they need no service and no home in order."""

import re

from studio.app.self_update import SelfUpdate
from studio.control.calls import Query, Route, decoded
from studio.domain.self_update import UpdateApplyRequest, UpdateCheckRequest


class UpdateRoutes:
    """Answers for one home and the program that runs."""

    def __init__(self, updates: SelfUpdate) -> None:
        self._updates = updates

    def routes(self) -> list[Route]:
        """Return the calls."""
        return [
            ("GET", re.compile(r"/update"), self._status),
            ("POST", re.compile(r"/update/check"), self._check),
            ("POST", re.compile(r"/update/get"), self._get),
            ("POST", re.compile(r"/update/apply"), self._apply),
            ("POST", re.compile(r"/update/rollback"), self._rollback),
        ]

    async def _status(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._updates.status()

    async def _check(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._updates.check(decoded(body, UpdateCheckRequest))

    async def _get(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._updates.get(decoded(body, UpdateCheckRequest))

    async def _apply(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._updates.apply(decoded(body, UpdateApplyRequest))

    async def _rollback(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._updates.rollback()
