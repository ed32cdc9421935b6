"""Progress: few reports, true numbers."""

from studio.domain.events import Stage, StageProgress, StageState
from studio.host.meter import Meter


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def metered() -> tuple[Meter, Clock, list[StageProgress]]:
    """Return a meter, its clock and what it reports."""
    clock, reports = Clock(), list[StageProgress]()
    return Meter(Stage.RUNTIME, "vLLM", reports.append, clock=clock), clock, reports


def test_numbers_are_reported_five_times_a_second_at_most() -> None:
    """Thousands of reports a second would keep the terminal and the window busy."""
    meter, clock, reports = metered()
    meter.begin("Fetching", total=1000, unit="bytes")

    for done in range(1000):
        clock.now += 0.002
        meter.reach(done)
        meter.note(f"Fetching {done}")

    assert 8 <= len(reports) <= 11
    assert reports[-1].note is not None


def test_the_rate_is_that_of_the_last_seconds() -> None:
    """An average since the beginning hides that a download has stalled."""
    meter, clock, reports = metered()
    meter.begin("Fetching", total=10_000, unit="bytes")

    for _second in range(10):
        clock.now += 1
        meter.advance(100)
    for _second in range(10):
        clock.now += 1
        meter.advance(10)

    assert reports[10].rate == 100
    assert reports[-1].rate == 10
    assert (reports[-1].done, reports[-1].total, reports[-1].unit) == (1100, 10_000, "bytes")


def test_unknown_stays_unknown() -> None:
    """A part without numbers must not look like 0 of 0."""
    meter, _clock, reports = metered()

    meter.begin("Looking around")

    assert reports == [
        StageProgress(
            stage=Stage.RUNTIME, state=StageState.RUNNING, title="vLLM", note="Looking around"
        )
    ]


def test_progress_never_goes_back() -> None:
    """Counters of ended processes vanish; a bar that jumps back looks broken."""
    meter, clock, reports = metered()
    meter.begin("Compiling", unit="bytes")

    meter.reach(50)
    clock.now += 1
    meter.reach(20)
    meter.reach(60)

    assert [report.done for report in reports] == [0, 60]


def test_ends_are_reported_at_once() -> None:
    """Done, skipped and failed are what everybody waits for."""
    meter, _clock, reports = metered()

    meter.begin("Working")
    meter.finish("All here", skipped=True)
    meter.finish("Installed")
    meter.fail("The disk is full.")

    assert [report.state for report in reports[1:]] == [
        StageState.SKIPPED,
        StageState.DONE,
        StageState.FAILED,
    ]
    assert all(report.rate is None for report in reports)


def test_the_time_left_follows_from_the_rate() -> None:
    """Nobody should have to divide gigabytes by megabytes."""
    meter, clock, reports = metered()
    meter.begin("Fetching", total=1000, unit="bytes")
    assert reports[-1].left_s is None

    for _second in range(5):
        clock.now += 1
        meter.advance(100)

    assert reports[-1].left_s == 5.0
    meter.finish()
    assert reports[-1].left_s is None
