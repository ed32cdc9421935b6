"""The steps of a longer work in a row: those behind, the one under way, those ahead."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.runtimes_beside import TrailStep

_HEIGHT = 38
_DOT = 7.0


class Trail(QWidget):
    """A line with a dot for each step; its word stands below, the present one in ink."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._look = look
        self._steps: tuple[TrailStep, ...] = ()
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        look.changed.connect(self.update)
        self.hide()

    def show_steps(self, steps: tuple[TrailStep, ...]) -> None:
        """Show `steps`; none hides the line."""
        if steps == self._steps:
            return
        self._steps = steps
        self.setVisible(bool(steps))
        now = next((place for place, step in enumerate(steps, 1) if step.is_now), 0)
        if now:
            self.setAccessibleName(
                t("Step {now} of {count}: {words}").format(
                    now=now, count=len(steps), words=steps[now - 1].text
                )
            )
        self.update()

    def sizeHint(self) -> QSize:
        """Return a width that fits a card."""
        return QSize(480, _HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw line, dots and words."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        wide = self.width() / max(1, len(self._steps))
        for place, step in enumerate(self._steps):
            area = QRectF(place * wide, 0, wide, _HEIGHT)
            if place + 1 < len(self._steps):
                self._paint_link(painter, area, is_done=step.is_done)
            self._paint_step(painter, area, step)
        painter.end()

    def _paint_link(self, painter: QPainter, area: QRectF, *, is_done: bool) -> None:
        colour = self._look.colour("water") if is_done else self._look.colour("ink", 0.16)
        painter.setPen(QPen(colour, 1.5))
        y, gap = area.top() + 8, _DOT
        left = area.center().x() + gap
        painter.drawLine(QPointF(left, y), QPointF(left + area.width() - 2 * gap, y))

    def _paint_step(self, painter: QPainter, area: QRectF, step: TrailStep) -> None:
        centre = QPointF(area.center().x(), area.top() + 8)
        is_reached = step.is_done or step.is_now
        colour = self._look.colour("water") if is_reached else self._look.colour("ink", 0.3)
        painter.setPen(QPen(colour, 1.5))
        painter.setBrush(colour if step.is_done else Qt.BrushStyle.NoBrush)
        size = _DOT / 2 + (1 if step.is_now else 0)
        painter.drawEllipse(centre, size, size)
        painter.setFont(self._look.font("small", weight=600 if step.is_now else 400))
        painter.setPen(self._look.colour("ink" if step.is_now else "quiet"))
        words = painter.fontMetrics().elidedText(
            step.text, Qt.TextElideMode.ElideRight, int(area.width()) - 4
        )
        painter.drawText(area.adjusted(0, 17, 0, 0), Qt.AlignmentFlag.AlignHCenter, words)
