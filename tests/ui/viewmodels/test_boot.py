"""Stages and the boot's timeline."""

from collections.abc import Sequence

import msgspec
import pytest

from studio.domain.events import Stage, StageProgress, StageState
from studio.domain.server import EngineSnapshot, EngineState
from studio.ui.state import Known, Link
from studio.ui.viewmodels.boot import StageView, boot_view
from studio.ui.viewmodels.words import Shape
from tests.ui.fake_service import booting


def only(**fields: object) -> StageView:
    """Return the view of one runtime stage with `fields`."""
    progress = StageProgress(
        of_up=True, stage=Stage.RUNTIME, state=StageState.RUNNING, title="Install"
    )
    known = Known(stages=(msgspec.structs.replace(progress, **fields),))
    return one(boot_view(known, 0.0).stages, Stage.RUNTIME)


def one(stages: Sequence[StageView], wanted: Stage) -> StageView:
    """Return the view of one stage."""
    return next(view for view in stages if view.stage is wanted)


def test_all_five_stages_are_there_from_the_start() -> None:
    """Who waits wants to see how much is still to come."""
    stages = boot_view(Known(), 0.0).stages

    assert [stage.stage for stage in stages] == list(Stage)
    assert {stage.word for stage in stages} == {"Waits"}


@pytest.mark.parametrize(
    ("fields", "amount", "rate", "share"),
    [
        (
            {"done": 100 << 20, "total": 400 << 20, "unit": "bytes", "rate": 20 << 20},
            "100.0 MiB of 400.0 MiB",
            "20.0 MiB/s",
            0.25,
        ),
        ({"done": 12 << 20, "unit": "bytes"}, "12.0 MiB of –", "–/s", None),
        ({"done": 12, "total": 84, "unit": "packages"}, "12 of 84 packages", "–/s", 1 / 7),
        ({"done": 30.0, "total": 60.0, "unit": "s"}, "30.0 s of 1 min 00 s", "", 0.5),
        ({"done": 5, "total": 0, "unit": "bytes"}, "5 B of 0 B", "–/s", None),
        ({"done": 9, "total": 3, "unit": "bytes"}, "9 B of 3 B", "–/s", 1.0),
        ({}, "", "", None),
    ],
)
def test_progress_says_what_is_known_and_dashes_what_is_not(
    fields: dict[str, object], amount: str, rate: str, share: float | None
) -> None:
    """A made-up end is worse than none."""
    view = only(**fields)

    assert (view.amount, view.rate) == (amount, rate)
    assert view.share == pytest.approx(share) if share is not None else view.share is None


def test_a_finished_stage_is_a_tick_and_its_amount_alone() -> None:
    """`613 MB of 613 MB` says one thing twice."""
    view = only(state=StageState.DONE, done=5 << 20, total=5 << 20, unit="bytes", rate=1.0)

    assert view.shape is Shape.TICK
    assert view.amount == "5.0 MiB"
    assert view.rate == ""
    assert only(state=StageState.SKIPPED).word == "Already here"


def test_the_timeline_runs_on_between_events() -> None:
    """Phases end when the engine says so; the running one grows."""
    known = Known(link=Link.LIVE, engine=booting(4, elapsed_s=30.0), engine_at_s=5.0)

    timeline = boot_view(known, 7.0).timeline

    assert timeline is not None
    assert timeline.elapsed == "32.0 s"
    assert timeline.forecast == "forecast 50.2 s"
    assert timeline.span_s == 50.2
    assert [phase.running for phase in timeline.phases] == [False, False, False, True]
    assert timeline.phases[-1].ended_s == 32.0
    assert timeline.phases[0].duration == "9.1 s"


def test_a_boot_over_its_forecast_says_by_how_much() -> None:
    """Then one wants to know whether to worry."""
    known = Known(engine=booting(7, elapsed_s=70.2))

    timeline = boot_view(known, 0.0).timeline

    assert timeline is not None
    assert timeline.forecast == "20.0 s over the forecast of 50.2 s"
    assert timeline.span_s == 70.2


def test_without_a_forecast_none_is_made_up() -> None:
    """The first boot of a preset has no history."""
    known = Known(engine=booting(2, elapsed_s=10.0, expected_s=None))

    timeline = boot_view(known, 0.0).timeline

    assert timeline is not None
    assert timeline.forecast == "No forecast: this preset has not booted here yet"


def test_the_boot_stage_fills_along_its_forecast() -> None:
    """The one bar whose end is known from history only."""
    boot = StageProgress(of_up=True, stage=Stage.BOOT, state=StageState.RUNNING, title="Boot")
    known = Known(stages=(boot,), engine=booting(4, elapsed_s=25.1))
    unknown = Known(stages=(boot,), engine=booting(4, elapsed_s=25.1, expected_s=None))

    assert one(boot_view(known, 0.0).stages, Stage.BOOT).share == pytest.approx(0.5)
    assert one(boot_view(unknown, 0.0).stages, Stage.BOOT).share is None


def test_the_phase_says_its_own_share_where_the_engine_does() -> None:
    """Loading weights is the long one."""
    engine = msgspec.structs.replace(booting(4, elapsed_s=30.0), phase_share=0.42)

    timeline = boot_view(Known(engine=engine), 0.0).timeline

    assert timeline is not None
    assert timeline.now == "Loading weights, 42 %"


def test_the_services_sentence_stands_above_the_timeline() -> None:
    """It says how long the rest takes, and whether that is usual."""
    note = "about 25 s left: loading weights, 9.00 GiB of 18.00 GiB (50 %)"
    engine = msgspec.structs.replace(booting(4, elapsed_s=30.0), phase_share=0.5, note=note)

    timeline = boot_view(Known(engine=engine), 0.0).timeline

    assert timeline is not None
    assert timeline.now == f"A{note[1:]}"


def test_the_heading_says_which_way_it_goes() -> None:
    """Stopping is no getting ready."""
    stopping = EngineSnapshot(state=EngineState.STOPPING)
    waiting = EngineSnapshot(state=EngineState.BACKING_OFF)

    assert boot_view(Known(engine=stopping), 0.0).heading == "Stopping the engine"
    assert boot_view(Known(engine=waiting), 0.0).heading == "Waiting before the next try"
    assert boot_view(Known(), 0.0).heading == "Getting ready"


def test_a_boot_that_is_late_is_not_so_and_so_long_of_a_dash() -> None:
    """“1 min 02 s of –” says nothing that “1 min 02 s” does not."""
    assert only(done=62.0, unit="s").amount == "1 min 02 s"
    assert only(done=62.0, unit="bytes").amount == "62 B of –"
