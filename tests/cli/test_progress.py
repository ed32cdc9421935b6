"""Stages as bars and as lines."""

import io
import re

import msgspec

from studio.cli.console import Console
from studio.cli.progress import Bars, Lines, stages_for
from studio.domain.events import Stage, StageProgress, StageState


def _progress(done: float, **fields: object) -> StageProgress:
    running = StageProgress(
        stage=Stage.RUNTIME,
        state=StageState.RUNNING,
        title="Install the runtime",
        done=done,
        total=1024.0,
        unit="bytes",
    )
    return msgspec.structs.replace(running, **fields)


def _lines() -> tuple[io.StringIO, dict[str, float], Lines]:
    err, now = io.StringIO(), {"s": 0.0}
    console = Console(io.StringIO(), err, environ={})
    return err, now, Lines(console, clock=lambda: now["s"])


def test_a_stage_speaks_at_most_every_two_seconds() -> None:
    """A log file of an install must stay readable."""
    err, now, lines = _lines()

    for step in range(100):
        now["s"] = step * 0.1
        lines.show(_progress(float(step)))

    assert len(err.getvalue().splitlines()) == 5


def test_a_change_of_state_is_told_at_once() -> None:
    """The end of a stage is what the reader waits for."""
    err, _, lines = _lines()

    lines.show(_progress(1.0))
    lines.show(_progress(1024.0, state=StageState.DONE))

    assert err.getvalue().splitlines() == [
        "Install the runtime: 1 B of 1.0 KiB",
        "Install the runtime: done · 1.0 KiB of 1.0 KiB",
    ]


def test_nothing_new_is_not_said_again() -> None:
    """A stalled download shows by silence, not by a wall of equal lines."""
    err, now, lines = _lines()

    for step in range(10):
        now["s"] = step * 10.0
        lines.show(_progress(1.0))

    assert len(err.getvalue().splitlines()) == 1


def test_one_stage_does_not_silence_another() -> None:
    """The limit is for each stage by itself."""
    err, _, lines = _lines()

    lines.show(_progress(1.0))
    lines.show(_progress(1.0, stage=Stage.MODEL, title="Get the model"))

    assert "Get the model" in err.getvalue()


def test_notes_of_others_cannot_move_the_cursor() -> None:
    """A note may quote a file name from the network."""
    err, _, lines = _lines()

    lines.show(_progress(1.0, note="\x1b[2Jtorch"))

    assert "\x1b" not in err.getvalue()
    assert "torch" in err.getvalue()


def test_a_pipe_gets_lines() -> None:
    """Escapes in a file help nobody."""
    assert isinstance(stages_for(Console(io.StringIO(), io.StringIO(), environ={})), Lines)


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_bars_show_amounts_and_stay_within_80_columns() -> None:
    """One row for each stage: a row that wraps cannot be drawn over."""
    screen = _Screen()
    bars = Bars(Console(io.StringIO(), screen, environ={"NO_COLOR": "1"}))

    bars.show(_progress(512.0, note="Downloading " + "x" * 200))
    bars.close()

    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "\n", screen.getvalue())
    rows = [row for row in re.split(r"[\r\n]+", shown) if "Downloading" in row]
    assert "512 B of 1.0 KiB" in rows[-1]
    assert all(len(row) <= 80 for row in rows)


def test_the_sentence_about_a_boot_stands_below_the_bars_in_whole() -> None:
    """A column has no room for it, and its end is what helps."""
    screen = _Screen()
    bars = Bars(Console(io.StringIO(), screen, environ={"NO_COLOR": "1"}))
    said = "longer than usual: 2 min instead of 40 s in loading weights; the disk may be slow"

    bars.show(
        StageProgress(
            stage=Stage.BOOT, state=StageState.RUNNING, title="Start the engine", note=said,
            done=120.0, unit="s",
        )
    )  # fmt: skip
    bars.close()

    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "\n", screen.getvalue())
    assert "Longer than usual: 2 min" in shown
    assert said[1:] in re.sub(r"\s+", " ", shown)
    assert all(len(row) <= 80 for row in re.split(r"[\r\n]+", shown))


def test_bars_can_be_closed_twice_and_opened_again() -> None:
    """A question interrupts the bars; after the answer they go on."""
    screen = _Screen()
    bars = Bars(Console(io.StringIO(), screen, environ={}))

    bars.close()
    bars.show(_progress(1.0))
    bars.close()
    bars.close()
    before = len(screen.getvalue())
    bars.show(_progress(2.0))
    bars.close()

    assert "2 B of 1.0 KiB" in screen.getvalue()[before:]


def test_bars_give_the_cursor_back() -> None:
    """A hidden cursor outlives the program and annoys in the shell."""
    screen = _Screen()
    bars = Bars(Console(io.StringIO(), screen, environ={}))

    bars.show(_progress(1.0))
    bars.close()

    assert screen.getvalue().rindex("\x1b[?25h") > screen.getvalue().rindex("\x1b[?25l")
