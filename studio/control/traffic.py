"""The calls about what passes the gateway: caches, changes of requests, prompts of single keys."""

import re
from urllib.parse import unquote

from studio.app.traffic import Traffic
from studio.control.calls import Query, Route, decoded, number
from studio.domain.gateway import AdjustmentChange
from studio.domain.keys import PromptLogRequest

_ENTRIES = 20
_MOST_ENTRIES = 1_000


class TrafficRoutes:
    """Answers for the router."""

    def __init__(self, traffic: Traffic) -> None:
        self._cache = traffic.cache
        self._adjustments = traffic.adjustments
        self._prompts = traffic.prompts
        self._keys = traffic.keys

    def routes(self) -> list[Route]:
        """Return the calls."""
        key = r"/keys/([^/]{1,1024})/prompts"
        return [
            ("GET", re.compile(r"/cache"), self._report),
            ("POST", re.compile(r"/cache/clear"), self._clear_findings),
            ("GET", re.compile(r"/gateway/adjustments"), self._list),
            ("POST", re.compile(r"/gateway/adjustments"), self._change),
            ("GET", re.compile(key), self._entries),
            ("POST", re.compile(key), self._switch),
            ("GET", re.compile(f"{key}/state"), self._state),
            ("POST", re.compile(f"{key}/clear"), self._clear),
        ]

    async def _report(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        await self._keys.open()  # for their names
        return self._cache.report()

    async def _clear_findings(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        await self._keys.open()
        return await self._cache.clear()

    async def _list(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        await self._keys.open()
        return self._adjustments.all()

    async def _change(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        await self._keys.open()
        return self._adjustments.change(decoded(body, AdjustmentChange))

    async def _entries(self, query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        await self._keys.open()
        count = number(query, "lines", _ENTRIES, most=_MOST_ENTRIES) or 0
        return await self._prompts.entries(unquote(parts[0]), count)

    async def _switch(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        await self._keys.open()
        return await self._prompts.switch(unquote(parts[0]), decoded(body, PromptLogRequest))

    async def _state(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        await self._keys.open()
        return await self._prompts.state(unquote(parts[0]))

    async def _clear(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        await self._keys.open()
        return await self._prompts.clear(unquote(parts[0]))
