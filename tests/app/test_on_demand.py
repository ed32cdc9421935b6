"""Requests start engines, take turns, and let go of them; what a person does comes first."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import anthropic
import openai
import pytest

from studio.domain.bench import BenchKind, BenchRequest
from studio.domain.control import UpRequest
from studio.domain.demand import NextStep, Reason
from studio.domain.events import QueueChanged, Ticked
from studio.domain.server import EngineState
from studio.gateway import arrivals, demand
from tests.app.demand_support import CHAT, MESSAGES, NAMES, OTHER, Demanding, demanding
from tests.fakes.catalogue import PRESET
from tests.fakes.waiting import until_async


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Demanding]:
    """Return a Studio in which nothing runs and two presets may be started."""
    async with demanding(tmp_path, tokens_per_s=0.0) as one:
        yield one


@pytest.fixture
async def slow(tmp_path: Path) -> AsyncIterator[Demanding]:
    """Return one whose boots take a second and whose answers take many."""
    async with demanding(tmp_path, boot_s=1.0, tokens_per_s=20.0, tokens=2_000) as one:
        await one.change(residence="0")
        yield one


def error_of(text: str) -> dict[str, object]:
    """Return the error that ends a stream."""
    lines = [line for line in text.splitlines() if line.startswith("data: {")]
    error = json.loads(lines[-1][6:])["error"]
    assert isinstance(error, dict)
    return error


@pytest.mark.parametrize("name", [PRESET, "smollm2", None])
async def test_a_request_starts_what_it_names_and_is_answered(
    made: Demanding, name: str | None
) -> None:
    """By the preset's id, its public name, or no name: nobody has to open a terminal first."""
    answer = await made.client.ask(name)

    assert answer.status_code == 200
    assert answer.json()["choices"][0]["message"]["content"]
    assert float(answer.headers["x-weir-waited-s"]) > 0
    assert made.preset == PRESET
    assert made.run.studio.on_demand.queue().is_by_hand is False


async def test_what_a_request_starts_is_not_what_up_means(made: Demanding) -> None:
    """`weir up` without a word serves what the person served last, not what a client asked for."""
    await made.client.ask(OTHER)

    assert made.preset == OTHER
    assert made.run.parts.settings.now.preset is None


async def test_many_requests_for_one_model_start_one_engine(made: Demanding) -> None:
    """A client that opens ten connections is the usual case."""
    answers = await asyncio.gather(*(made.client.ask(PRESET) for _ in range(10)))

    assert [answer.status_code for answer in answers] == [200] * 10
    assert made.boots() == 1


async def test_both_official_clients_wait_through_a_boot(
    made: Demanding, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With streams that begin before the engine, and without; neither client notices."""
    monkeypatch.setattr(arrivals, "COMMIT_S", 0.0)
    monkeypatch.setattr(arrivals, "KEEP_ALIVE_S", 0.02)
    base_url = made.client.base_url
    key = made.client.key
    async with (
        openai.AsyncOpenAI(base_url=base_url, api_key=key, max_retries=0) as chat,
        anthropic.AsyncAnthropic(
            base_url=base_url.removesuffix("/v1"), api_key=key, max_retries=0
        ) as claude,
    ):
        stream = await chat.chat.completions.create(model=PRESET, messages=MESSAGES, stream=True)
        text = [chunk.choices[0].delta.content or "" async for chunk in stream]
        await made.run.studio.stop()
        await made.change(is_on=True)
        async with claude.messages.stream(model=OTHER, max_tokens=50, messages=MESSAGES) as events:
            said = await events.get_final_message()
        await made.run.studio.stop()
        await made.change(is_on=True)
        whole = await chat.chat.completions.create(model="smollm2", messages=MESSAGES)
        response = await chat.responses.create(model=OTHER, input="Hello", stream=True)
        kinds = [event.type async for event in response]

    assert "".join(text)
    assert said.content[0].text
    assert whole.choices[0].message.content
    assert kinds[-1] == "response.completed"


@pytest.mark.parametrize("path", [CHAT, "/v1/messages"])
async def test_a_stream_is_kept_alive_with_progress(
    slow: Demanding, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Comments with phase, share and seconds: proxies and people see that something happens."""
    monkeypatch.setattr(arrivals, "COMMIT_S", 0.1)
    monkeypatch.setattr(arrivals, "KEEP_ALIVE_S", 0.1)
    body = {"model": PRESET, "messages": MESSAGES, "stream": True, "max_tokens": 3}

    async with slow.client.http() as http:
        answer = await http.post(path, json=body)

    before, _, rest = answer.text.partition('data: {"id"' if path == CHAT else "message_start")
    comments = [line for line in before.splitlines() if line.startswith(": ")]
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert rest
    assert any("left" in line and "%" in line for line in comments), comments
    assert ("event: ping" in before) is (path == "/v1/messages")


async def test_an_engine_that_nobody_uses_is_stopped(made: Demanding) -> None:
    """The card is free for other things; the next request brings it back."""
    await made.client.ask(PRESET)
    await made.change(preset=PRESET, ttl="0.4")

    left = made.run.studio.status().queue.idle_stop_at
    await made.until(EngineState.STOPPED)
    again = await made.client.ask(PRESET)

    assert left is not None
    assert again.status_code == 200


async def test_a_stream_keeps_an_engine_from_being_stopped(tmp_path: Path) -> None:
    """Idle means that nobody is being answered, not that no request came."""
    async with demanding(tmp_path, tokens_per_s=20.0, tokens=20) as made:
        await made.change(default_ttl="0.2")
        answer = await made.client.ask(PRESET, stream=True)

        assert answer.text.rstrip().endswith("[DONE]")
        await made.until(EngineState.STOPPED)


async def test_a_bench_keeps_an_engine_from_being_stopped(tmp_path: Path) -> None:
    """It asks past the gateway, which takes the engine for idle meanwhile; then the time begins."""
    async with demanding(tmp_path, tokens_per_s=20.0, tokens=2_000) as made:
        bench = made.run.studio.bench
        await made.client.ask(PRESET, max_tokens=2)
        async with asyncio.TaskGroup() as tasks:
            run = tasks.create_task(bench.run(BenchRequest(only=(BenchKind.DECODE,))))
            await until_async(lambda: bench.state().progress is not None, "the run")
            await made.change(default_ttl="0.05")
            ticks = [one for one in made.run.heard if isinstance(one, Ticked)]
            await until_async(
                lambda: sum(isinstance(one, Ticked) for one in made.run.heard) > len(ticks) + 1,
                "more than the idle time",
            )
            made.run.studio.on_demand.wake()
            state, left = made.state, made.run.studio.on_demand.queue().idle_stop_at
            await bench.stop()
            await run

        assert (state, left) == (EngineState.READY, None)
        await made.until(EngineState.STOPPED)


async def test_a_bench_keeps_an_engine_from_being_switched(tmp_path: Path) -> None:
    """The other model's requests wait until it is over; its figures are worth more than seconds."""
    async with demanding(tmp_path, tokens_per_s=20.0, tokens=2_000) as made:
        await made.change(residence="0")
        bench, queue = made.run.studio.bench, made.run.studio.on_demand.queue
        await made.client.ask(PRESET, max_tokens=2)
        async with asyncio.TaskGroup() as tasks:
            run = tasks.create_task(bench.run(BenchRequest(only=(BenchKind.DECODE,))))
            await until_async(lambda: bench.state().progress is not None, "the run")
            asked = tasks.create_task(made.client.ask(OTHER, max_tokens=2))
            await until_async(lambda: queue().waiting == 1, "the request")
            made.run.studio.on_demand.wake()
            await until_async(lambda: queue().next is not None, "what is next")
            step, state, preset = queue().next, made.state, made.preset
            await bench.stop()
            await run
            answer = await asked

        assert step == NextStep(preset=OTHER, reason=Reason.MEASURED)
        assert (state, preset) == (EngineState.READY, PRESET)
        assert answer.status_code == 200
        assert made.preset == OTHER


async def test_what_a_person_started_is_stopped_only_if_they_said_so(made: Demanding) -> None:
    """`weir up` is a wish of its own."""
    await made.change(default_ttl="0.2")
    await made.run.studio.up(UpRequest(preset=PRESET))
    queue = made.run.studio.on_demand.queue()
    assert queue.is_by_hand
    assert queue.idle_ttl_s is None

    await made.change(ttl_by_hand=True)

    await made.until(EngineState.STOPPED)


async def test_another_model_takes_its_turn_and_a_long_answer_is_ended(slow: Demanding) -> None:
    """Within the preset's own time for answers under way; then an error the client knows."""
    body = {"model": PRESET, "messages": MESSAGES, "stream": True}
    slow.run.parts.settings.change(port=slow.run.parts.settings.now.port)
    async with slow.client.http() as http, asyncio.TaskGroup() as tasks:
        long = tasks.create_task(http.post(CHAT, json=body))
        await until_async(lambda: slow.run.studio.gateway().in_flight == 1, "the long answer")
        other = tasks.create_task(slow.client.ask(OTHER, max_tokens=2))
        await slow.waiting(1)
        first = set(slow.run.parts.supervisor.snapshot().overrides)

    assert first == set()
    assert error_of(long.result().text)["code"] == "engine-switched"
    assert other.result().status_code == 200
    assert other.result().json()["model"] == NAMES[OTHER]
    assert slow.preset == OTHER


async def test_a_client_that_leaves_frees_its_place_and_the_boot_goes_on(slow: Demanding) -> None:
    """It will ask again, and finds the engine ready."""
    async with slow.client.http() as http:
        asking = asyncio.ensure_future(http.post(CHAT, json={"model": PRESET, "messages": []}))
        await slow.waiting(1)
        await slow.until(EngineState.STARTING)
        asking.cancel()
        await slow.waiting(0)

    await slow.until(EngineState.READY, PRESET)


async def test_a_boot_that_nobody_waits_for_can_be_ended(
    slow: Demanding, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For those whose card has something else to do."""
    monkeypatch.setattr(demand, "ABANDONED_S", 0.05)
    await slow.change(abandoned="end")
    async with slow.client.http() as http:
        asking = asyncio.ensure_future(http.post(CHAT, json={"model": PRESET, "messages": []}))
        await slow.waiting(1)
        await slow.until(EngineState.STARTING)
        asking.cancel()

    await slow.until(EngineState.STOPPED)


async def test_a_key_starts_only_what_it_may(made: Demanding) -> None:
    """A key for one model must not make the machine load another."""
    narrow = await made.other_key("narrow", models=("smollm2",))
    guest = await made.other_key("guest", only_running=True)

    assert (await narrow.ask(OTHER)).status_code == 403
    refused = await guest.ask(PRESET)
    assert refused.status_code == 403
    assert refused.json()["error"]["code"] == "key-start"
    assert await guest.models() == []
    assert made.boots() == 0
    await made.client.ask(PRESET)
    assert (await guest.ask(PRESET)).status_code == 200
    assert [one["id"] for one in await guest.models()] == ["smollm2"]


async def test_a_full_queue_says_when_to_come_again(slow: Demanding) -> None:
    """In the dialect's own shape; each that waits holds memory."""
    await slow.change(queue_length=1)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(slow.client.ask(PRESET, max_tokens=2))
        await slow.waiting(1)
        full = await slow.client.ask(OTHER)
        async with slow.client.http() as http:
            claude = await http.post("/v1/messages", json={"model": OTHER, "messages": []})

    assert full.status_code == 503
    assert full.json()["error"]["code"] == "queue-full"
    assert 1 <= int(full.headers["retry-after"]) <= 60
    assert claude.json()["error"]["type"] == "overloaded_error"


async def test_patience_is_bounded(slow: Demanding) -> None:
    """A request that waits for ever is one that nobody hears of."""
    await slow.change(wait="0.1")

    late = await slow.client.ask(PRESET)

    assert late.status_code == 503
    assert late.json()["error"]["code"] == "engine-not-ready"
    assert int(late.headers["retry-after"]) >= 1


async def test_stop_means_stop_until_a_person_starts_something(slow: Demanding) -> None:
    """Official clients ask again by themselves, and would undo it within the second."""
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(slow.client.ask(PRESET))
        await slow.until(EngineState.STARTING)
        await slow.run.studio.stop()
    again = await slow.client.ask(PRESET)

    assert asking.result().status_code == 503
    assert asking.result().headers["x-should-retry"] == "false"
    assert again.status_code == 503
    assert slow.state is EngineState.STOPPED
    assert slow.run.studio.on_demand.queue().held_since is not None
    await slow.run.studio.up(UpRequest(preset=PRESET))
    assert slow.run.studio.on_demand.queue().held_since is None


async def test_a_start_that_fails_tells_everybody_why_and_is_not_repeated(
    tmp_path: Path,
) -> None:
    """A preset that cannot boot must not boot all day because a client asks all day."""
    async with demanding(tmp_path, fault="refuse-kv") as made:
        first = await asyncio.gather(*(made.client.ask(PRESET) for _ in range(3)))
        boots = made.boots()
        later = await made.client.ask(PRESET)

        queue = made.run.studio.on_demand.queue()
        assert {answer.status_code for answer in (*first, later)} == {503}
        assert {answer.json()["error"]["code"] for answer in (*first, later)} == {"start-failed"}
        assert "KV" in later.json()["error"]["message"]
        assert later.headers["x-should-retry"] == "false"
        assert made.boots() == boots
        assert [one.preset for one in queue.failed] == [PRESET]
        await made.change(preset=PRESET, overrides={"fault": ""})
        assert (await made.client.ask(PRESET)).status_code == 200
        assert made.run.studio.on_demand.queue().failed == ()


async def test_a_stream_whose_start_fails_ends_with_the_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status is gone by then; the error event is not."""
    monkeypatch.setattr(arrivals, "COMMIT_S", 0.0)
    async with demanding(tmp_path, fault="refuse-kv") as made:
        answer = await made.client.ask(PRESET, stream=True)

    assert answer.status_code == 200
    assert error_of(answer.text)["code"] == "start-failed"


async def test_an_engine_s_own_error_ends_a_stream_that_began_early(
    made: Demanding, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first request after a boot may be wrong; its client has to hear it all the same."""
    monkeypatch.setattr(arrivals, "COMMIT_S", 0.0)

    async with made.client.http() as http:
        answer = await http.post(CHAT, json={"model": PRESET, "stream": True})

    assert answer.status_code == 200
    assert error_of(answer.text)["message"]


async def test_what_a_person_started_by_hand_and_did_not_list_stays(made: Demanding) -> None:
    """It could not come back by itself, so no request pushes it out."""
    await made.change(remove=OTHER)
    await made.run.studio.up(UpRequest(preset=OTHER))

    refused = await made.client.ask(PRESET)

    assert refused.status_code == 503
    assert "weir switch" in refused.json()["error"]["message"]
    assert made.preset == OTHER


async def test_the_list_of_models_shows_what_can_be_asked_for(made: Demanding) -> None:
    """A chat window offers what stands there, with the context that it would have."""
    before = await made.client.models()
    await made.client.ask(PRESET)
    after = await made.client.models()

    assert [one["id"] for one in before] == ["smollm2", "other-model"]
    assert before[1]["weir"] == {"preset": OTHER, "on_demand": True}
    assert before[1]["max_model_len"] == 2048
    assert [one["id"] for one in after] == ["smollm2", "other-model"]
    assert "weir" not in after[0]
    async with made.client.http() as http:
        shown = (await http.get(f"/v1/models/{NAMES[OTHER]}")).json()
        unknown = await http.post(CHAT, json={"model": "nobody", "messages": []})
    assert shown["id"] == NAMES[OTHER]
    assert unknown.status_code == 404
    assert made.boots() == 1


async def test_an_unknown_model_starts_nothing(made: Demanding) -> None:
    """Nor does a body that is no JSON, or an engine's route that names none."""
    async with made.client.http() as http:
        unknown = await http.post(CHAT, json={"model": "nobody", "messages": []})
        broken = await http.post(CHAT, content=b"{")
        form = await http.post("/v1/audio/transcriptions", content=b"x")

    assert unknown.status_code == 404
    assert (broken.status_code, form.status_code) == (503, 503)
    assert made.boots() == 0


async def test_the_queue_is_shown_and_announced(slow: Demanding) -> None:
    """Who waits, by key, and for what."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(slow.client.ask(PRESET, max_tokens=2))
        await slow.waiting(1)
        shown = slow.run.studio.status().queue
        await slow.until(EngineState.READY)

    (line,) = shown.presets
    assert (line.preset, line.served_name) == (PRESET, "smollm2")
    assert line.requests[0].key == "client"
    assert line.requests[0].route == CHAT
    assert shown.next is None or shown.next.reason in (Reason.WANTED, Reason.BOOTING)
    await until_async(
        lambda: bool(slow.run.of(QueueChanged)) and not slow.run.of(QueueChanged)[-1].queue.presets,
        "the empty queue",
    )
    assert any(event.queue.waiting == 1 for event in slow.run.of(QueueChanged))


async def test_an_end_of_the_service_starts_nothing_more(slow: Demanding) -> None:
    """`weir down` with somebody waiting must not load a model on its way out."""
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(slow.client.ask(PRESET))
        await slow.until(EngineState.STARTING)
        await slow.run.studio.end("the test")
        refused = asking

    assert refused.result().status_code == 503
    assert slow.state is EngineState.STOPPED
