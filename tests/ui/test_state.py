"""Folding answers and events into what the window knows."""

import msgspec

from studio.domain.errors import ErrorInfo
from studio.domain.events import (
    EngineChanged,
    GatewayChanged,
    KeysChanged,
    Stage,
    StageProgress,
    StageState,
    Ticked,
    UpFinished,
)
from studio.domain.server import EngineSnapshot, EngineState
from studio.ui.state import Action, Known, elapsed_s, fold, is_busy, is_under_way, with_problem
from tests.ui.fake_service import BASE_URL, BOOT_FAILED, PORT_TAKEN, READY, booting, tick


def stage(which: Stage, state: StageState) -> StageProgress:
    """Return a stage without numbers."""
    return StageProgress(of_up=True, stage=which, state=state, title="")


def test_stages_replace_their_own_news_and_keep_their_order() -> None:
    """A stage that is announced ten times is one row."""
    known = Known()
    for news in (
        stage(Stage.DETECT, StageState.RUNNING),
        stage(Stage.DETECT, StageState.DONE),
        stage(Stage.RUNTIME, StageState.RUNNING),
        stage(Stage.RUNTIME, StageState.DONE),
    ):
        known = fold(known, news, 0.0)

    assert [(item.stage, item.state) for item in known.stages] == [
        (Stage.DETECT, StageState.DONE),
        (Stage.RUNTIME, StageState.DONE),
    ]


def test_a_new_attempt_clears_stages_and_problem_of_the_last_one() -> None:
    """Old ticks beside new work would be a lie."""
    known = Known(stages=(stage(Stage.BOOT, StageState.FAILED),), problem=BOOT_FAILED)

    known = fold(known, stage(Stage.DETECT, StageState.RUNNING), 0.0)

    assert [item.stage for item in known.stages] == [Stage.DETECT]
    assert known.problem is None


def test_an_end_on_purpose_is_no_problem() -> None:
    """Neither Stop nor Ctrl+C in a terminal is a failure."""
    interrupted = ErrorInfo(code="interrupted", message="Interrupted.", exit_status=130)

    assert with_problem(Known(), interrupted).problem is None
    assert with_problem(Known(stop_asked=True), BOOT_FAILED).problem is None
    assert with_problem(Known(), BOOT_FAILED).problem is BOOT_FAILED


def test_a_problem_stays_while_the_engine_that_ran_before_still_runs() -> None:
    """A switch that met a taken port must not lose its card to the next engine event."""
    known = Known(engine=READY, problem=PORT_TAKEN)

    assert fold(known, EngineChanged(engine=READY), 0.0).problem is PORT_TAKEN
    assert fold(Known(problem=PORT_TAKEN), EngineChanged(engine=READY), 0.0).problem is None


def test_every_event_lands_where_it_belongs() -> None:
    """What is not folded is not shown."""
    news = tick(3)

    assert fold(Known(), Ticked(tick=news), 0.0).tick is news
    assert fold(Known(), GatewayChanged(base_url=BASE_URL), 0.0).gateway.base_url == BASE_URL
    assert fold(Known(), UpFinished(preset="a", error=PORT_TAKEN), 0.0).problem is PORT_TAKEN
    assert fold(Known(), KeysChanged(), 0.0) == Known()


def test_elapsed_goes_on_between_events_while_it_boots_and_not_after() -> None:
    """The service speaks per phase; the seconds run meanwhile."""
    boots = Known(engine=booting(2, elapsed_s=10.0), engine_at_s=100.0)
    done = msgspec.structs.replace(boots, engine=READY)

    assert elapsed_s(boots, 103.5) == 13.5
    assert elapsed_s(boots, 99.0) == 10.0
    assert elapsed_s(done, 500.0) == READY.elapsed_s
    assert elapsed_s(Known(), 5.0) is None


def test_an_up_that_another_client_asked_for_is_under_way_until_it_ends() -> None:
    """While a terminal installs, the engine says stopped; Start here would only be refused."""
    known = fold(Known(), stage(Stage.DETECT, StageState.DONE), 0.0)
    known = fold(known, stage(Stage.RUNTIME, StageState.RUNNING), 0.0)
    assert is_under_way(known)
    assert is_busy(known)

    known = fold(known, UpFinished(preset="a", error=PORT_TAKEN), 0.0)

    assert not is_busy(known)
    assert [item.state for item in known.stages] == [StageState.DONE, StageState.FAILED]


def test_a_runtime_that_is_installed_on_its_own_is_no_start() -> None:
    """Stop would end the engine, and not it; the end of a start does not end it either."""
    alone = StageProgress(stage=Stage.RUNTIME, state=StageState.RUNNING, title="B", runtime="b")
    known = fold(Known(), alone, 0.0)
    assert not is_under_way(known)
    assert not is_busy(known)

    known = fold(known, stage(Stage.RUNTIME, StageState.RUNNING), 0.0)
    assert is_under_way(known)
    assert alone in known.stages
    known = fold(known, UpFinished(preset="a"), 0.0)

    assert not is_busy(known)
    assert alone in known.stages


def test_busy_means_under_way_or_asked_for() -> None:
    """Start must not be pressed twice in the moment before the first event."""
    assert not is_busy(Known())
    assert not is_busy(Known(pending=frozenset({Action.LIST_KEYS})))
    assert is_busy(Known(pending=frozenset({Action.UP})))
    assert is_busy(Known(engine=EngineSnapshot(state=EngineState.DRAINING)))
