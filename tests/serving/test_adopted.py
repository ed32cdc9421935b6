"""A vLLM that others run: found, lost, found again, and never touched."""

import asyncio
import contextlib
import dataclasses
import json
import ssl
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, EngineNotReady, StudioError
from studio.domain.server import EngineSnapshot, EngineState
from studio.monitor import prometheus
from studio.serving import adopted
from studio.serving.adopted import Adopted, read_place
from tests.fakes.running import KEY, fake
from tests.fakes.waiting import BUSY_TRIES, until_async
from tests.serving.adopting import CERTIFICATE, Door, door

SEEN_WITHIN_S = 2.0


@dataclasses.dataclass(slots=True)
class Watched:
    """One adopted engine and what it announced."""

    made: Adopted
    door: Door
    told: list[EngineSnapshot]

    def states(self) -> list[EngineState]:
        """Return the states that were announced, in order."""
        return [snapshot.state for snapshot in self.told]


def pool(metrics: bytes) -> int | None:
    """Return the pool's size in `metrics`."""
    return prometheus.parse(metrics.decode()).pool_tokens


def adopt(
    url: str, *, key: str | None = KEY, tls: ssl.SSLContext | None = None
) -> tuple[Adopted, list[EngineSnapshot]]:
    """Return an adopted engine that was not asked yet, and what it announces."""
    told: list[EngineSnapshot] = []
    made = Adopted(
        read_place(url), name="theirs", key=key, tls=tls, read_pool=pool, publish=told.append
    )
    return made, told


@pytest.fixture
async def watched() -> AsyncIterator[Watched]:
    """Return an adopted engine that is there and is watched."""
    with fake(served_name="theirs/model") as engine:
        async with asyncio.timeout(60), door(engine.engine.path or "") as entrance:
            made, told = adopt(entrance.url)
            await made.probe()
            async with asyncio.TaskGroup() as tasks:
                task = tasks.create_task(made.watch())
                yield Watched(made, entrance, told)
                task.cancel()
            made.close()


async def error_of(url: str, **options: object) -> StudioError:
    """Return the error with which adopting ends."""
    made, _ = adopt(url, **options)
    with pytest.raises(StudioError) as caught:
        async with asyncio.timeout(30):
            await made.probe()
    made.close()
    return caught.value


async def test_it_says_what_it_is(watched: Watched) -> None:
    """Version, models, context and pool, as its own pages tell them."""
    snapshot = watched.made.snapshot()

    assert snapshot.state is EngineState.ADOPTED
    assert snapshot.served_name == "theirs/model"
    assert snapshot.max_model_len == 2048
    assert snapshot.pool_tokens is not None
    assert snapshot.adopted is not None
    assert snapshot.adopted.version is not None
    assert snapshot.adopted.has_metrics
    assert snapshot.pid is None
    assert snapshot.preset is None


async def test_a_socket_is_a_place_too() -> None:
    """On one machine it is the safest way to offer an engine."""
    with fake() as engine:
        made, _ = adopt(f"unix:{engine.engine.path}")

        await made.probe()

        assert made.target is not None
        assert made.target.key == KEY
        made.close()


async def test_tls_is_spoken_and_the_certificate_checked() -> None:
    """A stranger in between would read key and conversations."""
    trust = ssl.create_default_context(cafile=CERTIFICATE)
    trust.check_hostname = False
    with fake() as engine:
        async with door(engine.engine.path or "", tls=True) as entrance:
            made, _ = adopt(entrance.url, tls=trust)
            await made.probe()
            assert made.state is EngineState.ADOPTED
            made.close()

            refused = await error_of(entrance.url, tls=ssl.create_default_context())
    assert refused.code == "adopt-unreachable"
    assert "certificate is not trusted" in refused.message


async def test_https_to_a_port_that_speaks_http_is_said() -> None:
    """One letter too many in the address."""
    with fake() as engine:
        async with door(engine.engine.path or "") as entrance:
            url = entrance.url.replace("http:", "https:")
            refused = await error_of(url, tls=ssl.create_default_context())

    assert "may speak plain http" in refused.message


async def test_its_loss_is_seen_within_two_seconds(watched: Watched) -> None:
    """New requests must not run into a wall for long; and its return needs no hand."""
    seen_s: list[float] = []
    while not seen_s or (min(seen_s) >= SEEN_WITHIN_S and len(seen_s) < BUSY_TRIES):
        seen_s.append(await _lost(watched))
        _assert_said(watched)
        await watched.door.open()
        await until_async(lambda: watched.made.state is EngineState.ADOPTED, "its return")

    assert min(seen_s) < SEEN_WITHIN_S
    assert watched.made.snapshot().error is None
    once = [EngineState.GONE, EngineState.ADOPTED]
    assert watched.states() == [EngineState.ADOPTED, *once * len(seen_s)]


async def _lost(watched: Watched) -> float:
    """Let it be lost; return how long it took until that was seen."""
    await watched.door.shut()
    lost_s = time.monotonic()
    await until_async(lambda: watched.made.state is EngineState.GONE, "its loss")
    return time.monotonic() - lost_s


def _assert_said(watched: Watched) -> None:
    assert watched.made.target is None
    error = watched.made.snapshot().error
    assert error is not None
    assert error.code == "adopt-unreachable"
    assert "refused" in error.message
    assert error.hint is not None
    assert "noticed by itself" in error.hint


@pytest.fixture
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the patience out of the looks: it is a figure, not behaviour."""
    monkeypatch.setattr(adopted, "LATE_S", 0.1)
    monkeypatch.setattr(adopted, "LOOK_S", 0.02)


@pytest.mark.usefixtures("quick_looks")
async def test_one_that_hangs_is_gone_after_several_looks(watched: Watched) -> None:
    """A stopped process keeps its port open."""
    watched.door.hang()

    await until_async(lambda: watched.made.state is EngineState.GONE, "its loss")

    error = watched.made.snapshot().error
    assert error is not None
    assert "in time" in error.message
    late = [one.note for one in watched.told if one.state is EngineState.ADOPTED and one.note]
    assert len(late) == adopted.MISSES - 1, "it was said before that it was late"
    assert watched.made.snapshot().note is None


@pytest.mark.usefixtures("quick_looks")
async def test_one_that_is_only_busy_stays(watched: Watched) -> None:
    """A long prompt on a processor keeps `/health` waiting for seconds; requests may queue."""
    for _ in range(3):
        watched.door.hang()
        await until_async(lambda: watched.made.snapshot().note is not None, "a late look")
        assert watched.made.target is not None
        watched.door.go_on()
        await until_async(lambda: watched.made.snapshot().note is None, "an answer")

    assert EngineState.GONE not in watched.states()


async def test_an_engine_that_says_that_it_is_dead_is_gone(watched: Watched) -> None:
    """vLLM's own server may outlive its engine and answer 503."""
    watched.door.answer = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n"
    await watched.door.shut()
    await watched.door.open()

    await until_async(lambda: watched.made.state is EngineState.GONE, "its loss")


async def test_another_model_after_its_return_is_noticed() -> None:
    """They may start something else under the same address."""
    async with contextlib.AsyncExitStack() as stack:
        with fake(served_name="one") as first:
            entrance = await stack.enter_async_context(door(first.engine.path or ""))
            made, _ = adopt(entrance.url)
            await made.probe()
            task = await stack.enter_async_context(asyncio.TaskGroup())
            watching = task.create_task(made.watch())
            await entrance.shut()
            await until_async(lambda: made.state is EngineState.GONE, "its loss")
        with fake(served_name="two") as second:
            entrance._path = second.engine.path or ""
            await entrance.open()
            await until_async(lambda: made.state is EngineState.ADOPTED, "its return")
            target = made.target
        watching.cancel()
    assert target is not None
    assert target.served_name == "two"


@pytest.mark.parametrize("key", [None, "wrong"])
async def test_a_missing_or_wrong_key_is_said(key: str | None) -> None:
    """Before anything is kept."""
    with fake() as engine:
        refused = await error_of(f"unix:{engine.engine.path}", key=key)

    assert isinstance(refused, BadInput)
    assert refused.code == "adopt-key-refused"
    assert "--key-file" in (refused.hint or "")


def answer(body: bytes, status: str = "200 OK") -> bytes:
    """Return an HTTP answer."""
    head = f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    return head.encode() + body


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (answer(b"<html>"), "adopt-not-vllm"),
        (answer(b'{"data": []}'), "adopt-not-vllm"),
        (answer(b'{"data": [{"id": 3}]}'), "adopt-not-vllm"),
        (answer(b'{"data": [{"id": "x", "owned_by": "them"}]}'), "adopt-not-vllm"),
        (answer(b'{"data": [{"id": "\\u001b[2J", "owned_by": "vllm"}]}'), "adopt-not-vllm"),
        (answer(b'{"data": [{"id": "", "owned_by": "vllm"}]}'), "adopt-not-vllm"),
        (answer(b"", "404 Not Found"), "adopt-not-vllm"),
        (answer(b"", "302 Found"), "adopt-not-vllm"),
        (answer(b"", "503 Service Unavailable"), "adopt-unreachable"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "adopt-unreachable"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{", "adopt-unreachable"),
        (answer(b"\xff" * 64), "adopt-not-vllm"),
        (b"", "adopt-unreachable"),
    ],
)
async def test_what_is_no_vllm_is_refused_in_words(said: bytes, code: str) -> None:
    """An address is quickly mistyped, and anything may listen there."""
    async with door("/nobody") as entrance:
        entrance.answer = said
        refused = await error_of(entrance.url)

    assert refused.code == code
    assert refused.hint


async def test_an_answer_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger must not fill our memory."""
    monkeypatch.setattr(adopted, "_LIMIT_BYTES", 1000)
    async with door("/nobody") as entrance:
        entrance.answer = answer(b"x" * 100_000)

        refused = await error_of(entrance.url)

    assert refused.code == "adopt-unreachable"


async def test_nobody_there_is_said_with_the_reason() -> None:
    """A socket that does not exist, a port that refuses."""
    missing = await error_of("unix:/nobody/here.sock")
    closed = await error_of("http://127.0.0.1:1")

    assert isinstance(missing, EngineNotReady)
    assert "no such file" in missing.message
    assert "refused" in closed.message
    for refused in (missing, closed):  # no return is waited for where nothing was adopted
        assert refused.hint is not None
        assert refused.hint.endswith("Nothing was adopted.")


async def test_a_vllm_behind_a_proxy_that_shows_only_v1_is_taken() -> None:
    """Then pool and speed are unknown, which is said and is no reason to refuse."""
    models = {"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 8}]}
    body = json.dumps(models).encode()
    said: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0].decode()
        said.append(line.split()[1])
        is_list = said[-1] == "/deep/v1/models"
        writer.write(answer(body) if is_list else answer(b"", "404 Not Found"))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    made, _ = adopt(f"http://127.0.0.1:{port}/deep/v1/")
    found = await made.probe()
    await made._look()
    server.close()
    made.close()

    assert (found.version, found.has_metrics, found.pool_tokens) == (None, False, None)
    assert "/deep/health" in said


@pytest.mark.parametrize(
    ("text", "url", "prefix"),
    [
        ("http://h:8000", "http://h:8000", ""),
        ("https://h", "https://h:443", ""),
        ("http://h/v1", "http://h:80", ""),
        ("http://h/v1/", "http://h:80", ""),
        ("https://h/a b/v1".replace(" ", "%20"), "https://h:443/a%20b", "/a%20b"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000", ""),
        ("localhost:8000", "http://localhost:8000", ""),
        ("http://[::1]:8000", "http://[::1]:8000", ""),
        (" http://h:1 ", "http://h:1", ""),
        ("unix:/run/a b.sock", "unix:/run/a b.sock", ""),
        ("unix:///run/vllm.sock", "unix:/run/vllm.sock", ""),
    ],
)
def test_an_address_is_read_as_people_write_it(text: str, url: str, prefix: str) -> None:
    """With or without a scheme, with the `/v1` that clients need and vLLM itself does not."""
    place = read_place(text)

    assert (place.url, place.prefix) == (url, prefix)


@pytest.mark.parametrize(
    "text",
    [
        "", "http://", "ftp://h", "http://h:99999", "http://h:x", "unix:run/vllm.sock", "unix:",
        "http://me:secret@h:1", "http://h:1/?key=x", "http://h\r\nx: y", "http://h ost:1",
        "http://hö:1", "nonsense", "gpu.example", "gpu.example/v1", "[::1]",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(text: str) -> None:
    """And a password in it is not repeated, let alone kept."""
    with pytest.raises(BadInput) as caught:
        read_place(text)

    assert caught.value.code == "adopt-address"
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("unix:/a", True),
        ("http://localhost:1", True),
        ("http://[::1]:1", True),
        ("http://h", False),
    ],
)
def test_whether_it_is_on_this_machine(url: str, expected: bool) -> None:
    """Decides whether a key without TLS is worth a word."""
    assert read_place(url).is_here is expected


def test_a_socket_is_called_by_its_file() -> None:
    """Until somebody gives it a name."""
    assert read_place("unix:/run/vllm.sock").name == "vllm.sock"
    assert read_place("http://h:1").name == "h:1"
    assert Path(read_place("unix:/run/vllm.sock").url.partition(":")[2]).is_absolute()
