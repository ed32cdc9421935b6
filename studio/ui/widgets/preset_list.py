"""Presets as rows to choose from: one stop for Tab, arrow keys inside."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QSizePolicy, QVBoxLayout, QWidget

from studio.ui.theme import Look
from studio.ui.viewmodels.presets import PresetRow
from studio.ui.viewmodels.words import Role, Shape
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import label

_PAD, _TOP, _BETWEEN = 14, 11, 4
_RADIO = 18


class PresetButton(QAbstractButton):
    """One preset, painted: title, expert words, summary, licence and origin, verdict."""

    def __init__(self, look: Look, row: PresetRow) -> None:
        super().__init__()
        self._look = look
        self._row = row
        self.setObjectName(f"preset-{row.id}")
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._sign = Sign(look)
        self._sign.setParent(self)
        look.changed.connect(self.update)
        self.show_row(row)

    @property
    def preset_id(self) -> str:
        """Return which preset this is."""
        return self._row.id

    def show_row(self, row: PresetRow) -> None:
        """Show `row`."""
        self._row = row
        self.setChecked(row.chosen)
        self._sign.show_sign(row.verdict_shape, row.verdict_role)
        self.setAccessibleName(f"{row.title}, {row.verdict}")
        self.setAccessibleDescription(f"{row.expert}. {row.summary} {row.origin}. {row.download}")
        self.setToolTip(row.verdict if row.verdict_shape is Shape.TRIANGLE else row.origin)
        self.update()

    def sizeHint(self) -> QSize:
        """Return a row's size."""
        sizes = ("lead", "small", "body", "small", "small")
        lines = sum(QFontMetrics(self._look.font(one)).height() + _BETWEEN for one in sizes)
        return QSize(480, 2 * _TOP + lines - _BETWEEN)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the row."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_frame(painter)
        left = _PAD + _RADIO + 12
        width = self.width() - left - _PAD
        lines = (
            ("lead", 600, Role.INK, self._row.title),
            ("small", 400, Role.QUIET, self._row.expert),
            ("body", 400, Role.INK, self._row.summary),
        )
        top = _TOP
        for size, weight, role, text in lines:
            top += self._paint_line(painter, text, (left, top, width), size, weight, role)
        self._paint_foot(painter, left, top, width)
        painter.end()

    def _paint_frame(self, painter: QPainter) -> None:
        chosen = self.isChecked()
        edge = self._look.colour("water") if chosen else self._look.colour("ink", 0.16)
        if self.hasFocus():
            edge = self._look.colour("water" if not chosen else "ink")
        painter.setPen(QPen(edge, 1.5 if chosen or self.hasFocus() else 1))
        wash = 0.09 if chosen else 0.05 if self.underMouse() else 0.0
        painter.setBrush(self._look.colour("water", wash))
        radius = self._look.space("control_radius")
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), radius, radius)
        radio = QRectF(_PAD, 13, _RADIO - 2, _RADIO - 2)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._look.colour("water" if chosen else "quiet"), 1.5))
        painter.drawEllipse(radio)
        if chosen:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._look.colour("water"))
            painter.drawEllipse(radio.adjusted(4, 4, -4, -4))

    def _paint_line(
        self,
        painter: QPainter,
        text: str,
        place: tuple[int, int, int],
        size: str,
        weight: int,
        role: Role,
    ) -> int:
        left, top, width = place
        painter.setFont(self._look.font(size, weight=weight))
        painter.setPen(self._look.colour(role))
        metrics = painter.fontMetrics()
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
        painter.drawText(left, top + metrics.ascent(), shown)
        return metrics.height() + _BETWEEN

    def _paint_foot(self, painter: QPainter, left: int, top: int, width: int) -> None:
        painter.setFont(self._look.font("small"))
        metrics = painter.fontMetrics()
        self._sign.move(left - 1, top + (metrics.height() - self._sign.height()) // 2 + 1)
        parts = (self._row.verdict, "" if self._row.running else self._row.download)
        verdict = " · ".join(part for part in parts if part)
        top += self._paint_line(
            painter, verdict, (left + 20, top, width - 20), "small", 500, Role.INK
        )
        self._paint_line(painter, self._row.origin, (left, top, width), "small", 400, Role.QUIET)


class PresetList(QWidget):
    """All presets, one of them chosen. Signals: `chosen` (preset id)."""

    chosen = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("presets")
        self._look = look
        self._buttons: dict[str, PresetButton] = {}
        self._rows: tuple[PresetRow, ...] = ()
        self._group = QButtonGroup(self)
        self._group.buttonClicked.connect(self._on_clicked)
        self._empty = label("quiet", wrap=True)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(look.space("step") * 2)
        self._column.addWidget(self._empty)

    def show_rows(self, rows: tuple[PresetRow, ...], empty: str) -> None:
        """Show `rows`, or the words for none."""
        self._empty.setText(empty)
        self._empty.setVisible(not rows)
        if rows == self._rows:
            return
        self._rows = rows
        wanted = [row.id for row in rows]
        if wanted != list(self._buttons):
            self._rebuild(rows)
        for row in rows:
            self._buttons[row.id].show_row(row)

    def _rebuild(self, rows: tuple[PresetRow, ...]) -> None:
        for button in self._buttons.values():
            self._group.removeButton(button)
            self._column.removeWidget(button)
            button.deleteLater()
        self._buttons = {row.id: PresetButton(self._look, row) for row in rows}
        for button in self._buttons.values():
            self._group.addButton(button)
            self._column.addWidget(button)

    def _on_clicked(self, button: QAbstractButton) -> None:
        if isinstance(button, PresetButton):
            self.chosen.emit(button.preset_id)
