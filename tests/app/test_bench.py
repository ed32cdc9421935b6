"""The bench over the fake engine: measured, kept, compared, ended in every way."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from studio.app import bench as bench_module
from studio.domain.bench import BenchAgainst, BenchKind, BenchReport, BenchRequest
from studio.domain.control import KeyRequest, UpRequest
from studio.domain.errors import Busy, EngineFailed, EngineNotReady, NotFound, StudioError
from studio.domain.server import EngineState
from tests.app.bench_samples import small_load
from tests.app.running import Running, fake_paths, running
from tests.fakes.catalogue import PRESET
from tests.fakes.waiting import until_async

DECODE = BenchRequest(only=(BenchKind.DECODE,))


@contextlib.asynccontextmanager
async def serving(folder: Path, **settings: str) -> AsyncIterator[Running]:
    """Yield a Studio that serves the fake engine, as fast as it can."""
    with fake_paths(folder, boot_s=0.05, tokens_per_s=0.0) as paths:
        small_load(paths.catalogue)
        async with running(paths) as made:
            await made.studio.up(UpRequest(preset=PRESET, overrides=settings))
            yield made


@contextlib.asynccontextmanager
async def hanging(
    folder: Path, request: BenchRequest = DECODE
) -> AsyncIterator[tuple[Running, "asyncio.Task[BenchReport | StudioError]"]]:
    """Yield a Studio whose bench has measured a part and waits for the next one for ever."""
    async with serving(folder, fault="stall-after=5") as made, asyncio.TaskGroup() as tasks:
        task = tasks.create_task(outcome(made, request))
        await until_async(lambda: _done(made) == 1, "the first part")
        yield made, task
        task.cancel()


async def outcome(made: Running, request: BenchRequest) -> BenchReport | StudioError:
    """Return how a run ends; an error would end the group that it runs in."""
    try:
        return await made.studio.bench.run(request)
    except StudioError as error:
        return error


def _done(made: Running) -> int:
    progress = made.studio.bench.state().progress
    return progress.done if progress is not None else 0


async def test_a_run_is_measured_kept_and_compared_with_the_one_before(tmp_path: Path) -> None:
    """The whole point."""
    async with serving(tmp_path) as made:
        first = await made.studio.bench.run(BenchRequest())
        second = await made.studio.bench.run(BenchRequest())

        assert [part.name for part in first.result.parts] == [
            "decode-1", "prefill-1k", "copy", "turns-first", "turns-later", "decode-2",
        ]  # fmt: skip
        assert first.result.partial is None
        assert first.result.left_out == ()
        assert not first.result.is_disturbed
        assert first.result.preset == PRESET
        assert first.result.runtime_id
        assert first.result.pool_tokens == 23_296
        assert first.result.processor
        assert first.result.cards_key == "cpu"
        assert first.path is not None
        assert made.paths.bench.name in first.path
        assert first.comparisons == ()
        [comparison] = second.comparisons
        assert comparison.against is BenchAgainst.EARLIER
        assert comparison.other == first.result.id
        assert len(comparison.differences) >= 5
        assert not made.studio.bench.is_running


async def test_prompts_come_fresh_and_turns_come_from_the_cache(tmp_path: Path) -> None:
    """A second run must not be faster for having been asked before."""
    async with serving(tmp_path) as made:
        await made.studio.bench.run(BenchRequest())
        again = await made.studio.bench.run(BenchRequest())

    parts = {part.name: part for part in again.result.parts}
    assert parts["prefill-1k"].prompt_tokens == pytest.approx(1_024, rel=0.01)
    assert parts["prefill-1k"].cached_tokens == 0
    assert parts["turns-first"].cached_tokens == 0
    assert (parts["turns-later"].cached_tokens or 0) >= 256
    assert [part.note for part in again.result.parts if "cache" in (part.note or "")] == []


async def test_kept_runs_are_listed_shown_compared_and_removed(tmp_path: Path) -> None:
    """Also without an engine."""
    async with serving(tmp_path) as made:
        bench = made.studio.bench
        first = (await bench.run(DECODE)).result
        second = (await bench.run(DECODE)).result
        await made.studio.stop()

        listed = await bench.runs(None)
        assert [one.id for one in listed.runs] == [first.id, second.id]
        assert (await bench.runs("other")).runs == ()
        assert (await bench.one("last")).result == second
        assert (await bench.compare(second.id, first.id)).other == first.id
        assert (await bench.remove(first.id)).ids == (first.id,)
        with pytest.raises(NotFound):
            await bench.one(first.id)


async def test_without_an_engine_there_is_nothing_to_measure(tmp_path: Path) -> None:
    """And the way out is said."""
    with fake_paths(tmp_path) as paths:
        async with running(paths) as made:
            with pytest.raises(EngineNotReady) as caught:
                await made.studio.bench.run(BenchRequest())

    assert caught.value.code == "bench-engine-not-serving"


async def test_two_runs_at_once_would_measure_each_other(tmp_path: Path) -> None:
    """So the second is refused."""
    async with hanging(tmp_path) as (made, _task):
        with pytest.raises(Busy) as caught:
            await made.studio.bench.run(DECODE)

    assert caught.value.code == "bench-running"


async def test_a_stopped_run_keeps_what_it_has(tmp_path: Path) -> None:
    """Ten minutes of measuring are not thrown away for a Ctrl+C."""
    async with hanging(tmp_path) as (made, task):
        stopped = await made.studio.bench.stop()
        report = await task

        assert isinstance(report, BenchReport)
        assert stopped.was_running
        assert report.result.partial == "It was stopped."
        assert [part.name for part in report.result.parts] == ["decode-1"]
        assert (await made.studio.bench.one("last")).result == report.result
        assert not (await made.studio.bench.stop()).was_running
        assert made.studio.bench.state().progress is None


async def test_a_watched_run_ends_when_nobody_watches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that was killed must not leave a loaded engine behind."""
    monkeypatch.setattr(bench_module, "WATCHED_S", 0.3)
    request = BenchRequest(only=(BenchKind.DECODE,), is_watched=True)
    async with hanging(tmp_path, request) as (_made, task):
        report = await task

    assert isinstance(report, BenchReport)
    assert report.result.partial == "Nobody watched it any more."


async def test_an_engine_that_dies_is_told_with_its_cause(tmp_path: Path) -> None:
    """`connection closed` is no cause; what was measured stays."""
    async with hanging(tmp_path) as (made, task):
        pid = made.studio.engine().pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        error = await task

        assert isinstance(error, EngineFailed)
        assert error.code == "bench-engine-lost"
        assert "Decode, 2 streams" in error.message
        assert "weir bench show last" in (error.hint or "")
        kept = (await made.studio.bench.one("last")).result
        assert error.data["run"] == kept.id
        assert kept.partial == error.message


async def test_an_engine_that_is_stopped_is_no_death(tmp_path: Path) -> None:
    """Somebody wanted the card back."""
    async with hanging(tmp_path) as (made, task):
        await made.studio.stop()
        error = await task

        assert isinstance(error, EngineNotReady)
        assert error.code == "bench-engine-stopped"
        assert made.studio.engine().state is EngineState.STOPPED


async def test_a_request_of_a_client_marks_the_run(tmp_path: Path) -> None:
    """Whoever reads the figures later was not there."""
    async with serving(tmp_path, tokens_per_s="200") as made, asyncio.TaskGroup() as tasks:
        key = await made.studio.keys.create(KeyRequest(name="somebody"))
        base_url = made.studio.gateway().base_url
        body = {"messages": [{"role": "user", "content": "Go on."}], "max_tokens": 1_500}

        async def ask() -> None:
            async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
                await client.post(
                    f"{base_url}/chat/completions",
                    json={**body, "ignore_eos": True},
                    headers={"Authorization": f"Bearer {key.key}"},
                )

        asking = tasks.create_task(ask())
        await until_async(lambda: made.parts.gateway.counters.in_flight > 0, "a request")
        report = await made.studio.bench.run(DECODE)
        asking.cancel()

    assert report.result.is_disturbed
    assert "Other requests" in " ".join(report.result.notes)


async def test_a_run_that_cannot_be_kept_is_shown_all_the_same(tmp_path: Path) -> None:
    """The figures are there; only the file is not."""
    async with serving(tmp_path) as made:
        made.paths.bench.write_text("in the way", encoding="utf-8")
        report = await made.studio.bench.run(DECODE)

    assert report.path is None
    assert len(report.result.parts) == 2
    assert "This run is not kept" in " ".join(report.result.notes)


async def test_a_service_that_is_killed_leaves_what_was_measured(tmp_path: Path) -> None:
    """Each part is written when it is over."""
    async with hanging(tmp_path) as (made, _task):
        [kept] = (await made.studio.bench.runs(None)).runs
        result = (await made.studio.bench.one(kept.id)).result

    assert kept.is_partial
    assert [part.name for part in result.parts] == ["decode-1"]
    assert result.partial == "The service ended before it was over."
