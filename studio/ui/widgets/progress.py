"""The way from Start to ready: the stages with their bars, and the boot's timeline."""

from PySide6.QtCore import QLineF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.boot import PhaseView, StageView, TimelineView
from studio.ui.viewmodels.words import Role
from studio.ui.widgets.hatch import fill
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import Elided, label, show_text


class Bar(QWidget):
    """A thin bar; hatched where nobody knows how much is left."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._share: float | None = 0.0
        self._role = Role.WATER
        self.setFixedHeight(6)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        look.changed.connect(self.update)

    def show_share(self, share: float | None, role: Role) -> None:
        """Show `share` (0 to 1), or that it is not known."""
        if (share, role) != (self._share, self._role):
            self._share, self._role = share, role
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the bar."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        area = QRectF(self.rect())
        painter.setBrush(self._look.colour("ink", 0.10))
        painter.drawRoundedRect(area, 3, 3)
        if self._share is None:
            rounded = QPainterPath()
            rounded.addRoundedRect(area, 3, 3)
            painter.setClipPath(rounded)
            fill(painter, area, self._look.colour(self._role, 0.8), hatched=True)
        elif self._share > 0:
            painter.setBrush(self._look.colour(self._role))
            width = max(6.0, area.width() * self._share)
            painter.drawRoundedRect(QRectF(0, 0, width, area.height()), 3, 3)
        painter.end()


class StageRow(QWidget):
    """One stage: sign, title, what happens right now, bar, amount and rate."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._sign = Sign(look)
        self._title = Elided("body")
        self._note = Elided("small")
        self._amount = label("small")
        self._bar = Bar(look)
        self._view: StageView | None = None
        grid = QGridLayout(self)
        step = look.space("step")
        grid.setContentsMargins(0, step, 0, step)
        grid.setHorizontalSpacing(step * 3)
        grid.setVerticalSpacing(step)
        top = QHBoxLayout()
        top.setSpacing(step * 3)
        top.addWidget(self._title)
        top.addWidget(self._note, 1)
        top.addWidget(self._amount)
        grid.addWidget(self._sign, 0, 0)
        grid.addLayout(top, 0, 1)
        grid.addWidget(self._bar, 1, 1)

    def show_stage(self, view: StageView) -> None:
        """Show `view`."""
        if view == self._view:
            return
        self._view = view
        self._sign.show_sign(view.shape, view.role)
        self._title.show_text(view.title)
        self._note.show_text(view.note)
        parts = (view.amount, view.rate) if view.amount or view.rate else (view.word,)
        amount = " · ".join(part for part in parts if part)
        show_text(self._amount, amount)
        self._bar.show_share(view.share, view.role)
        self._bar.setVisible(view.running)
        self.setAccessibleName(f"{view.title}: {view.word}, {amount}, {view.note}")


class Timeline(QWidget):
    """Boot phases one after another on the axis of seconds, with the forecast as a mark."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._look = look
        self._view: TimelineView | None = None
        self._now = label("body", wrap=True)
        self._elapsed = label("small")
        self._line = _TimelineLine(look)
        head = QHBoxLayout()
        head.addWidget(self._now, 1)
        head.addWidget(self._elapsed)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(look.space("step"))
        column.addLayout(head)
        column.addWidget(self._line)

    @property
    def view(self) -> TimelineView | None:
        """Return what is shown."""
        return self._view

    def show_timeline(self, view: TimelineView) -> None:
        """Show `view`."""
        if view == self._view:
            return
        self._view = view
        show_text(self._now, view.now)
        show_text(self._elapsed, f"{view.elapsed} · {view.forecast}")
        self._line.show_timeline(view)
        phases = ", ".join(f"{phase.words} {phase.duration}" for phase in view.phases)
        self.setAccessibleName(
            t("Boot: {elapsed}, {forecast}. {phases}").format(
                elapsed=view.elapsed, forecast=view.forecast, phases=phases
            )
        )


class _TimelineLine(QWidget):
    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._view: TimelineView | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        look.changed.connect(self.update)

    def show_timeline(self, view: TimelineView) -> None:
        rows_before = len(self._view.phases) if self._view else 0
        self._view = view
        if rows_before != len(view.phases):
            self.setFixedHeight(self._height())
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(420, self._height())

    def _height(self) -> int:
        return (len(self._view.phases) if self._view else 0) * 22 + 8

    def paintEvent(self, _event: QPaintEvent) -> None:
        view = self._view
        if view is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._look.font("small"))
        words_width = 168.0
        area = QRectF(words_width, 4, self.width() - words_width - 64, self.height() - 8)
        across = area.width() / view.span_s
        if view.forecast_s is not None:
            x = area.left() + view.forecast_s * across
            pen = QPen(self._look.colour("quiet"), 1, Qt.PenStyle.DashLine)
            painter.setPen(pen)
            painter.drawLine(QLineF(x, area.top(), x, area.bottom()))
        for row, phase in enumerate(view.phases):
            self._paint_phase(painter, phase, QRectF(0, 4 + row * 22, self.width(), 22), area)
        painter.end()

    def _paint_phase(self, painter: QPainter, phase: PhaseView, row: QRectF, area: QRectF) -> None:
        assert self._view is not None
        align = Qt.AlignmentFlag
        across = area.width() / self._view.span_s
        painter.setPen(self._look.colour("ink" if phase.running else "quiet"))
        painter.drawText(row, align.AlignLeft | align.AlignVCenter, phase.words)
        painter.drawText(row, align.AlignRight | align.AlignVCenter, phase.duration)
        left = area.left() + phase.started_s * across
        width = max(3.0, (phase.ended_s - phase.started_s) * across)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._look.colour("water" if phase.running else "deep"))
        painter.drawRoundedRect(QRectF(left, row.center().y() - 3, width, 6), 3, 3)
