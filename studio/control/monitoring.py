"""The calls about what the monitor makes of its ticks: history, pool, speed, scraping."""

import re
import time

from studio.app.insight import Insight
from studio.control.calls import Query, Route, decoded, number, plain_routes, word
from studio.domain.errors import BadInput
from studio.domain.history import MOST_POINTS
from studio.domain.scrape import ScrapeRequest

_SECONDS = re.compile(r"\d{1,11}(?:\.\d{1,9})?", re.ASCII)
_HOUR_S = 3_600.0


class Monitoring:
    """Answers from the insight of one home."""

    def __init__(self, insight: Insight) -> None:
        self._past = insight.past
        self._pool = insight.pool
        self._speed = insight.speed
        self._scrape = insight.scrape

    def routes(self) -> list[Route]:
        """Return the calls."""
        return plain_routes(
            [
                ("GET", "/history/series", self._series),
                ("GET", "/history/rows", self._rows),
                ("GET", "/history/state", self._state),
                ("GET", "/pool", self._pool_now),
                ("GET", "/speed", self._speed_now),
                ("GET", "/scrape", self._scrape_info),
                ("POST", "/scrape", self._change_scrape),
                ("GET", "/scrape/token", self._scrape_token),
            ]
        )

    async def _series(self, query: Query, _body: bytes) -> object:
        until = _moment(query, "until", time.time())
        return await self._past.series(
            _words(query),
            _moment(query, "since", until - _HOUR_S),
            until,
            number(query, "points", MOST_POINTS, most=MOST_POINTS) or MOST_POINTS,
        )

    async def _rows(self, query: Query, _body: bytes) -> object:
        until = _moment(query, "until", time.time())
        step = word(query, "step")
        step_s = None if step is None else _moment(query, "step", 0.0)
        return await self._past.rows(_words(query), _moment(query, "since", 0.0), until, step_s)

    async def _state(self, _query: Query, _body: bytes) -> object:
        return await self._past.state()

    async def _pool_now(self, _query: Query, _body: bytes) -> object:
        return await self._pool.report()

    async def _speed_now(self, _query: Query, _body: bytes) -> object:
        return await self._speed.report()

    async def _scrape_info(self, _query: Query, _body: bytes) -> object:
        return await self._scrape.info()

    async def _change_scrape(self, _query: Query, body: bytes) -> object:
        return await self._scrape.change(decoded(body, ScrapeRequest))

    async def _scrape_token(self, _query: Query, _body: bytes) -> object:
        return await self._scrape.token()


def _words(query: Query) -> list[str]:
    return [text for given in query.get("series", ()) for text in given.split(",") if text]


def _moment(query: Query, name: str, default: float) -> float:
    """Return seconds of a query. Raises: BadInput (`request-invalid`)."""
    text = word(query, name)
    if text is None:
        return default
    if _SECONDS.fullmatch(text) is None:
        raise BadInput("request-invalid", f"`{name}` should be seconds, found `{text}`.")
    return float(text)
