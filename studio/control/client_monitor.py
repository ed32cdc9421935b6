"""The control API's calls about history, pool, speed and scraping."""

from collections.abc import Sequence

from studio.control.transport import Calls, query_text
from studio.domain.history import MOST_POINTS, HistoryAnswer, HistoryPage, HistoryState
from studio.domain.pool import PoolReport
from studio.domain.scrape import ScrapeInfo, ScrapeRequest, ScrapeToken
from studio.domain.speed import SpeedReport


class MonitorCalls(Calls):
    """What the monitor keeps over time."""

    async def series(
        self,
        wanted: Sequence[str] = (),
        *,
        since: float,
        until: float,
        points: int = MOST_POINTS,
    ) -> HistoryAnswer:
        """Return what is known of series over a span, in seconds since the epoch."""
        query = query_text(
            series=",".join(wanted) or None,
            since=f"{since:.3f}",
            until=f"{until:.3f}",
            points=str(points),
        )
        return await self.call("GET", f"/history/series{query}", HistoryAnswer)

    async def history_rows(
        self,
        wanted: Sequence[str] = (),
        *,
        since: float,
        until: float,
        step_s: float | None = None,
    ) -> HistoryPage:
        """Return a part of an export; `next_at` says where the next part begins."""
        query = query_text(
            series=",".join(wanted) or None,
            since=f"{since:.3f}",
            until=f"{until:.3f}",
            step=None if step_s is None else f"{step_s:.3f}",
        )
        return await self.call("GET", f"/history/rows{query}", HistoryPage)

    async def history_state(self) -> HistoryState:
        """Return how the history is kept."""
        return await self.call("GET", "/history/state", HistoryState)

    async def pool(self) -> PoolReport:
        """Return the pool in detail: who lies in it, and what more fits."""
        return await self.call("GET", "/pool", PoolReport)

    async def speed(self) -> SpeedReport:
        """Return how fast it is, and whether that is as it should be."""
        return await self.call("GET", "/speed", SpeedReport)

    async def scrape(self) -> ScrapeInfo:
        """Return how the endpoint for Prometheus stands."""
        return await self.call("GET", "/scrape", ScrapeInfo)

    async def change_scrape(self, request: ScrapeRequest) -> ScrapeInfo:
        """Open or close the endpoint for Prometheus, or give it a new token."""
        return await self.call("POST", "/scrape", ScrapeInfo, body=request)

    async def scrape_token(self) -> ScrapeToken:
        """Return the token of the endpoint for Prometheus."""
        return await self.call("GET", "/scrape/token", ScrapeToken)
