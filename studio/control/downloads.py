"""The calls about downloads and hubs' tokens."""

import re
from urllib.parse import unquote

from studio.app.downloads import Downloads
from studio.control.calls import Query, Route, decoded, word
from studio.domain.downloads import DownloadDeed, GetRequest, HubName, LimitRequest, LoginRequest
from studio.domain.errors import BadInput


class DownloadRoutes:
    """Answers for one queue."""

    def __init__(self, downloads: Downloads) -> None:
        self._downloads = downloads

    def routes(self) -> list[Route]:
        """Return the calls."""
        deeds = "|".join(DownloadDeed)
        return [
            ("POST", re.compile(r"/models/get"), self._get),
            ("GET", re.compile(r"/downloads"), self._list),
            ("POST", re.compile(r"/downloads/limit"), self._limit),
            ("POST", re.compile(rf"/downloads/([^/]{{1,256}})/({deeds})"), self._change),
            ("GET", re.compile(r"/hubs/login"), self._login_state),
            ("POST", re.compile(r"/hubs/login"), self._login),
        ]

    async def _get(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._downloads.get(decoded(body, GetRequest))

    async def _list(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._downloads.list()

    async def _limit(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._downloads.limit(decoded(body, LimitRequest))

    async def _change(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._downloads.change(unquote(parts[0]), DownloadDeed(parts[1]))

    async def _login_state(self, query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        text = word(query, "hub") or HubName.HUGGING_FACE
        if text not in list(HubName):
            raise BadInput("request-invalid", f"There is no hub `{text}`.")
        return await self._downloads.login_state(HubName(text))

    async def _login(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._downloads.login(decoded(body, LoginRequest))
