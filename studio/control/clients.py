"""The calls about chat clients: which there are, what would be written, writing, undoing."""

import re
from urllib.parse import unquote

from studio.app.clients import Clients
from studio.control.calls import Query, Route, decoded
from studio.domain.clients import ConnectRequest

_MODEL = "model"


class ClientRoutes:
    """Answers for the router."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def routes(self) -> list[Route]:
        """Return the calls."""
        client = r"/clients/([^/]{1,256})"
        return [
            ("GET", re.compile(r"/clients"), self._list),
            ("POST", re.compile(f"{client}/plan"), self._plan),
            ("POST", re.compile(f"{client}/connect"), self._connect),
            ("POST", re.compile(f"{client}/undo"), self._undo),
            ("POST", re.compile(r"/try"), self._grant),
        ]

    async def _list(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._clients.all()

    async def _plan(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return await self._clients.plan(unquote(parts[0]), decoded(body, ConnectRequest))

    async def _connect(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return await self._clients.connect(unquote(parts[0]), decoded(body, ConnectRequest))

    async def _undo(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._clients.undo(unquote(parts[0]))

    async def _grant(self, query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._clients.grant(next(iter(query.get(_MODEL, ())), None))
