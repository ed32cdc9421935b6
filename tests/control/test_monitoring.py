"""The calls about history, pool, speed and scraping, over HTTP and with a real Studio behind."""

import contextlib
import json
import time
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from studio.domain.metrics import Tick
from studio.domain.scrape import ScrapeAction, ScrapeRequest
from tests.control.talk import TOKEN, Talk, serving, talking

ON = ScrapeRequest(action=ScrapeAction.ON)


class _Closing:
    """A client that is closed with its block."""

    def __init__(self, talk: Talk) -> None:
        self.client = talk.client()

    async def aclose(self) -> None:
        """Close it."""
        await self.client.close()


async def test_series_rows_and_state_are_answered(tmp_path: Path) -> None:
    """What a chart, an export and a page about it ask."""
    async with talking(tmp_path) as talk:
        now = time.time()
        for second in range(30):
            talk.studio.insight.hear_tick(Tick(at=now - 40 + second, pool_used_tokens=second))
        async with talk.http() as http:
            answer = (await http.get(f"{talk.url}/history/series?series=pool&points=5")).json()
            assert answer["series"][0]["name"] == "pool_used_tokens"
            assert 1 <= len(answer["series"][0]["points"]) <= 5
            page = (await http.get(f"{talk.url}/history/rows?series=pool&step=1")).json()
            assert len(page["rows"]) >= 29
            assert (await http.get(f"{talk.url}/history/state")).json()["series"] >= 1


@pytest.mark.parametrize(
    "path",
    [
        "/history/series?since=yesterday",
        "/history/series?since=-5",
        "/history/series?since=nan",
        "/history/series?since=9&until=5",
        "/history/series?points=many",
        "/history/series?series=xyzzy,pool",
        "/history/rows?step=-1",
        "/history/rows?since=99999999999999",
    ],
)
async def test_what_makes_no_sense_is_refused(tmp_path: Path, path: str) -> None:
    """With a code, and never with a traceback."""
    async with talking(tmp_path) as talk:
        talk.studio.insight.hear_tick(Tick(at=time.time() - 5, pool_used_tokens=1))
        talk.studio.insight.hear_tick(Tick(at=time.time() - 4, pool_used_tokens=1))
        async with talk.http() as http:
            answer = await http.get(f"{talk.url}{path}")

    assert answer.status_code == 400
    assert answer.json()["code"] in ("request-invalid", "history-span", "series-unknown")


async def test_prometheus_reads_with_its_own_token_only(tmp_path: Path) -> None:
    """The control token does not open it, and its token opens nothing else."""
    async with talking(tmp_path) as talk:
        place = f"http://127.0.0.1:{talk.server.port}/metrics"
        async with contextlib.aclosing(_Closing(talk)) as closing, talk.http() as http:
            client = closing.client
            assert (await http.get(place)).status_code == 404
            info = await client.change_scrape(ON)
            assert info.url == place
            token = (await client.scrape_token()).token
            own = {"Authorization": f"Bearer {token}"}

            answer = await http.get(place, headers=own)
            assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
            names = {one.name for one in text_string_to_metric_families(answer.text)}
            assert {"weir_build_info", "weir_engine_up", "weir_gateway_requests"} <= names

            wrong = await http.get(place)
            assert (wrong.status_code, wrong.json()["code"]) == (401, "token-wrong")
            assert (await http.get(f"{talk.url}/status", headers=own)).status_code == 401
            assert (await http.post(place, headers=own)).status_code == 405
            await client.change_scrape(ScrapeRequest(action=ScrapeAction.OFF))
            assert (await http.get(place, headers=own)).status_code == 404


@pytest.mark.parametrize("header", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
async def test_pages_of_others_cannot_read_it(tmp_path: Path, header: dict[str, str]) -> None:
    """The same rules for Host and Origin as everywhere on the control port."""
    async with talking(tmp_path) as talk:
        await talk.studio.insight.scrape.change(ON)
        token = (await talk.studio.insight.scrape.token()).token
        async with talk.http() as http:
            headers = {"Authorization": f"Bearer {token}", **header}
            answer = await http.get(f"http://127.0.0.1:{talk.server.port}/metrics", headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (403, "origin-refused")


async def test_the_control_port_stays_where_a_scraper_looks(tmp_path: Path) -> None:
    """Over a new start of the service; where the port is taken, another one is used and said."""
    async with talking(tmp_path) as talk:
        await talk.studio.insight.scrape.change(ON)
        port = talk.server.port
        paths = talk.paths
        async with serving(paths) as second:
            assert second.server.port != port
            assert f"Port {port}" in str((await second.studio.insight.scrape.info()).note)
        await talk.server.close()
        async with serving(paths) as third:
            assert third.server.port == port


async def test_an_answer_is_json_for_pool_and_speed(tmp_path: Path) -> None:
    """Without an engine, too: then they say that nothing is known."""
    async with talking(tmp_path) as talk, talk.http() as http:
        pool = json.loads((await http.get(f"{talk.url}/pool")).content)
        speed = json.loads((await http.get(f"{talk.url}/speed")).content)

    assert pool["tokens"] is None
    assert speed["verdict"]["kind"] == "not-comparable"
    assert TOKEN not in json.dumps([pool, speed])
