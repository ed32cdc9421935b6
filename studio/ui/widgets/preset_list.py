"""Presets as rows to choose from: one stop for Tab, arrow keys inside."""

from typing import NamedTuple

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QSizePolicy, QVBoxLayout, QWidget

from studio.ui.theme import Look
from studio.ui.viewmodels.presets import PresetRow
from studio.ui.viewmodels.words import Role
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import breakable, label

_PAD, _TOP, _BETWEEN = 14, 11, 4
_RADIO = 18
_LEFT = _PAD + _RADIO + 12
_WIDE, _NARROW = 480, 200
_ANY_HEIGHT = 10_000
_WRAP = Qt.TextFlag.TextWordWrap


class _Line(NamedTuple):
    """Words of a row, and how they look."""

    text: str
    size: str
    weight: int
    role: Role
    indent: int = 0


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
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
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
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return a row's size where there is room."""
        return QSize(_WIDE, self.heightForWidth(_WIDE))

    def minimumSizeHint(self) -> QSize:
        """Return a width at which words still stand beside one another."""
        return QSize(_NARROW, self.heightForWidth(_WIDE))

    def heightForWidth(self, width: int) -> int:
        """Return what the wrapped words need."""
        heights = (self._wrapped(line, width).height() for line in self._lines())
        return 2 * _TOP - _BETWEEN + sum(height + _BETWEEN for height in heights)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the row."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_frame(painter)
        top = _TOP
        for line in self._lines():
            painter.setFont(self._font(line))
            painter.setPen(self._look.colour(line.role))
            words = self._wrapped(line, self.width())
            painter.drawText(words.translated(_LEFT + line.indent, top), _WRAP, line.text)
            if line.indent:
                first = painter.fontMetrics().height()
                self._sign.move(_LEFT - 1, top + (first - self._sign.height()) // 2 + 1)
            top += words.height() + _BETWEEN
        painter.end()

    def _lines(self) -> tuple[_Line, ...]:
        row = self._row
        verdict = " · ".join(
            one for one in (row.verdict, "" if row.running else row.download) if one
        )
        lines = (
            _Line(row.title, "lead", 600, Role.INK),
            _Line(row.expert, "small", 400, Role.QUIET),
            _Line(row.summary, "body", 400, Role.INK),
            _Line(verdict, "small", 500, Role.INK, indent=20),
            _Line(row.origin, "small", 400, Role.QUIET),
        )
        return tuple(line._replace(text=breakable(line.text)) for line in lines)

    def _font(self, line: _Line) -> QFont:
        return self._look.font(line.size, weight=line.weight)

    def _wrapped(self, line: _Line, width: int) -> QRect:
        """Return the room that a line takes in a row of `width`, at the origin."""
        room = QRect(0, 0, max(1, width - _LEFT - _PAD - line.indent), _ANY_HEIGHT)
        metrics = QFontMetrics(self._font(line))
        height = metrics.boundingRect(room, _WRAP, line.text).height()
        return QRect(0, 0, room.width(), max(height, metrics.height()))

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
