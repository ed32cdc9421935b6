"""The words for standstills and crash loops: what, for how long, and what can be done."""

import msgspec
import pytest

from studio.domain.errors import ErrorInfo
from studio.domain.metrics import EngineSample
from studio.domain.remedies import RemedyKind
from studio.domain.server import EngineSnapshot, EngineState
from studio.serving import deaths
from studio.serving.liveness import Liveness

READY = EngineSnapshot(state=EngineState.READY)


def still(seconds: int, *, running: float = 3.0) -> Liveness:
    """Return the readings of an engine that stands still."""
    made = Liveness(30.0)
    for second in range(seconds + 1):
        made.read(float(second), EngineSample(running=running) if running else None, 0)
    return made


@pytest.mark.parametrize(("seconds", "is_shown"), [(9, False), (10, True), (300, True)])
def test_a_standstill_is_shown_once_it_is_worth_a_look(seconds: int, is_shown: bool) -> None:
    """Steps of a few seconds are normal, and a note that comes and goes frightens."""
    shown = deaths.with_standstill(READY, still(seconds))

    assert (shown.stalled_s is not None) is is_shown
    assert (shown.note is not None) is is_shown


def test_only_a_serving_engine_stands_still() -> None:
    """A boot is silent for minutes."""
    booting = EngineSnapshot(state=EngineState.STARTING)

    assert deaths.with_standstill(booting, still(100)) == booting


@pytest.mark.parametrize(
    ("running", "words"), [(1.0, "1 request"), (3.0, "3 requests"), (0.0, "not answered")]
)
def test_the_error_says_who_waits_and_how_long(running: float, words: str) -> None:
    """And offers a restart."""
    error = deaths.standstill("cpu-demo", still(45, running=running))

    assert error.code == "engine-stalled"
    assert words in error.message
    assert "45" in error.message
    assert "cpu-demo" in error.message
    assert [one.kind for one in error.remedies] == [RemedyKind.RESTART]
    assert error.data["stalled_s"] == 45.0


def test_who_ended_first_is_said_where_the_log_names_an_echo() -> None:
    """The Studio watches every process of the engine; a log does not see who was killed."""
    part = "EngineCore (process 12)"
    echo = ErrorInfo(code="engine-dead", message="A process of the engine died.")
    cause = ErrorInfo(code="kv-too-small", message="The pool is too small.")

    told = deaths.with_end(echo, part, ())

    assert told is not None
    assert told.message == f"A process of the engine died. The Studio saw {part} end first."
    assert deaths.with_end(echo, None, ()) == echo
    assert deaths.with_end(cause, part, ()) == cause
    assert deaths.with_end(None, part, ()) is None


def test_a_log_that_saw_a_worker_end_is_not_contradicted() -> None:
    """Of two ends in one instant the order is a guess; what an engine said is none."""
    echo = ErrorInfo(code="worker-crashed", message="The engine's process `VllmWorker-0` died.")

    assert deaths.with_end(echo, "EngineCore (process 12)", ()) == echo
    told = deaths.with_end(echo, "Worker_TP1 (process 13)", ())
    assert told is not None
    assert "Worker_TP1" in told.message


def test_an_end_that_no_line_explains_shows_the_last_lines() -> None:
    """Who is killed says nothing; what it did before is all the evidence there is."""
    mute = ErrorInfo(code="engine-killed", message="The engine was killed.")
    seen = msgspec.structs.replace(mute, evidence=("CUDA out of memory",))
    lines = ("INFO: ready", "INFO: 1 request")

    told = deaths.with_end(mute, None, lines)

    assert told is not None
    assert told.evidence == lines
    assert deaths.with_end(seen, None, lines) == seen


def test_the_brake_keeps_the_cause() -> None:
    """`died three times` alone helps nobody."""
    cause = ErrorInfo(
        code="kv-too-small", message="The pool is too small.", hint="Lower it.", evidence=("x",)
    )

    error = deaths.brake(cause)

    assert error.code == "engine-crash-loop"
    assert "3 times within 10 minutes" in error.message
    assert "The pool is too small." in error.message
    assert (error.hint, error.evidence) == ("Lower it.", ("x",))
    assert error.data["cause"] == "kv-too-small"
    assert error.exit_status == 5
