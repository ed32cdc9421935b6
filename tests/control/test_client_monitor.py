"""What the client asks about the monitor, as it goes over the wire."""

import httpx
import msgspec
import pytest

from studio.control.client import ControlClient
from studio.domain.history import HistoryAnswer, HistoryPage, HistoryState
from studio.domain.pool import PoolReport, Room
from studio.domain.scrape import ScrapeAction, ScrapeInfo, ScrapeRequest, ScrapeToken
from studio.domain.speed import SpeedReport, SpeedVerdict

ANSWERS: dict[str, object] = {
    "/history/series": HistoryAnswer(since=1, until=2, step_s=1),
    "/history/rows": HistoryPage(step_s=60),
    "/history/state": HistoryState(file="f", most_bytes=1),
    "/pool": PoolReport(at=1, room=Room(sentence="x")),
    "/speed": SpeedReport(at=1, verdict=SpeedVerdict(sentence="x")),
    "/scrape": ScrapeInfo(),
    "/scrape/token": ScrapeToken(token="t"),
}


@pytest.fixture
def asked() -> list[str]:
    """What was asked."""
    return []


@pytest.fixture
def client(asked: list[str]) -> ControlClient:
    """A client of a service that notes what it is asked."""

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/control/v1")
        query = request.url.query.decode()
        asked.append(f"{request.method} {path}" + (f"?{query}" if query else ""))
        return httpx.Response(200, content=msgspec.json.encode(ANSWERS[path]))

    return ControlClient("http://x", "t", transport=httpx.MockTransport(answer))


async def test_each_call_is_the_documented_one(client: ControlClient, asked: list[str]) -> None:
    """Path, words and body."""
    await client.series(["pool", "tok/s"], since=1.5, until=2, points=9)
    await client.series(since=1, until=2)
    await client.history_rows(["*"], since=1, until=2, step_s=60)
    await client.history_state()
    await client.pool()
    await client.speed()
    await client.scrape()
    await client.change_scrape(ScrapeRequest(action=ScrapeAction.ON))
    await client.scrape_token()
    await client.close()

    assert asked == [
        "GET /history/series?series=pool%2Ctok%2Fs&since=1.500&until=2.000&points=9",
        "GET /history/series?since=1.000&until=2.000&points=2000",
        "GET /history/rows?series=%2A&since=1.000&until=2.000&step=60.000",
        "GET /history/state",
        "GET /pool",
        "GET /speed",
        "GET /scrape",
        "POST /scrape",
        "GET /scrape/token",
    ]
