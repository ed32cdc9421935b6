"""Card, title, scale and times around the lines of a chart."""

import pytest
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPixmap

from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.chart_kinds import BY_ID
from studio.ui.widgets import time_frame
from studio.ui.widgets.time_frame import Frame, TimeAxis

SIZE, AREA = QSize(420, 184), QRectF(64, 38, 288, 116)
NOON = 1_796_040_000.0


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[QSize]:
    """Return the sizes of all cards that are drawn from now on."""
    sizes: list[QSize] = []
    blank = time_frame.blank

    def spy(before: QPixmap, size: object, ratio: float) -> QPixmap:
        made = blank(before, size, ratio)
        sizes.append(made.size())
        return made

    monkeypatch.setattr(time_frame, "blank", spy)
    time_frame.QPixmapCache.clear()
    return sizes


def picture(frame: Frame) -> QImage:
    """Return what a frame paints."""
    image = QImage(SIZE, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    frame.paint(painter, AREA)
    painter.end()
    return image


def test_charts_of_one_size_share_the_picture_of_their_card(look: Look, drawn: list[QSize]) -> None:
    """Eight of them at twice the size would be twelve megabytes."""
    frames = [Frame(look, BY_ID[name]) for name in ("decode", "prefill", "ttft")]
    for frame in frames:
        frame.bring_up(SIZE, 100.0, 1.0, has_focus=False)
        assert not picture(frame).isNull()
    assert drawn == [SIZE]

    frames[0].bring_up(SIZE, 100.0, 1.0, has_focus=True)
    frames[1].bring_up(SIZE, 100.0, 2.0, has_focus=False)
    look.choose(ThemeChoice.LIGHT)
    frames[2].forget()
    frames[2].bring_up(SIZE, 100.0, 1.0, has_focus=False)

    assert drawn == [SIZE, SIZE, SIZE * 2, SIZE]


def test_another_scale_has_other_words_and_room_for_the_value_stays(look: Look) -> None:
    """What the marks say is what the lines are measured with."""
    frame = Frame(look, BY_ID["decode"])
    frame.bring_up(SIZE, 100.0, 1.0, has_focus=False)
    hundred = picture(frame)
    room = frame.title_right
    frame.bring_up(SIZE, 200.0, 1.0, has_focus=False)

    assert picture(frame) != hundred
    assert frame.title_right == room
    frame.bring_up(SIZE, 100.0, 1.0, has_focus=False)
    assert picture(frame) == hundred


def test_no_word_of_the_time_axis_leaves_the_card(look: Look) -> None:
    """For whichever second the span ends."""
    axis = TimeAxis(look)
    for second in range(0, 120, 7):
        image = QImage(SIZE, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        axis.paint(painter, AREA, (NOON + second - 60, NOON + second), AREA.right() + 40)
        painter.end()

        below = range(int(AREA.bottom()) + 6, SIZE.height())
        inked = [
            x
            for x in range(SIZE.width())
            if any(image.pixelColor(x, y).alpha() > 40 for y in below)
        ]
        assert AREA.left() - 1 <= min(inked)
        assert max(inked) <= AREA.right() + 40
