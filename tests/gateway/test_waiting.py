"""Requests that come while an engine is on its way: they wait, are let go, and are bounded."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import pytest

from studio.domain.keys import KeyLimits
from studio.gateway import waiting
from studio.gateway.dialects import Refusal
from studio.gateway.engine import EngineTarget
from studio.gateway.keys import KeyStore
from studio.gateway.service import Gateway
from studio.gateway.waiting import Coming
from studio.host.http_client import Upstream
from studio.host.http_server import Exchange
from tests.fakes.waiting import until_async
from tests.gateway.engine_support import ENGINE_KEY, Engine, Setup

CHAT = "/v1/chat/completions"


class Arrival:
    """An engine on its way: what a test says of it."""

    def __init__(self) -> None:
        self.is_coming = True
        self.within_s = 30.0
        self.remaining_s: float | None = None
        self.ended = asyncio.Event()
        self.target: EngineTarget | None = None
        self.waits = 0

    async def wait(self) -> EngineTarget | None:
        """Wait for the end of the wait."""
        self.waits += 1
        try:
            await self.ended.wait()
        finally:
            self.waits -= 1
        return self.target

    def end(self, target: EngineTarget | None) -> None:
        """Let it arrive, or let it not."""
        self.target = target
        self.is_coming = False
        self.ended.set()


@pytest.fixture
def arrival() -> Arrival:
    """Return an engine on its way."""
    return Arrival()


@pytest.fixture
async def early(keys: KeyStore, arrival: Arrival, tmp_path: Path) -> AsyncIterator[Setup]:
    """Return a gateway whose engine is on its way."""
    engine = Engine(tmp_path / "engine.sock")
    await engine.open()
    target = EngineTarget(
        upstream=Upstream(socket_path=engine.socket), key=ENGINE_KEY, served_name="smollm2"
    )
    made = Setup(keys=keys, engine=engine, target=None, key=(await keys.create("test")).key)
    made.gateway = Gateway(
        keys,
        upstream=lambda: made.target,
        coming=Coming(
            wait=arrival.wait,
            within_s=lambda: arrival.within_s,
            remaining_s=lambda: arrival.remaining_s,
            is_coming=lambda: arrival.is_coming,
        ),
        on_record=made.records.append,
    )
    await made.gateway.open()
    arrival.target = target
    yield made
    async with asyncio.timeout(30):
        await made.gateway.close()
        target.upstream.close()
        await engine.close()


async def waits(early: Setup, count: int) -> None:
    """Wait until so many requests wait."""
    await until_async(lambda: early.gateway.info().waiting == count, f"{count} that wait")


async def test_a_request_waits_for_the_engine_and_is_answered(
    early: Setup, arrival: Arrival
) -> None:
    """The ten seconds of a restart are a pause in the chat, and no error."""
    async with asyncio.TaskGroup() as tasks:
        asking = [tasks.create_task(early.post(CHAT)) for _ in range(3)]
        listing = tasks.create_task(_models(early))
        await waits(early, 4)
        assert early.gateway.info().in_flight == 0
        assert early.engine.received == []

        early.target = arrival.target
        arrival.end(arrival.target)

    assert [one.result().status_code for one in asking] == [200] * 3
    assert listing.result().status_code == 200
    assert early.gateway.info().waiting == 0


@pytest.mark.parametrize("path", [CHAT, "/v1/messages", "/v1/responses"])
async def test_patience_has_an_end_and_says_when_to_come_again(
    early: Setup, arrival: Arrival, path: str
) -> None:
    """In the dialect's own shape, with the time that the boot still needs."""
    arrival.within_s, arrival.remaining_s = 0.05, 41.2

    answer = await early.post(path)

    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "42"
    assert answer.headers["x-weir-error"] == "engine-not-ready"
    assert answer.json()["error"]
    assert arrival.waits == 0


@pytest.mark.parametrize(
    ("remaining_s", "shown"), [(None, "5"), (0.0, "1"), (0.2, "1"), (600.0, "60")]
)
async def test_no_client_is_told_to_come_at_once_or_never(
    early: Setup, arrival: Arrival, remaining_s: float | None, shown: str
) -> None:
    """0 would be a storm, and the official clients ignore more than a minute."""
    arrival.within_s, arrival.remaining_s = 0.0, remaining_s

    assert (await early.post(CHAT)).headers["retry-after"] == shown


async def test_whoever_waits_for_nothing_is_let_go_at_once(early: Setup, arrival: Arrival) -> None:
    """A boot that fails, or a Stop: 503 now and not after a minute."""
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(early.post(CHAT))
        await waits(early, 1)
        arrival.end(None)

    assert asking.result().status_code == 503
    assert (await early.post(CHAT)).status_code == 503


@pytest.mark.parametrize("size", [10, 2_000_000])
async def test_a_client_that_leaves_is_not_waited_with(
    early: Setup, arrival: Arrival, size: int
) -> None:
    """Its request must not go to the engine a minute later, whatever its size."""
    body = json.dumps({"messages": [], "x": "y" * size}).encode()
    head = (
        f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {early.key}\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    _reader, writer = await asyncio.open_connection("127.0.0.1", early.port)
    writer.write(head.encode() + body)
    await writer.drain()
    await waits(early, 1)

    writer.close()

    await waits(early, 0)
    arrival.end(arrival.target)
    await until_async(lambda: bool(early.records), "the record")
    assert early.records[0].status == 499
    assert early.engine.received == []


async def test_only_so_many_may_wait(
    early: Setup, arrival: Arrival, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each holds its body, and an agent that retries in a loop would fill the memory."""
    monkeypatch.setattr(waiting, "MOST_WAITING", 2)
    async with asyncio.TaskGroup() as tasks:
        for _ in range(2):
            tasks.create_task(early.post(CHAT))
        await waits(early, 2)

        assert (await early.post(CHAT)).status_code == 503

        arrival.end(None)


async def test_a_stranger_does_not_wait(early: Setup) -> None:
    """A key is checked first."""
    answer = await early.post(CHAT, authorization="Bearer weir-nobody")

    assert answer.status_code == 401


async def test_a_key_s_limit_counts_those_that_wait(early: Setup, arrival: Arrival) -> None:
    """Otherwise all of them would go to the engine at once."""
    narrow = (await early.keys.create("narrow", KeyLimits(max_concurrent=1))).key
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(early.post(CHAT, authorization=f"Bearer {narrow}"))
        await waits(early, 1)

        second = await early.post(CHAT, authorization=f"Bearer {narrow}")

        arrival.end(None)
    assert second.status_code == 429


async def test_an_end_of_the_gateway_lets_go_of_those_who_wait(early: Setup) -> None:
    """`weir down` in the middle of a boot."""
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(_refused(early))
        await waits(early, 1)

        await early.gateway.close()

        assert await asking
    assert early.gateway.info().waiting == 0


DEAD = b"EngineCore encountered an issue. See stack trace (above) for the root cause."
DEATHS = ["500", "503", "cut-off", "half"]


def dying(how: str) -> Callable[[Exchange], Awaitable[None]]:
    """Return what an engine does that dies on a request."""

    async def die(exchange: Exchange) -> None:
        kind = (b"content-type", b"application/json")
        if how.isdigit():
            exchange.respond(int(how), [kind], b'{"error":{"message":"' + DEAD + b'"}}')
            return
        if how == "half":
            exchange.start(200, [kind, (b"content-length", b"100")])
            exchange.write(b'{"id":')
        exchange.abort()

    return die


def another(early: Setup) -> EngineTarget:
    """Return the engine after a restart."""
    upstream = Upstream(socket_path=early.engine.socket)
    return EngineTarget(upstream=upstream, key=ENGINE_KEY, served_name="smollm2")


@pytest.mark.parametrize("how", DEATHS)
async def test_a_request_sent_in_the_moment_of_a_death_waits_for_the_next_engine(
    early: Setup, arrival: Arrival, how: str
) -> None:
    """The engine is dead, and its server does not know yet or says so in words for nobody."""
    early.target, early.engine.act = arrival.target, dying(how)
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(early.post(CHAT))
        await waits(early, 1)
        assert early.gateway.info().in_flight == 0
        early.target, early.engine.act = None, None  # the supervisor notices
        early.target = another(early)
        arrival.end(early.target)

    assert asking.result().status_code == 200
    assert len(early.engine.received) == 2
    (record,) = early.records
    assert (record.status, record.code) == (200, None)


@pytest.mark.parametrize("how", DEATHS)
async def test_a_request_that_no_engine_survives_is_sent_twice_at_most(
    early: Setup, arrival: Arrival, how: str
) -> None:
    """It may be what the engine dies of, and three deaths are the end."""
    early.target, early.engine.act = arrival.target, dying(how)
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(early.post(CHAT))
        await waits(early, 1)
        early.target = another(early)

    answer = asking.result()
    assert (answer.status_code, answer.headers["x-weir-error"]) == (502, "engine-cut-off")
    assert DEAD not in answer.content
    assert len(early.engine.received) == 2
    assert early.records[0].code == "engine-cut-off"


@pytest.mark.parametrize("how", DEATHS)
@pytest.mark.parametrize("why", ["none-comes", "not-noticed", "no-patience"])
async def test_a_death_that_nothing_follows_is_said_in_our_words(
    early: Setup, arrival: Arrival, monkeypatch: pytest.MonkeyPatch, how: str, why: str
) -> None:
    """The engine's own text speaks of a stack trace that no client has."""
    monkeypatch.setattr(waiting, "_NOTICED_WITHIN_S", 0.2)
    arrival.is_coming = why != "none-comes"
    arrival.within_s = 0.0 if why == "no-patience" else 30.0
    early.target, early.engine.act = arrival.target, dying(how)

    answer = await early.post("/v1/messages")

    assert (answer.status_code, answer.headers["x-weir-error"]) == (502, "engine-cut-off")
    assert DEAD not in answer.content
    assert answer.json()["type"] == "error"
    assert len(early.engine.received) == 1
    assert early.keys.list()[0].errors == 1


async def test_a_client_that_leaves_after_a_death_is_not_asked_for_again(
    early: Setup, arrival: Arrival
) -> None:
    """Tokens for nobody."""
    early.target, early.engine.act = arrival.target, dying("500")
    task = asyncio.ensure_future(early.post(CHAT))
    await waits(early, 1)
    early.target = None

    task.cancel()

    await waits(early, 0)
    await until_async(lambda: bool(early.records), "the record")
    assert early.records[0].status == 499
    assert len(early.engine.received) == 1


async def test_a_key_that_is_revoked_after_a_death_waits_no_more(
    early: Setup, arrival: Arrival
) -> None:
    """Its request is answered, and must not go to the next engine."""
    early.target, early.engine.act = arrival.target, dying("500")
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(early.post(CHAT))
        await waits(early, 1)

        key = early.keys.verify(early.key.encode())
        assert key is not None
        for one in list(key.running):
            one.cut(Refusal(401, "key-revoked", "The key was revoked."))

        assert (await asking).status_code == 401
    early.target = another(early)
    await waits(early, 0)
    assert len(early.engine.received) == 1


async def _models(early: Setup) -> httpx.Response:
    async with early.client() as client:
        return await client.get("/v1/models")


async def _refused(early: Setup) -> bool:
    try:
        return (await early.post(CHAT)).status_code >= 500
    except httpx.TransportError:
        return True
