"""Which engine a request goes to: limits first, then a place in the queue, then the engine."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.domain.demand import DemandPreset, FailedStart
from studio.domain.errors import ErrorInfo
from studio.domain.keys import KeyLimits
from studio.gateway.arrivals import Demand, Found, failed, stopped
from studio.gateway.engine import EngineTarget
from studio.gateway.keys import KeyStore
from studio.gateway.service import Gateway
from studio.gateway.tickets import Tickets
from studio.host.http_client import Upstream
from tests.fakes.waiting import until_async
from tests.gateway.engine_support import ENGINE_KEY, Engine, Setup

CHAT = "/v1/chat/completions"
WHY = ErrorInfo(code="no-room", message="It is too large.", hint="Buy a card.", exit_status=4)


class Shelf:
    """What the app would know: two presets, of which a test says how they stand."""

    def __init__(self) -> None:
        self.tickets = Tickets(lambda: 4)
        self.is_on = True
        self.presets = {
            name: DemandPreset(preset=name, served_name=f"{name}-model", ttl_s=0, names=(name,))
            for name in ("one", "two")
        }
        self.failed: FailedStart | None = None
        self.running: str | None = None

    async def find(self, name: str | None) -> Found | None:
        """Return a preset by its id or public name."""
        preset = self.presets.get((name or "one").removesuffix("-model"))
        if preset is None:
            return None
        return Found(preset=preset, failed=self.failed, is_here=preset.preset == self.running)

    async def all(self) -> tuple[DemandPreset, ...]:
        """Return both."""
        return tuple(self.presets.values())

    def demand(self) -> Demand:
        """Return what the gateway is told."""
        return Demand(
            tickets=self.tickets,
            is_on=lambda: self.is_on,
            find=self.find,
            all=self.all,
            outlook=lambda preset: (f"{preset} is starting", 12.3),
            within_s=lambda _is_stream: 20.0,
        )


@pytest.fixture
def shelf() -> Shelf:
    """Return both presets, startable."""
    return Shelf()


@pytest.fixture
async def empty(keys: KeyStore, shelf: Shelf, tmp_path: Path) -> AsyncIterator[Setup]:
    """Return a gateway without an engine, before which requests may queue."""
    engine = Engine(tmp_path / "engine.sock")
    await engine.open()
    made = Setup(keys=keys, engine=engine, target=None, key=(await keys.create("test")).key)
    made.gateway = Gateway(
        keys, upstream=lambda: made.target, demand=shelf.demand(), on_record=made.records.append
    )
    await made.gateway.open()
    yield made
    async with asyncio.timeout(30):
        await made.gateway.close()
        if made.target is not None:
            made.target.upstream.close()
        await engine.close()


def serve(empty: Setup, preset: str) -> EngineTarget:
    """Let the engine of a preset be there."""
    upstream = Upstream(socket_path=empty.engine.socket)
    empty.target = EngineTarget(
        upstream=upstream, key=ENGINE_KEY, served_name=f"{preset}-model", preset=preset
    )
    return empty.target


async def waits(shelf: Shelf, count: int) -> None:
    """Wait until so many requests wait."""
    await until_async(lambda: len(shelf.tickets) == count, f"{count} that wait")


async def test_a_request_waits_for_its_preset_and_is_asked_by_the_public_name(
    empty: Setup, shelf: Shelf
) -> None:
    """The engine knows only that one."""
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(empty.post(CHAT, {"model": "two", "messages": []}))
        await waits(shelf, 1)
        assert empty.gateway.info().waiting == 1
        assert empty.gateway.info().in_flight == 0
        shelf.tickets.serve("two", serve(empty, "two"))

    assert asking.result().status_code == 200
    assert empty.engine.received[0].json["model"] == "two-model"
    assert (await empty.post(CHAT, {"model": "two", "messages": []})).status_code == 200
    assert empty.engine.received[1].json["model"] == "two-model"


async def test_an_alias_may_mean_a_preset(empty: Setup, shelf: Shelf) -> None:
    """Also the one of which nothing but the id is its own."""
    empty.gateway.allow(aliases={"gpt-4o": "two", "any": ""})
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(empty.post(CHAT, {"model": "gpt-4o", "messages": []}))
        tasks.create_task(empty.post(CHAT, {"model": "any", "messages": []}))
        await waits(shelf, 2)
        assert {one.preset for one in shelf.tickets.shown()} == {"one", "two"}
        shelf.tickets.serve("one", serve(empty, "one"))
        shelf.tickets.serve("two", serve(empty, "two"))

    assert {one.json["model"] for one in empty.engine.received} == {"one-model", "two-model"}


async def test_limits_hold_before_anything_is_started(empty: Setup, shelf: Shelf) -> None:
    """A key that may not use a model, or may start none, never takes a place."""
    narrow = (await empty.keys.create("narrow", KeyLimits(models=("one",)))).key
    guest = (await empty.keys.create("guest", KeyLimits(only_running=True))).key
    body = {"model": "two", "messages": []}

    refused = await empty.post(CHAT, body, authorization=f"Bearer {narrow}")
    barred = await empty.post(CHAT, body, authorization=f"Bearer {guest}")

    assert refused.headers["x-weir-error"] == "key-model"
    assert barred.headers["x-weir-error"] == "key-start"
    assert (refused.status_code, barred.status_code) == (403, 403)
    shelf.running = "two"
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(empty.post(CHAT, body, authorization=f"Bearer {guest}"))
        await waits(shelf, 1)
        shelf.tickets.serve("two", serve(empty, "two"))
    assert asking.result().status_code == 200


async def test_a_key_that_is_revoked_loses_its_place(empty: Setup, shelf: Shelf) -> None:
    """`weir keys revoke --now` while its request waits for a boot."""
    made = await empty.keys.create("leaving")
    body = {"model": "two", "messages": []}
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(empty.post(CHAT, body, authorization=f"Bearer {made.key}"))
        await waits(shelf, 1)
        await empty.keys.revoke(made.info.id)
        empty.keys.cut(made.info.id)

    assert asking.result().status_code == 401
    assert len(shelf.tickets) == 0


async def test_a_client_that_leaves_frees_its_place_at_once(empty: Setup, shelf: Shelf) -> None:
    """Also while its stream has begun already."""
    head = f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {empty.key}\r\n"
    body = b'{"model":"two","stream":true}'
    _reader, writer = await asyncio.open_connection("127.0.0.1", empty.port)
    writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    await waits(shelf, 1)

    writer.close()

    await waits(shelf, 0)
    await until_async(lambda: bool(empty.records), "the record")
    assert empty.records[0].status == 499
    assert empty.engine.received == []


async def test_what_cannot_start_or_did_not_is_said_at_once(empty: Setup, shelf: Shelf) -> None:
    """With the cause; the official clients are told not to ask again."""
    shelf.failed = FailedStart(preset="two", error=WHY, failures=1, until=0)
    late = await empty.post(CHAT, {"model": "two", "messages": []})
    shelf.failed = None
    shelf.presets["two"] = DemandPreset(preset="two", ttl_s=0, problem=WHY)
    missing = await empty.post(CHAT, {"model": "two", "messages": []})

    for answer in (late, missing):
        assert answer.status_code == 503
        assert answer.headers["x-should-retry"] == "false"
        assert "It is too large. Buy a card." in answer.json()["error"]["message"]
    assert len(shelf.tickets) == 0


async def test_without_on_demand_all_is_as_it_was(empty: Setup, shelf: Shelf) -> None:
    """Nobody is surprised by a machine that starts to load models."""
    shelf.is_on = False

    answer = await empty.post(CHAT, {"model": "two", "messages": []})

    assert answer.status_code == 503
    assert answer.headers["x-weir-error"] == "engine-not-ready"


def test_refusals_that_no_retry_heals_say_so() -> None:
    """Both official clients heed the header."""
    for refusal in (
        failed(FailedStart(preset="a", error=WHY, failures=1, until=0)),
        stopped("The engine was stopped."),
    ):
        assert (b"x-should-retry", b"false") in refusal.headers
        assert refusal.status == 503
