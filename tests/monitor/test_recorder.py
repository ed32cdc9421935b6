"""Ticks in, a history out, and nothing that happens to the file reaches the service."""

from pathlib import Path

import pytest

from studio.domain.history import HistoryEventKind
from studio.domain.metrics import Tick
from studio.monitor import recorder as recorder_module
from studio.monitor.recorder import Recorder
from tests.monitor.history_samples import BEGIN


class Clock:
    """Time that a test moves; `epoch` can be set like a machine's clock."""

    def __init__(self) -> None:
        self.monotonic = 100.0
        self.epoch = float(BEGIN)

    def pass_s(self, seconds: float) -> None:
        """Let time pass."""
        self.monotonic += seconds
        self.epoch += seconds


class Recording:
    """A recorder that is fed one tick a second."""

    def __init__(self, path: Path) -> None:
        self.clock = Clock()
        self.recorder = Recorder(
            path, clock=lambda: self.clock.epoch, monotonic=lambda: self.clock.monotonic
        )

    def feed(self, seconds: int, *, every_s: float = 1.0, running: int | None = 1) -> None:
        """Tick for so long."""
        for _ in range(round(seconds / every_s)):
            self.recorder.tick(Tick(at=self.clock.epoch, running=running))
            self.clock.pass_s(every_s)

    async def points(self, back_s: float = 1_500) -> list[tuple[float, float | None]]:
        """Return what is known of `running`."""
        now = self.clock.epoch
        answer = await self.recorder.ask(("running",), now - back_s, now + 1, 2_000)
        return [(point[0], point[2]) for one in answer.series for point in one.points]

    async def events(self) -> list[str]:
        """Return the kinds of what happened."""
        answer = await self.recorder.ask(("running",), 0, self.clock.epoch + 10**9, 2)
        return [one.kind.value for one in answer.events]


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    """Return a recorder over a new file."""
    return Recording(tmp_path / "history.db")


async def test_every_second_is_kept(recording: Recording) -> None:
    """All but the newest, which may not be over."""
    recording.feed(100)

    assert [at for at, _ in await recording.points()] == [float(BEGIN + s) for s in range(99)]
    await recording.recorder.close()


async def test_what_is_known_at_the_end_is_kept(tmp_path: Path, recording: Recording) -> None:
    """A service that ends as it should loses nothing."""
    recording.feed(10)
    await recording.recorder.close()

    again = Recording(tmp_path / "history.db")
    again.clock.pass_s(20)
    assert len(await again.points()) == 10
    await again.recorder.close()


async def test_several_ticks_in_a_second_are_one_reading(recording: Recording) -> None:
    """With five ticks a second the smallest and the largest of them stay."""
    for value in (1, 5, 3, 1, 10):
        recording.recorder.tick(Tick(at=recording.clock.epoch, running=value))
        recording.clock.pass_s(0.2)
    recording.feed(1)

    now = recording.clock.epoch
    answer = await recording.recorder.ask(("running",), now - 10, now, 100)
    assert answer.series[0].points == ((float(BEGIN), 1, 4, 10),)
    await recording.recorder.close()


async def test_a_tick_that_wakes_a_little_early_leaves_no_gap(recording: Recording) -> None:
    """Timers wake some milliseconds before their second now and then."""
    for second in range(20):
        early = 0.004 if second % 3 == 0 else -0.003
        recording.recorder.tick(Tick(at=BEGIN + second - early, running=1))
        recording.clock.pass_s(1)

    points = await recording.points()
    assert len(points) == 19
    assert None not in [value for _, value in points]
    await recording.recorder.close()


async def test_a_clock_that_is_set_is_told(recording: Recording) -> None:
    """Forward leaves a gap, back writes anew; both stand among the events."""
    recording.feed(10)
    recording.clock.epoch += 500
    recording.feed(10)
    recording.clock.epoch -= 700
    recording.feed(10)

    assert await recording.events() == ["clock-stepped", "clock-stepped"]
    await recording.recorder.close()


async def test_a_disk_that_refuses_costs_what_is_older_than_ten_minutes(
    recording: Recording, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """And is told once, in the log and in the state; when there is room again it goes on."""
    blocked = Recording(tmp_path / "blocked" / "history.db")
    (tmp_path / "blocked").write_text("a file where the folder should be")
    for _ in range(5):
        blocked.feed(200)
        await blocked.recorder.flush()
    state = await blocked.recorder.state()
    assert state.note is not None
    assert "cannot be written" in state.note
    assert state.pending_s == 600
    assert len([one for one in caplog.records if "cannot be written" in one.message]) == 1

    (tmp_path / "blocked").unlink()
    blocked.clock.pass_s(60)
    blocked.feed(2)
    points = [at for at, value in await blocked.points() if value is not None]
    assert len(points) == 600
    assert (await blocked.recorder.state()).note is None
    await blocked.recorder.close()


async def test_a_damaged_file_is_told_as_an_event(tmp_path: Path) -> None:
    """Who misses last month's charts finds out why."""
    (tmp_path / "history.db").write_bytes(b"damage " * 1_000)
    recording = Recording(tmp_path / "history.db")
    await recording.recorder.open()
    recording.feed(5)

    assert "set-aside" in await recording.events()
    assert "could not be read" in ((await recording.recorder.state()).note or "")
    await recording.recorder.close()


async def test_events_are_kept_with_their_own_time(recording: Recording) -> None:
    """An alarm that was raised before it could be written."""
    recording.recorder.event(HistoryEventKind.ALARM, "spill-swap", "1.8 GiB.", at=BEGIN - 5.0)

    answer = await recording.recorder.ask(("running",), 0, recording.clock.epoch, 2)
    assert [(one.at, one.name, one.detail) for one in answer.events] == [
        (BEGIN - 5.0, "spill-swap", "1.8 GiB.")
    ]
    await recording.recorder.close()


async def test_an_export_of_everything_is_as_fine_as_all_of_it_is_kept(
    recording: Recording,
) -> None:
    """On the first day that is every second, not the minutes of a year."""
    recording.feed(100)

    page = await recording.recorder.page(("*",), 0, recording.clock.epoch, None)

    assert page.step_s == 1
    assert len(page.rows) == 99
    await recording.recorder.close()


async def test_the_state_says_how_much_is_kept(recording: Recording) -> None:
    """And since when."""
    recording.feed(30)
    await recording.recorder.flush()
    state = await recording.recorder.state()

    assert state.oldest_at == BEGIN
    assert state.series == 1
    assert state.bytes is not None
    assert 0 < state.bytes < state.most_bytes
    assert state.note is None
    await recording.recorder.close()


async def test_what_cannot_be_changed_is_none(tmp_path: Path) -> None:
    """A caller that keeps something beside the readings."""
    (tmp_path / "blocked").write_text("")
    blocked = Recorder(tmp_path / "blocked" / "history.db")

    assert await blocked.change(lambda connection: connection.total_changes) is None
    assert await blocked.read(lambda _connection: 1, 0) == 0
    await blocked.close()


def test_a_kill_costs_a_few_seconds_at_most() -> None:
    """What is not written yet is never older than this."""
    assert recorder_module.FLUSH_S <= 5
