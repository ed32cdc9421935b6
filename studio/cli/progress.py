"""The stages of `weir up` while they run: bars on a terminal, sparse lines anywhere else.

Told about stages, never asks. Rich is loaded for the bars only; nothing is drawn by a thread.
"""

import contextlib
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from studio.cli import render
from studio.cli.console import Console, plain
from studio.domain.events import Stage, StageProgress, StageState

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

_LINE_EVERY_S = 2.0
_TITLE_WIDTH = 28
_BAR_WIDTH = 12


class Stages(Protocol):
    """Something that shows stages."""

    def show(self, progress: StageProgress) -> None:
        """Show where one stage stands."""

    def say(self, text: str) -> None:
        """Say something that stays, and go on showing stages."""

    def close(self) -> None:
        """Leave what is shown standing and write below it from now on."""


def stages_for(console: Console) -> Stages:
    """Return bars for a terminal, else lines."""
    return Bars(console) if console.err_is_terminal else Lines(console)


class Lines:
    """At most one line every two seconds for each stage; a change of state is always told."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._told: dict[Stage, tuple[float, StageState, str]] = {}

    def show(self, progress: StageProgress) -> None:
        """Show where one stage stands."""
        now, text = self._clock(), plain(render.stage_line(progress))
        told = self._told.get(progress.stage)
        if told is not None:
            at, state, before = told
            if text == before or (state is progress.state and now - at < _LINE_EVERY_S):
                return
        self._told[progress.stage] = (now, progress.state, text)
        self._console.note(text)

    def say(self, text: str) -> None:
        """Say something in a line of its own."""
        self._console.note(text)

    def close(self) -> None:
        """Leave what is shown standing; lines need nothing for that."""


class Bars:
    """One bar for each stage, and under them what happens right now."""

    def __init__(self, console: Console) -> None:
        from rich.console import Console as RichConsole
        from rich.live import Live

        self._stages: dict[Stage, StageProgress] = {}
        self._width = console.width
        self._live = Live(
            console=RichConsole(
                file=console.err,
                width=self._width,
                no_color=not console.has_colour,
                highlight=False,
                markup=False,
                emoji=False,
            ),
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._is_open = False

    def show(self, progress: StageProgress) -> None:
        """Show where one stage stands."""
        self._stages[progress.stage] = progress
        with contextlib.suppress(OSError):  # a terminal that went away; the work goes on
            if not self._is_open:
                self._is_open = True
                self._live.start()
            self._live.update(_shown(list(self._stages.values()), self._width), refresh=True)

    def say(self, text: str) -> None:
        """Say something above the bars."""
        with contextlib.suppress(OSError):
            self._live.console.print(text, soft_wrap=True)

    def close(self) -> None:
        """Leave the bars standing and write below them from now on."""
        if self._is_open:
            self._is_open = False
            with contextlib.suppress(OSError):
                self._live.stop()


def _shown(stages: list[StageProgress], width: int) -> "Group":
    """Return the bars and, below them, the sentence about the boot, too long for a column."""
    from rich.console import Group
    from rich.text import Text

    said = [plain(text) for one in stages if (text := render.boot_sentence(one)) is not None]
    return Group(_grid(stages, width), *(Text(text) for text in said))


def _grid(stages: list[StageProgress], width: int) -> "Table":
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=_TITLE_WIDTH, no_wrap=True, overflow="ellipsis")
    grid.add_column(width=_BAR_WIDTH)
    rest = max(10, width - _TITLE_WIDTH - _BAR_WIDTH - 3)
    grid.add_column(width=rest, no_wrap=True, overflow="ellipsis")
    for one in stages:
        share = render.stage_share(one)
        doing = plain(render.stage_doing(one))
        is_below = render.boot_sentence(one) is not None
        text = plain(render.stage_words(one, has_note=doing != one.note and not is_below))
        grid.add_row(
            Text(doing),
            ProgressBar(
                total=1.0,
                completed=share or 0.0,
                width=_BAR_WIDTH,
                style="bright_black",
                complete_style="cyan",
                finished_style="green",
            ),
            Text(text, style="red" if one.state is StageState.FAILED else ""),
        )
    return grid
