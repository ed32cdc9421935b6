"""The control API on its port: who may ask, what hostile callers get, and the event stream."""

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from studio.control.client import ControlClient
from studio.control.router import BODY_LIMIT_BYTES
from studio.domain.control import KeyRequest, UpRequest
from studio.domain.events import (
    EngineChanged,
    Event,
    GatewayChanged,
    KeysChanged,
    LogAppended,
    ServiceStopping,
    StageProgress,
    UpFinished,
)
from studio.domain.metrics import LogLine
from studio.domain.server import EngineState
from tests.control.talk import TOKEN, Talk, talking
from tests.fakes.waiting import until_async

LIMIT_S = 20
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def talk(tmp_path: Path) -> AsyncIterator[Talk]:
    """Return a server with a Studio behind it that serves nothing."""
    async with talking(tmp_path) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talk]:
    """Return one for all tests that change nothing."""
    async with talking(tmp_path_factory.mktemp("shared")) as made:
        yield made


async def first(client: ControlClient, kind: type[Event]) -> Event:
    """Return the first event of a kind, from a stream of its own."""
    async with asyncio.timeout(LIMIT_S), contextlib.aclosing(client.events()) as events:
        async for event in events:
            if isinstance(event, kind):
                return event
    raise AssertionError(f"the stream ended without {kind}")


# -- who may ask -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Authorization": ""}, 401, "token-wrong"),
        ({"Authorization": "Bearer"}, 401, "token-wrong"),
        ({"Authorization": f"Bearer {TOKEN[:-1]}"}, 401, "token-wrong"),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401, "token-wrong"),
        ({"Authorization": f"Basic {TOKEN}"}, 401, "token-wrong"),
        ({"Authorization": TOKEN}, 401, "token-wrong"),
        ({"Origin": "http://evil.example"}, 403, "origin-refused"),
        ({"Origin": "null"}, 403, "origin-refused"),
        ({"Origin": ""}, 403, "origin-refused"),
        ({"Origin": "http://127.0.0.1:18020"}, 403, "origin-refused"),
        ({"Host": "evil.example"}, 403, "origin-refused"),
        ({"Host": "127.0.0.1:80@evil.example"}, 403, "origin-refused"),
        ({"Host": "evil.example:80"}, 403, "origin-refused"),
        ({"Host": "127.0.0.1.evil.example:80"}, 403, "origin-refused"),
        ({"Host": ""}, 403, "origin-refused"),
        ({"Host": ":80"}, 403, "origin-refused"),
    ],
    ids=str,
)
async def test_a_stranger_gets_nothing(
    shared: Talk, headers: dict[str, str], status: int, code: str
) -> None:
    """A page in a browser reaches loopback, too; it must not start, stop or read anything."""
    async with shared.http(**headers) as http:
        for method, path in (
            ("GET", "/status"), ("GET", "/events"), ("POST", "/down"), ("POST", "/keep"),
            ("POST", "/keys"), ("OPTIONS", "/status"), ("GET", "/nothing"),
        ):  # fmt: skip
            answer = await http.request(method, shared.url + path)
            assert answer.status_code == status, (method, path)
            assert answer.json()["code"] == code
            assert TOKEN not in answer.text
            assert "access-control-allow-origin" not in answer.headers

    assert (shared.downs, shared.kept) == (0, 0)


@pytest.mark.parametrize("host", ["127.0.0.1:{}", "localhost:{}", "[::1]:{}"])
async def test_every_name_of_this_machine_is_answered(shared: Talk, host: str) -> None:
    """An SSH tunnel ends at `localhost`, on another port."""
    async with shared.http(Host=host.format(4711)) as http:
        assert (await http.get(f"{shared.url}/status")).status_code == 200


async def test_two_tokens_are_judged_by_the_first(shared: Talk) -> None:
    """Whatever stands second must not open the door."""
    request = (
        "GET /control/v1/status HTTP/1.1\r\nHost: localhost:1\r\nConnection: close\r\n"
        f"Authorization: Bearer wrong\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    )

    assert b"401" in (await shared.raw(request.encode())).split(b"\r\n")[0]


# -- hostile requests ------------------------------------------------------------------------


async def test_a_body_beyond_the_limit_is_refused_and_not_read(shared: Talk) -> None:
    """A gigabyte must not go through memory."""
    async with shared.http() as http:
        announced = await http.post(f"{shared.url}/up", content=b"x" * (BODY_LIMIT_BYTES + 1))
        exact = await http.post(f"{shared.url}/up", content=b"x" * BODY_LIMIT_BYTES)

        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(40):
                yield b"x" * (64 << 10)

        streamed = await http.post(f"{shared.url}/up", content=pieces())

    for answer in (announced, streamed):
        assert answer.status_code == 413
        assert answer.json()["code"] == "body-too-large"
    assert exact.json()["code"] == "request-invalid"


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /control/v1/status HTTP/1.1\r\n\r\n",
        b"GET http://evil.example/control/v1/status HTTP/1.1\r\nHost: localhost:1\r\n\r\n",
        b"GET /control/v1/status HTTP/1.1\r\nHost: localhost:1\r\nHost: evil:1\r\n\r\n",
        b"POST /control/v1/up HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: -5\r\n\r\n",
        b"GET /control/v1/status HTTP/1.1\r\nHost: localhost:1\r\nX: " + b"y" * 200_000,
        b"\x00" * 1000,
    ],
    ids=lambda data: repr(data[:24]),
)
async def test_what_is_no_request_is_refused_and_the_service_lives(
    shared: Talk, data: bytes
) -> None:
    """TLS on a plain port, smuggling, floods of headers."""
    answer = await shared.raw(data)

    assert not answer.startswith(b"HTTP/1.1 2")
    async with shared.http() as http:
        assert (await http.get(f"{shared.url}/status")).status_code == 200


async def test_other_methods_change_nothing(shared: Talk) -> None:
    """A GET is what a link or an image in a page sends."""
    async with shared.http() as http:
        for path in ("/up", "/stop", "/down", "/restart", "/switch"):
            for method in ("GET", "PUT", "DELETE", "HEAD"):
                answer = await http.request(method, shared.url + path)
                assert answer.status_code == 405, (method, path)
        for method, path in (("POST", "/events"), ("GET", "/keep")):
            assert (await http.request(method, shared.url + path)).status_code == 405

    assert (shared.downs, shared.kept) == (0, 0)


# -- the event stream ------------------------------------------------------------------------


async def test_a_stream_begins_with_the_present(talk: Talk) -> None:
    """A window that opens in the middle must not show an empty page."""
    client = talk.client()
    up = await client.up(UpRequest())
    heard: list[Event] = []
    async with asyncio.timeout(LIMIT_S), contextlib.aclosing(client.events()) as events:
        async for event in events:
            heard.append(event)
            if isinstance(event, GatewayChanged):
                break
    await client.close()

    stages = [event.stage.value for event in heard if isinstance(event, StageProgress)]
    assert stages == ["detect", "gateway", "runtime", "model", "boot"]
    (engine,) = (event.engine for event in heard if isinstance(event, EngineChanged))
    assert engine.state is EngineState.READY
    assert heard[-1] == GatewayChanged(base_url=up.base_url)


async def test_every_one_of_sixty_four_listeners_hears_all(talk: Talk) -> None:
    """Windows, terminals and scripts may all look on."""
    client = talk.client()

    async def keys_changed() -> int:
        count = 0
        listener = talk.client()
        async with contextlib.aclosing(listener.events()) as events:
            async for event in events:
                if isinstance(event, GatewayChanged):
                    listening.append(1)
                count += isinstance(event, KeysChanged)
                if count == 3:
                    break
        await listener.close()
        return count

    listening: list[int] = []
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        heard = [tasks.create_task(keys_changed()) for _ in range(64)]
        await until_async(lambda: len(listening) == 64, "64 streams")
        began = time.monotonic()
        for number in range(3):
            await client.create_key(KeyRequest(name=f"key {number}"))
        answered_s = time.monotonic() - began
    await client.close()

    assert [task.result() for task in heard] == [3] * 64
    assert answered_s < LIMIT_S
    await until_async(lambda: _listeners(talk) == 0, "the end of their subscriptions")


async def test_a_listener_that_never_reads_holds_nobody_up(talk: Talk) -> None:
    """A stopped process with an open stream: its queue is bounded, the others go on."""
    request = (
        "GET /control/v1/events HTTP/1.1\r\nHost: localhost:1\r\n"
        f"Authorization: Bearer {TOKEN}\r\n\r\n"
    )
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", talk.server.port))
        deaf.sendall(request.encode())
        await until_async(lambda: _listeners(talk) == 1, "its stream")
        line = LogLine(seq=1, at=0.0, source="engine", level="none", text="x" * 10_000)
        client = talk.client()

        for _ in range(3_000):
            talk.studio.bus.publish(LogAppended(lines=(line,)))
            await asyncio.sleep(0)
        assert isinstance(await first(client, GatewayChanged), GatewayChanged)
        await asyncio.wait_for(client.status(), LIMIT_S)
        await client.close()

    await until_async(lambda: _listeners(talk) == 0, "the end of the deaf one's stream")


async def test_a_listener_that_vanishes_is_forgotten(talk: Talk) -> None:
    """Each forgotten stream would keep two thousand events for ever."""
    for _ in range(3):
        await_one = talk.client()
        await first(await_one, GatewayChanged)
        await await_one.close()

    await until_async(lambda: _listeners(talk) == 0, "the end of their subscriptions")


async def test_holders_are_counted_up_and_down(talk: Talk) -> None:
    """The service that was started for a terminal ends with it; a looker-on does not count."""
    client, other = talk.client(), talk.client()
    async with contextlib.AsyncExitStack() as open_streams:
        for one, hold in ((client, True), (other, True), (client, False)):
            events = await open_streams.enter_async_context(
                contextlib.aclosing(one.events(hold=hold))
            )
            await anext(events)
        assert talk.holders == [1, 2]

    await until_async(lambda: talk.holders[-1] == 0, "the last holder's end")
    assert talk.holders == [1, 2, 1, 0]
    await client.close()
    await other.close()


async def test_keep_is_passed_on(talk: Talk) -> None:
    """`weir up --detach` joined a service that was started for somebody else's terminal."""
    client = talk.client()

    await client.keep()
    await client.close()

    assert talk.kept == 1


async def test_the_stream_ends_when_the_service_does(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said first, then ended, and without the time that those get who are still answered."""
    client = talk.client()
    heard: list[Event] = []
    server = talk.server._server
    assert server is not None
    close = server.close
    monkeypatch.setattr(server, "close", lambda **_grace: close(grace_s=10 * LIMIT_S))

    async def listen() -> None:
        async with contextlib.aclosing(client.events()) as events:
            heard.extend([event async for event in events])

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        listening = tasks.create_task(listen())
        await until_async(lambda: _listeners(talk) == 1, "the stream")
        await talk.studio.end("weir down")
        await talk.server.close()
        await listening
    await client.close()

    assert ServiceStopping(reason="weir down") in heard


async def test_whoever_comes_after_the_end_is_let_go(talk: Talk) -> None:
    """A window that reconnects in that moment must not hang."""
    client = talk.client()
    await talk.studio.end("weir down")

    async with asyncio.timeout(30), contextlib.aclosing(client.events()) as events:
        heard = [event async for event in events]
    await client.close()

    assert any(isinstance(event, EngineChanged) for event in heard)


async def test_an_up_goes_on_when_its_caller_is_gone(talk: Talk) -> None:
    """The terminal that asked was closed; the window still waits for the engine."""
    client = talk.client()
    ends: list[UpFinished] = []

    async def listen() -> None:
        async with contextlib.aclosing(client.events()) as events:
            async for event in events:
                if isinstance(event, UpFinished):
                    ends.append(event)
                    return

    async with asyncio.timeout(2 * LIMIT_S), asyncio.TaskGroup() as tasks:
        tasks.create_task(listen())
        await until_async(lambda: _listeners(talk) == 1, "the stream")
        with pytest.raises(httpx.ReadTimeout):
            async with talk.http() as http:
                await http.post(
                    f"{talk.url}/up",
                    content=b'{"overrides": {"boot_s": "1.0"}}',
                    timeout=httpx.Timeout(LIMIT_S, read=0.2),
                )

    assert [one.error for one in ends] == [None]
    assert (await client.status()).engine.state is EngineState.READY
    await client.close()


async def test_status_is_what_the_document_calls_stable(shared: Talk) -> None:
    """Scripts read `weir status --json`."""
    async with shared.http() as http:
        document = json.loads((await http.get(f"{shared.url}/status")).content)

    assert document["schema_version"] == 1
    assert {"service", "engine", "gateway", "stages", "keys"} <= document.keys()
    assert document["service"]["home"] == str(shared.paths.home)
    assert document["engine"]["state"] == "stopped"


def _listeners(talk: Talk) -> int:
    return talk.studio.bus.listeners
