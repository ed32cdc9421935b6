"""What clients see of a death, a standstill and a restart: an error they know, then answers."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from studio.domain.control import KeyRequest, UpRequest
from studio.domain.server import EngineState
from studio.domain.settings import CareChange
from studio.serving import machine
from tests.app.running import Running, fake_paths, running
from tests.fakes.waiting import until_async

ANSWERS = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "Tell me a story."}]},
    "/v1/completions": {"prompt": "Tell me a story."},
    "/v1/messages": {
        "model": "smollm2", "max_tokens": 500,
        "messages": [{"role": "user", "content": "Tell me a story."}],
    },
    "/v1/responses": {"input": "Tell me a story."},
}  # fmt: skip
LIMIT_S = 60.0


class Client:
    """A chat client with a key."""

    def __init__(self, made: Running, key: str) -> None:
        base = made.studio.gateway().base_url
        assert base is not None
        self._base = base.removesuffix("/v1")
        self._headers = {"Authorization": f"Bearer {key}"}

    async def ask(self, path: str, *, stream: bool = False) -> httpx.Response:
        """Ask for a story."""
        async with httpx.AsyncClient(
            headers=self._headers, timeout=LIMIT_S, trust_env=False
        ) as client:
            body = {**ANSWERS[path], "stream": stream}
            return await client.post(f"{self._base}{path}", json=body)


@pytest.fixture
async def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Running]:
    """Return a running Studio whose engine takes its time for a token."""
    monkeypatch.setattr(machine, "retry_delay_s", lambda _machine: 0.01)
    with fake_paths(tmp_path, boot_s=0.1, tokens_per_s=20.0, tokens=200) as paths:
        async with asyncio.timeout(LIMIT_S), running(paths) as one:
            yield one


async def serve(made: Running, **overrides: str) -> Client:
    """Start the engine and return a client."""
    await made.studio.up(UpRequest(overrides=overrides))
    key = await made.studio.keys.create(KeyRequest(name="client"))
    return Client(made, key.key)


async def in_flight(made: Running, count: int) -> None:
    """Wait until so many requests are with the engine."""
    await until_async(lambda: made.studio.gateway().in_flight == count, f"{count} in flight")


def last_events(text: str) -> list[dict[str, object]]:
    """Return the documents of a stream."""
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data:")]
    return [json.loads(line) for line in lines if line.startswith("{")]


async def test_streams_of_an_engine_that_stands_still_end_in_their_own_dialect(
    made: Running,
) -> None:
    """A client that is cut off without a word waits for minutes, or takes half for all."""
    client = await serve(made, fault="stall-after=1")
    await made.studio.care.change(CareChange(values={"stall-s": "5"}))
    async with asyncio.TaskGroup() as tasks:
        asking = {path: tasks.create_task(client.ask(path, stream=True)) for path in ANSWERS}
        plain = tasks.create_task(client.ask("/v1/chat/completions"))
        await in_flight(made, 5)
        await until_async(
            lambda: made.studio.engine().state is not EngineState.READY, "the end of the standstill"
        )

    for path, task in asking.items():
        answer = task.result()
        if answer.status_code == 200:
            assert "error" in last_events(answer.text)[-1], path
            assert ("event: error" in answer.text) is (path in ("/v1/messages", "/v1/responses"))
        else:
            assert answer.json()["error"], path
    assert plain.result().status_code == 502
    assert plain.result().json()["error"]["code"] == "engine-cut-off"


async def test_requests_during_a_restart_wait_and_are_answered(made: Running) -> None:
    """Address and key stay; the person sees a pause."""
    client = await serve(made, tokens_per_s="0")
    first = made.studio.engine()
    assert first.pid is not None

    os.kill(first.pid, signal.SIGKILL)
    await until_async(lambda: made.studio.engine().state is not EngineState.READY, "its death")
    answers = await asyncio.gather(*(client.ask(path) for path in ANSWERS))

    assert [answer.status_code for answer in answers] == [200] * len(ANSWERS)
    assert made.studio.engine().restarts == 1
    assert made.studio.engine().pid != first.pid


@pytest.mark.parametrize("how", ["restart", "switch"])
async def test_requests_during_a_restart_that_was_asked_for_wait_too(
    made: Running, how: str
) -> None:
    """Stop and start are two steps inside, and one outside."""
    client = await serve(made, tokens_per_s="0")
    async with asyncio.TaskGroup() as tasks:
        request = UpRequest(
            preset="fake-demo", overrides={"max_num_seqs": "4", "tokens_per_s": "0"}
        )
        work = (
            made.studio.starts.restart() if how == "restart" else made.studio.starts.switch(request)
        )
        restarting = tasks.create_task(work)
        await until_async(lambda: made.studio.engine().state is not EngineState.READY, "the stop")
        asking = tasks.create_task(client.ask("/v1/chat/completions"))

    assert restarting.result().preset == "fake-demo"
    assert asking.result().status_code == 200


async def test_whoever_chose_not_to_wait_is_told_at_once(made: Running) -> None:
    """With the time after which to come again."""
    client = await serve(made, boot_s="3")
    await made.studio.care.change(CareChange(values={"wait-s": "0"}))
    pid = made.studio.engine().pid
    assert pid is not None

    os.kill(pid, signal.SIGKILL)
    await until_async(lambda: made.studio.engine().state is EngineState.STARTING, "the boot")
    answer = await client.ask("/v1/messages")

    assert answer.status_code == 503
    assert answer.json()["type"] == "error"
    assert 1 <= int(answer.headers["retry-after"]) <= 60


async def test_nobody_waits_for_an_engine_that_was_stopped(made: Running) -> None:
    """503 at once, as before."""
    client = await serve(made)
    await made.studio.stop()

    async with asyncio.timeout(30):
        answer = await client.ask("/v1/chat/completions")

    assert answer.status_code == 503
