"""A whole run against a stand-in for the engine."""

import asyncio

import msgspec
import pytest

from studio.benchmark.load import Load, Room, Sizes
from studio.benchmark.runner import Ground, Runner
from studio.domain.bench import BenchKind, BenchRequest
from studio.domain.errors import BadInput, EngineFailed, EngineNotReady
from tests.benchmark.engines import Stand, ground, standing
from tests.benchmark.samples import LOAD
from tests.fakes.waiting import until_async

SMALL = Sizes(
    limit_s=60.0,
    decode_streams=(1, 4),
    decode_tokens=12,
    decode_rounds=2,
    prefill_tokens=(1_024,),
    copy_document_tokens=200,
    copy_tokens=20,
    turns=3,
    turns_document_tokens=300,
    turns_tokens=4,
)


def load(**changes: object) -> Load:
    """Return a small load with changes."""
    sizes = msgspec.structs.replace(SMALL, **changes)
    return msgspec.structs.replace(LOAD, quick=sizes, full=sizes)


def runner(found: Ground, request: BenchRequest | None = None, **changes: object) -> Runner:
    """Return a run that was not begun."""
    return Runner(found, load(**changes), request or BenchRequest(), salt="run")


async def test_every_part_is_measured_in_order() -> None:
    """The table that people see."""
    stand = Stand()
    async with standing(stand) as engine:
        run = runner(ground(engine, stand))
        await run.run()

    names = [part.name for part in run.parts]
    assert names == ["decode-1", "prefill-1k", "copy", "turns-first", "turns-later", "decode-4"]
    assert run.left_out == []
    assert run.done == 5
    four = run.parts[-1]
    assert four.requests == four.streams == 4
    assert four.generated_tokens == 48
    assert stand.most_at_once == 4
    assert not any(part.is_disturbed for part in run.parts)


async def test_tokens_a_step_and_its_time_are_the_engines() -> None:
    """Two tokens a step of 20 ms."""
    stand = Stand()
    async with standing(stand) as engine:
        run = runner(ground(engine, stand), BenchRequest(only=(BenchKind.DECODE,)))
        await run.run()

    assert run.parts[0].tokens_per_step == pytest.approx(2.0)
    assert run.parts[0].step_s == pytest.approx(0.02)


async def test_prompts_have_their_length_by_the_engines_count() -> None:
    """Within half a percent, with no tokenizer of our own."""
    stand = Stand()
    async with standing(stand) as engine:
        run = runner(ground(engine, stand), BenchRequest(only=(BenchKind.PREFILL,)))
        await run.run()

    assert run.parts[0].prompt_tokens == pytest.approx(1_024, rel=0.006)


async def test_an_engine_that_does_not_count_gets_prompts_by_what_it_said_of_the_first() -> None:
    """Its usage tells how many tokens a word has."""
    stand = Stand(counts=False)
    async with standing(stand) as engine:
        run = runner(ground(engine, stand), BenchRequest(only=(BenchKind.PREFILL,)))
        await run.run()

    assert run.parts[0].prompt_tokens == pytest.approx(1_024, rel=0.1)


async def test_only_turns_share_a_place_in_the_prefix_cache() -> None:
    """Everything else must be as if it had never been asked."""
    stand = Stand()
    async with standing(stand) as engine:
        await runner(ground(engine, stand)).run()

    salts = [str(body["cache_salt"]) for body in stand.asked]
    shared = {salt for salt in salts if salts.count(salt) > 1}
    assert len(shared) == 1
    assert salts.count(shared.pop()) == SMALL.turns
    assert all(salt.startswith("run-") for salt in salts)


async def test_two_runs_ask_the_same_under_other_salts() -> None:
    """Else the second one would be answered from the cache of the first."""
    first, second = Stand(), Stand()
    async with standing(first) as engine:
        await runner(ground(engine, first)).run()
    async with standing(second) as engine:
        await Runner(ground(engine, second), load(), BenchRequest(), salt="other").run()

    def texts(stand: Stand) -> list[object]:
        return [body["messages"] for body in stand.asked]

    assert texts(first) == texts(second)
    assert {str(b["cache_salt"]) for b in first.asked}.isdisjoint(
        str(b["cache_salt"]) for b in second.asked
    )


async def test_requests_of_clients_are_noticed() -> None:
    """A figure that was measured beside somebody else's request is not one of the engine."""
    stand = Stand()
    async with standing(stand) as engine:
        only = BenchRequest(only=(BenchKind.COPY,))
        run = runner(ground(engine, stand, others=lambda: True), only)
        await run.run()

    assert [part.is_disturbed for part in run.parts] == [True]


async def test_tokens_that_nobody_asked_for_here_are_noticed() -> None:
    """Clients of an adopted engine come past us."""
    stand = Stand(foreign=50)
    async with standing(stand) as engine:
        run = runner(ground(engine, stand), BenchRequest(only=(BenchKind.COPY,)))
        await run.run()

    assert run.parts[0].is_disturbed


async def test_a_run_ends_at_its_time_with_what_it_has() -> None:
    """`--quick` is a promise; the rest is named."""
    stand = Stand(hang_from=8)
    async with standing(stand) as engine:
        run = runner(ground(engine, stand), limit_s=1.5)
        await run.run()

    assert [part.name for part in run.parts] == ["decode-1"]
    assert len(run.left_out) == 4
    assert "it was not over after 2 s, when the run ends" in run.left_out[0]


async def test_an_engine_that_never_warms_up_is_told() -> None:
    """Nothing was measured, and why is said."""
    stand = Stand(hang_from=1)
    async with standing(stand) as engine:
        run = runner(ground(engine, stand), limit_s=0.3)
        await run.run()

    assert run.parts == []
    assert "too slow to warm up" in run.left_out[0]


async def test_a_part_that_would_take_longer_than_is_left_is_not_begun() -> None:
    """Half a measurement is none, and the next part may fit."""
    stand = Stand()
    clock = Clock()
    async with standing(stand) as engine:
        run = Runner(
            ground(engine, stand),
            load(decode_tokens=10, copy_tokens=10_000_000, decode_streams=(1,), turns_tokens=1),
            BenchRequest(only=(BenchKind.DECODE, BenchKind.COPY, BenchKind.TURNS)),
            salt="run",
            clock=clock,
        )
        clock.now_s = 40.0
        await run.run()

    assert "decode-1" in [part.name for part in run.parts]
    assert "turns-later" in [part.name for part in run.parts]
    assert run.left_out[0].startswith("Copying a text: it would have taken about ")


class Clock:
    """A clock that stands still unless it is set."""

    now_s = 0.0

    def __call__(self) -> float:
        """Return what it was set to."""
        return self.now_s


async def test_a_part_that_the_engine_refuses_is_left_out_and_the_rest_measured() -> None:
    """One request that is too much for an engine is no reason to know nothing."""

    def refuse(body: dict[str, object]) -> tuple[int, bytes] | None:
        return (400, b'{"error": {"message": "too long"}}') if body["max_tokens"] == 20 else None

    stand = Stand(refuse=refuse)
    async with standing(stand) as engine:
        run = runner(ground(engine, stand))
        await run.run()

    assert "copy" not in [part.name for part in run.parts]
    assert len(run.parts) == 5
    assert "too long" in run.left_out[0]


async def test_an_engine_that_fails_ends_the_run_with_its_own_error() -> None:
    """Not with a group of them; what was measured stays."""

    def refuse(body: dict[str, object]) -> tuple[int, bytes] | None:
        return (500, b"dead") if body["max_tokens"] == 20 else None

    stand = Stand(refuse=refuse)
    async with standing(stand) as engine:
        run = runner(ground(engine, stand))
        with pytest.raises(EngineFailed):
            await run.run()

    assert [part.name for part in run.parts] == ["decode-1", "prefill-1k"]


async def test_an_engine_that_goes_away_ends_the_run() -> None:
    """Four requests at once fail as one."""
    stand = Stand(hang_from=8)
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks, standing(stand) as engine:
        run = runner(ground(engine, stand), BenchRequest(only=(BenchKind.DECODE,)))

        async def running() -> None:
            with pytest.raises((EngineFailed, EngineNotReady)):
                await run.run()

        task = tasks.create_task(running())
        await until_async(lambda: len(stand.asked) >= 8, "requests under way")
        engine.upstream.cut_off_all()
        await task

    assert "decode-4" not in [part.name for part in run.parts]


async def test_nothing_that_has_room_is_an_error() -> None:
    """An empty table would look like a result."""
    stand = Stand()
    async with standing(stand) as engine:
        run = runner(ground(engine, stand, room=Room(max_model_len=100)))
        with pytest.raises(BadInput) as caught:
            await run.run()

    assert caught.value.code == "bench-no-room"
    assert len(caught.value.evidence) == 5


async def test_each_part_is_told_when_it_is_over() -> None:
    """What is kept then survives a kill."""
    stand, told = Stand(), []
    async with standing(stand) as engine:

        async def on_part() -> None:
            told.append(len(run.parts))

        run = Runner(ground(engine, stand), load(), BenchRequest(), salt="run", on_part=on_part)
        await run.run()

    assert told == [1, 2, 3, 4, 5, 6]
