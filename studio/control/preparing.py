"""The calls about getting models ready."""

import re
from urllib.parse import unquote

from studio.app.preparing import Preparing
from studio.control.calls import Query, Route, decoded, word
from studio.domain.preparing import PrepareRequest


class PreparingRoutes:
    """Answers for the models of one home's presets."""

    def __init__(self, preparing: Preparing) -> None:
        self._preparing = preparing

    def routes(self) -> list[Route]:
        """Return the calls."""
        return [
            ("GET", re.compile(r"/models/missing/([^/]{1,256})"), self._missing),
            ("POST", re.compile(r"/models/prepare"), self._prepare),
        ]

    async def _missing(self, query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        listed = word(query, "listed") == "1"
        return await self._preparing.missing(unquote(parts[0]), listed=listed)

    async def _prepare(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._preparing.prepare(decoded(body, PrepareRequest))
