"""What ended a run, and what is kept of it."""

import datetime
from typing import Any

import pytest

from studio.app.bench_cards import CardWatch
from studio.app.bench_run import BenchRun, explained
from studio.benchmark.answer import Engine
from studio.benchmark.load import Room
from studio.benchmark.runner import Ground, Runner
from studio.domain.bench import BenchRequest
from studio.domain.boots import BootOutcome, BootRecord
from studio.domain.cards import CardSample
from studio.domain.errors import BadInput, EngineFailed, ErrorInfo, StudioError
from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.metrics import Tick
from studio.domain.remedies import Badge
from studio.domain.server import AdoptedInfo, EngineSnapshot, EngineState
from studio.host.http_client import Upstream
from tests.benchmark.samples import LOAD, part

READY = EngineSnapshot(
    state=EngineState.READY, preset="p", served_name="m", started_at=1.0, runtime="r"
)
CUT = EngineFailed("engine-cut-off", "The engine closed the connection.")


async def _nothing() -> None:
    return None


def run(engine: EngineSnapshot = READY, **more: Any) -> BenchRun:
    """Return a run that was begun."""
    ground = Ground(
        engine=Engine(upstream=Upstream(port=1), key=None, served_name="m"),
        room=Room(),
        sample=_nothing,
        others=lambda: False,
    )
    known: dict[str, Any] = {
        "id": "20261129-100000",
        "at": datetime.datetime(2026, 11, 29, 10, tzinfo=datetime.UTC),
        "request": BenchRequest(),
        "runner": Runner(ground, LOAD, BenchRequest(), salt="s"),
        "watch": CardWatch([]),
        "engine": engine,
        "host": HostSnapshot(system="linux", machine="x86_64", os_name="Debian"),
        "boot": None,
        "load": LOAD,
        "asked_s": 0.0,
    }
    return BenchRun(**{**known, **more})


async def why(error: StudioError, after: EngineSnapshot) -> StudioError:
    """Return what a run says that ended with `error`, with the engine as it is after."""
    return await explained(run(), error, lambda: after)


async def test_a_death_is_told_with_the_supervisors_words() -> None:
    """It has read the log."""
    problem = ErrorInfo(code="oom", message="The card is full.", evidence=("CUDA out of memory",))
    failed = EngineSnapshot(state=EngineState.FAILED, error=problem)

    error = await why(CUT, failed)

    assert (error.code, error.evidence) == ("bench-engine-lost", problem.evidence)
    assert error.message.endswith("The card is full.")


async def test_an_engine_that_is_back_already_was_dead_all_the_same() -> None:
    """A restart can be faster than the question."""
    back = EngineSnapshot(
        state=EngineState.READY, started_at=2.0, restarts=1, died_of="It was killed."
    )

    error = await why(CUT, back)

    assert error.code == "bench-engine-lost"
    assert "It was killed." in error.message


async def test_a_death_is_waited_for_while_what_is_left_may_still_speak() -> None:
    """On its way down a dead engine looks like one that is stopped."""
    ways = [
        READY,
        EngineSnapshot(state=EngineState.STOPPING, started_at=1.0),
        EngineSnapshot(state=EngineState.BACKING_OFF, died_of="It was killed."),
    ]

    error = await explained(run(), CUT, lambda: ways.pop(0) if len(ways) > 1 else ways[0])

    assert error.code == "bench-engine-lost"


async def test_a_stop_is_no_death() -> None:
    """Without a word about remedies."""
    error = await why(CUT, EngineSnapshot())

    assert error.code == "bench-engine-stopped"
    assert "weir up" in (error.hint or "")


async def test_an_engine_that_is_still_there_gets_its_own_error_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A connection may break without a death."""
    monkeypatch.setattr("studio.app.bench_run._CAUSE_S", 0.0)

    assert await why(CUT, READY) is CUT


async def test_other_errors_stay_as_they_are() -> None:
    """A refusal is no death."""
    for error in (BadInput("bench-no-room", "No."), EngineFailed("bench-refused", "No.")):
        assert await why(error, EngineSnapshot()) is error


def test_what_has_to_be_known_of_the_figures_is_noted() -> None:
    """Slow paths, held-back cards, others."""
    badge = Badge(code="eager", title="Eager mode", cost="twice slower", evidence="a line")
    watch = CardWatch([Gpu(index=0, name="card")])
    watch.take(Tick(at=1.0, cards=(CardSample(index=0, name="card", throttle=("hw-slowdown",)),)))
    begun = run(EngineSnapshot(state=EngineState.READY, badges=(badge,)), watch=watch)
    begun.runner.parts.append(part(is_disturbed=True))

    notes = begun.result(None).notes

    assert notes[0] == "Eager mode: twice slower."
    assert "hw-slowdown" in notes[1]
    assert "Other requests" in notes[2]


def test_a_run_of_ones_own_engine_names_what_its_boot_did() -> None:
    """So that two runs of other settings are not taken for alike."""
    boot = BootRecord(
        at="x",
        preset="p",
        runtime="r",
        runtime_id="i",
        cards="GPU-1",
        outcome=BootOutcome.SERVED,
        settings={"max_num_seqs": 4},
    )

    result = run(boot=boot).result(None)

    assert result.cards_key == "GPU-1"
    assert result.settings == {"max_num_seqs": 4}
    assert result.preset_digest is None
    assert run().result(None).cards_key == "unknown"


def test_an_adopted_engine_says_nothing_of_this_machines_cards() -> None:
    """It may stand in another room."""
    adopted = AdoptedInfo(name="lab", url="http://10.0.0.7:8000")
    result = run(EngineSnapshot(state=EngineState.ADOPTED, adopted=adopted)).result(None)

    assert result.is_adopted
    assert result.preset == "lab"
    assert result.cards_key == "adopted http://10.0.0.7:8000"
    assert result.processor is None


def test_the_first_reason_is_the_one_that_is_kept() -> None:
    """Ctrl+C of somebody who then goes away."""
    begun = run()
    begun.end("first")
    begun.end("second")

    assert begun.partial == "first"
