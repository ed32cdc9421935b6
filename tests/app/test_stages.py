"""Stages: what was announced last is what a late listener sees."""

import pytest

from studio.app.stages import Stages
from studio.domain.errors import ErrorInfo
from studio.domain.events import Event, Stage, StageProgress, StageState
from studio.domain.server import EngineSnapshot, EngineState


def test_stages_keep_the_newest_progress_in_order() -> None:
    """A window opened in the middle of an install must show where it is."""
    heard: list[Event] = []
    stages = Stages(heard.append)

    stages.begin(Stage.DETECT)
    stages.end(Stage.DETECT, "two cores")
    stages.end(Stage.RUNTIME, "installed", skipped=True)
    stages.begin(Stage.MODEL)

    assert [(p.stage, p.state) for p in stages.now] == [
        (Stage.DETECT, StageState.DONE),
        (Stage.RUNTIME, StageState.SKIPPED),
        (Stage.MODEL, StageState.RUNNING),
    ]
    assert heard[-1] == stages.now[-1]
    assert all(progress.of_up for progress in stages.now)


def test_an_end_fills_the_bar() -> None:
    """99 % that is finished looks broken."""
    stages = Stages(lambda _event: None)
    stages.report(
        StageProgress(
            stage=Stage.RUNTIME, state=StageState.RUNNING, title="Packages", done=98, total=100
        )
    )

    stages.end(Stage.RUNTIME)

    assert (stages.now[0].done, stages.now[0].total) == (100, 100)


def test_a_failure_marks_the_stage_that_was_running() -> None:
    """The person sees which stage it was."""
    stages = Stages(lambda _event: None)
    stages.end(Stage.DETECT)
    stages.begin(Stage.RUNTIME)

    stages.fail("No network.")

    assert stages.now[0].state is StageState.DONE
    assert (stages.now[1].state, stages.now[1].note) == (StageState.FAILED, "No network.")


@pytest.mark.parametrize(
    ("engine", "state", "note"),
    [
        (EngineSnapshot(state=EngineState.READY, boot_s=4.0), StageState.DONE, "ready after 4.0 s"),
        (
            EngineSnapshot(state=EngineState.FAILED, error=ErrorInfo(code="x", message="It died.")),
            StageState.FAILED,
            "It died.",
        ),
        (EngineSnapshot(state=EngineState.STOPPED), StageState.FAILED, "stopped"),
        (EngineSnapshot(state=EngineState.BACKING_OFF), StageState.RUNNING, None),
    ],
)
def test_a_boot_that_nobody_asked_for_ends_with_the_engine(
    engine: EngineSnapshot, state: StageState, note: str | None
) -> None:
    """A restart after a death has no command that ends its stage, and `ready` is no boot."""
    stages = Stages(lambda _event: None)
    stages.settle(engine)
    assert stages.now == ()
    stages.begin(Stage.BOOT)

    stages.settle(engine)

    assert (stages.now[0].state, stages.now[0].note) == (state, note)
