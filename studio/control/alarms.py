"""The calls about alarms: what holds, and what is muted."""

import re
from urllib.parse import unquote

from studio.app.alarms import Alarms
from studio.control.calls import Query, Route, decoded
from studio.domain.alarms import MuteRequest


class AlarmRoutes:
    """Answers from the alarms of one service; without one from what is written down."""

    def __init__(self, alarms: Alarms) -> None:
        self._alarms = alarms

    def routes(self) -> list[Route]:
        """Return the calls."""
        return [
            ("GET", re.compile(r"/alarms"), self._list),
            ("POST", re.compile(r"/alarms/([^/]{1,256})/mute"), self._mute),
            ("POST", re.compile(r"/alarms/([^/]{1,256})/unmute"), self._unmute),
        ]

    async def _list(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return self._alarms.list()

    async def _mute(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return self._alarms.mute(unquote(parts[0]), decoded(body, MuteRequest))

    async def _unmute(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return self._alarms.unmute(unquote(parts[0]))
