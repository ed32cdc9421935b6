"""What somebody waits for: seen in the progress of stages, and forgotten when it is silent."""

import msgspec

from studio.app.urgent import Urgent
from studio.domain.downloads import DownloadKind
from studio.domain.events import InstallStep, Stage, StageProgress, StageState

FETCHING = StageProgress(
    stage=Stage.RUNTIME, state=StageState.RUNNING, title="A runtime", note="Fetching CPython",
    step=InstallStep.FETCH.value, done=5.0, total=10.0, unit="bytes", rate=1.0,
)  # fmt: skip


def test_an_installation_that_fetches_stands_in_the_list() -> None:
    """With its figures, and first."""
    urgent = Urgent()

    assert urgent.hear(FETCHING, 0.0)
    (one,) = urgent.infos()
    assert (one.kind, one.title, one.done_bytes, one.left_s) == (
        DownloadKind.RUNTIME, "A runtime", 5, 5.0,
    )  # fmt: skip
    assert one.is_first
    assert not one.can_change


def test_what_only_reads_or_compiles_holds_nobody_up() -> None:
    """Reading back a runtime takes minutes and no byte of the line."""
    urgent = Urgent()
    reading = msgspec.structs.replace(FETCHING, step=None, note="Reading every file")

    assert not urgent.hear(reading, 0.0)
    assert not urgent.is_any


def test_the_next_step_lets_the_others_go_on() -> None:
    """Unpacking needs no line either."""
    urgent = Urgent()
    urgent.hear(FETCHING, 0.0)

    patches = msgspec.structs.replace(FETCHING, step=InstallStep.PATCHES.value, note="Applying")
    assert urgent.hear(patches, 1.0)
    assert not urgent.is_any


def test_the_model_of_a_start_counts_too() -> None:
    """It is fetched by its own way where a preset says so."""
    urgent = Urgent()
    model = msgspec.structs.replace(FETCHING, stage=Stage.MODEL, step=None, note="Fetching weights")

    urgent.hear(model, 0.0)

    assert [one.kind for one in urgent.infos()] == [DownloadKind.MODEL]


def test_who_says_nothing_for_long_holds_nobody_up() -> None:
    """Its process may have died."""
    urgent = Urgent()
    urgent.hear(FETCHING, 0.0)

    assert not urgent.forget_quiet(29.0)
    assert urgent.forget_quiet(31.0)
    assert not urgent.is_any
