"""Words that are painted again and again, laid out once.

To find the glyphs of a text takes several times as long as to paint them (measured), and the words
of a chart are the same in each picture and in each chart: a scale's marks, the times of an axis.
"""

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QStaticText

_MOST = 512
"""Texts that are kept; who reads a chart with the mouse makes new ones without end."""


class Laid(NamedTuple):
    """A text ready to be painted, its size in logical pixels."""

    text: QStaticText
    wide: float
    high: float
    font: QFont

    def paint(self, painter: QPainter, x: float, y: float) -> None:
        """Paint it with the pen of the painter, its upper left corner at a place."""
        painter.setFont(self.font)
        painter.drawStaticText(QPointF(x, y), self.text)

    def paint_in(self, painter: QPainter, box: QRectF, share: float) -> None:
        """Paint it upright in the middle of a box; `share` 0: at its left edge, 1: at its right."""
        left = box.left() + (box.width() - self.wide) * share
        self.paint(painter, left, box.top() + (box.height() - self.high) / 2)


class Lettering:
    """Texts that were asked for last, by font and words."""

    def __init__(self, font: Callable[[str, int], QFont]) -> None:
        self._font = font
        self._kept: dict[tuple[str, str, int], Laid] = {}

    @property
    def count(self) -> int:
        """Return how many are kept."""
        return len(self._kept)

    def laid(self, words: str, size: str = "small", *, weight: int = 400) -> Laid:
        """Return a line of text in the font of a size token."""
        key = (words, size, weight)
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) >= _MOST:
                self._kept.clear()
            found = self._kept[key] = self._made(words, self._font(size, weight))
        return found

    def fitted(self, words: str, room: float, elide: Qt.TextElideMode) -> Laid:
        """Return a small text that is no wider than `room`: what does not fit is left out."""
        whole = self.laid(words)
        if whole.wide <= room:
            return whole
        return self.laid(QFontMetrics(whole.font).elidedText(words, elide, int(room)))

    def _made(self, words: str, font: QFont) -> Laid:
        text = QStaticText(words)
        text.setTextFormat(Qt.TextFormat.PlainText)
        text.prepare(font=font)
        size = text.size()
        return Laid(text, size.width(), size.height(), font)
