"""The calls that rename, remove and update presets of the person's own."""

import re
from urllib.parse import unquote

from studio.app.presets import Presets
from studio.control.calls import Query, Route, decoded
from studio.domain.presets import RetitleRequest, UpdateRequest


class PresetChanges:
    """Answers for the presets of one home."""

    def __init__(self, presets: Presets) -> None:
        self._presets = presets

    def routes(self) -> list[Route]:
        """Return the calls."""
        return [
            ("POST", re.compile(r"/presets/([^/]{1,256})/title"), self._retitle),
            ("POST", re.compile(r"/presets/([^/]{1,256})/remove"), self._remove),
            ("POST", re.compile(r"/presets/([^/]{1,256})/update"), self._update),
        ]

    async def _retitle(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return await self._presets.retitle(unquote(parts[0]), decoded(body, RetitleRequest))

    async def _remove(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._presets.remove(unquote(parts[0]))

    async def _update(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return await self._presets.update(unquote(parts[0]), decoded(body, UpdateRequest))
