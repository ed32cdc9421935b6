"""The picture of a chart's lines, and how little of it is drawn anew."""

import random

import pytest
from PySide6.QtCore import QSizeF
from PySide6.QtGui import QImage

from studio.ui.theme import Look
from studio.ui.viewmodels.monitor import Line
from studio.ui.viewmodels.track import Track
from studio.ui.viewmodels.words import Role
from studio.ui.widgets.time_plot import Plot

START = 1_796_000_000.0
SIZE = QSizeF(300, 120)
LINES = (Line("a", "a", Role.WATER), Line("b", "b", Role.WARN))


class Film:
    """Two restless lines, one of them with gaps, and a plot that follows them."""

    def __init__(self, look: Look, span_s: float, seconds: int) -> None:
        self.look, self.span_s = look, span_s
        self.chance = random.Random(3)
        self.tracks = (Track(), Track())
        self.now = START
        for _ in range(seconds):
            self.second()
        self.plot = Plot(look)
        self.plot.take(LINES, self.tracks)

    def second(self) -> None:
        """Let one pass."""
        self.now += 1
        gap = self.chance.random() < 0.1
        self.tracks[0].append(self.now, None if gap else self.chance.random() * 80)
        self.tracks[1].append(self.now, 50 + self.chance.random() * 50)

    def follow(self, plot: Plot, ratio: float = 1.0) -> QImage:
        """Return what `plot` shows now."""
        plot.bring_up(SIZE, (self.now - self.span_s, self.now), 100.0, ratio)
        return plot.picture.toImage()

    def fresh(self, ratio: float = 1.0) -> QImage:
        """Return what a plot shows that never saw anything before."""
        plot = Plot(self.look)
        plot.take(LINES, self.tracks)
        return self.follow(plot, ratio)


def difference(one: QImage, two: QImage) -> float:
    """Return the share of pixels that differ visibly."""
    assert one.size() == two.size()
    first, second = bytes(one.constBits()), bytes(two.constBits())
    wrong = sum(abs(a - b) > 60 for a, b in zip(first[::4], second[::4], strict=True))
    return wrong / (one.width() * one.height())


@pytest.mark.parametrize("span_s", [60.0, 900.0, 3_600.0])
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_a_picture_that_moved_is_the_one_that_is_drawn_anew(
    look: Look, span_s: float, ratio: float
) -> None:
    """For a minute of seconds: no seam, no smear, no line that is lost."""
    film = Film(look, span_s, 1_000)
    film.follow(film.plot, ratio)
    for _ in range(60):
        film.second()
        moved = film.follow(film.plot, ratio)

    assert difference(moved, film.fresh(ratio)) < 0.002


def test_only_the_end_is_drawn_when_a_second_passes(
    look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is what makes a live chart cheap."""
    film = Film(look, 900.0, 1_000)
    film.follow(film.plot)
    asked: list[float | None] = []
    drawn = Track.drawn

    def spy(track: Track, scale: object, since: float | None = None) -> object:
        asked.append(since)
        return drawn(track, scale, since)

    monkeypatch.setattr(Track, "drawn", spy)
    film.second()
    film.follow(film.plot)
    assert all(since is not None and since > film.now - 30 for since in asked)
    asked.clear()

    film.follow(film.plot)
    assert asked == []

    film.plot.bring_up(SIZE, (film.now - 900, film.now), 200.0, 1.0)
    assert asked == [None, None]


def test_many_lines_have_no_bands_that_would_hide_them(look: Look) -> None:
    """Eight cards over a week: each line has to be seen."""
    points = [(START + n, 0.0, 50.0, 100.0) for n in range(300)]

    def inked(count: int) -> int:
        plot = Plot(look)
        lines = tuple(Line(str(n), str(n), Role.WATER) for n in range(count))
        plot.take(lines, tuple(Track(points) for _ in range(count)))
        plot.bring_up(SIZE, (START, START + 300), 100.0, 1.0)
        image = plot.picture.toImage()
        return sum(image.pixelColor(150, y).alpha() > 0 for y in range(image.height()))

    assert inked(2) > 100
    assert inked(3) < 10
