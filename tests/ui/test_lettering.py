"""Words that painters lay out once."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter

from studio.ui.theme import Look


def painted(paint: Callable[[QPainter], None]) -> QImage:
    """Return a picture of what `paint` paints."""
    image = QImage(220, 60, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.setPen(Qt.GlobalColor.black)
    paint(painter)
    painter.end()
    return image


@pytest.mark.parametrize("words", ["Decode", "15:30", "日本語 & <b>tok/s</b>"])
@pytest.mark.parametrize(("size", "weight"), [("small", 400), ("body", 600)])
def test_words_look_as_if_qt_had_laid_them_out_in_the_picture(
    look: Look, words: str, size: str, weight: int
) -> None:
    """In both fonts of a chart, also signs that our font has not."""
    font = look.font(size, weight=weight)
    base = 12 + QFontMetrics(font).ascent()

    def by_qt(painter: QPainter) -> None:
        painter.setFont(font)
        painter.drawText(QPointF(8, base), words)

    laid = look.lettering.laid(words, size, weight=weight)

    assert painted(lambda painter: laid.paint(painter, 8, 12)) == painted(by_qt)


def test_words_stand_in_the_middle_of_a_box_and_at_either_edge(look: Look) -> None:
    """As drawing into a box does."""
    laid = look.lettering.laid("100")
    box = QRectF(10, 6, 120, 19)
    left, right = (
        painted(lambda painter, share=share: laid.paint_in(painter, box, share))
        for share in (0.0, 1.0)
    )

    assert left == painted(lambda painter: laid.paint(painter, 10, 8))
    assert right == painted(lambda painter: laid.paint(painter, 130 - laid.wide, 8))


def test_the_same_words_are_laid_out_once_and_few_are_kept(look: Look) -> None:
    """Eight charts have one axis; a mouse over them asks for new words without end."""
    first = look.lettering.laid("12:00")
    assert look.lettering.laid("12:00") is first
    assert look.lettering.laid("12:00", weight=600) is not first

    for number in range(5_000):
        look.lettering.laid(f"{number} tok/s")

    assert look.lettering.count <= 512


def test_words_that_do_not_fit_are_cut_where_one_says(look: Look) -> None:
    """The end of a name, the beginning of a row of values."""
    whole = look.lettering.laid("a rather long name of a card")

    fitted = look.lettering.fitted
    assert fitted("a rather long name of a card", 400, Qt.TextElideMode.ElideRight) is whole
    right = fitted("a rather long name of a card", 60, Qt.TextElideMode.ElideRight)
    left = fitted("a rather long name of a card", 60, Qt.TextElideMode.ElideLeft)
    assert right.text.text().startswith("a rather")
    assert left.text.text().endswith("card")
    assert max(left.wide, right.wide) <= 61
