"""A list to pick from: title and detail an entry, its state as a sign, groups with headings.

A title that is too long for its line goes on in a second one.
"""

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from studio.ui.theme import Look
from studio.ui.viewmodels.picks import PickView
from studio.ui.viewmodels.words import Role
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import label

_HEIGHT = 48
_LINE = 18
_PAD = 12
_SIGN = 24
_WIDTH = 268


class Pick(QAbstractButton):
    """One entry, painted."""

    def __init__(self, look: Look, name: str, view: PickView) -> None:
        super().__init__()
        self._look = look
        self.view = view
        self.setObjectName(f"{name}-{view.id}")
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._sign = Sign(look)
        self._sign.setParent(self)
        self._sign.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._lines: tuple[str, ...] = ()
        look.changed.connect(self.update)
        self.show_view(view)

    def show_view(self, view: PickView) -> None:
        """Show `view`."""
        self.view = view
        self.setText(view.title)
        metrics = QFontMetrics(self._look.font("body", weight=500))
        self._lines = _two_lines(view.title, metrics, _WIDTH - 2 * _PAD - _SIGN - _PAD)
        self._sign.move(_PAD - 1, (self._height - self._sign.sizeHint().height()) // 2)
        self.updateGeometry()
        self._sign.show_sign(view.shape, view.role)
        self.setAccessibleName(view.spoken)
        self.setToolTip(view.tooltip)
        self.update()

    def sizeHint(self) -> QSize:
        """Return an entry's size."""
        return QSize(_WIDTH - 2 * _PAD, self._height)

    @property
    def _height(self) -> int:
        return _HEIGHT + _LINE * (len(self._lines) - 1)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw ground, frame of the focus, and the lines."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        wash = 0.16 if self.isChecked() else 0.06 if self.underMouse() else 0.0
        painter.setBrush(self._look.colour("water" if self.isChecked() else "ink", wash))
        edge = QPen(self._look.colour("water"), 1)
        painter.setPen(edge if self.hasFocus() else Qt.PenStyle.NoPen)
        radius = self._look.space("control_radius")
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        for place, line in enumerate(self._lines):
            self._paint_line(painter, line, "body", 500, Role.INK, top=6 + place * _LINE)
        below = 25 + _LINE * (len(self._lines) - 1)
        self._paint_line(painter, self.view.detail, "small", 400, Role.QUIET, top=below)
        painter.end()

    def _paint_line(
        self, painter: QPainter, text: str, size: str, weight: int, role: Role, *, top: int
    ) -> None:
        painter.setFont(self._look.font(size, weight=weight))
        painter.setPen(self._look.colour(role))
        metrics = painter.fontMetrics()
        left = _PAD + _SIGN
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, self.width() - left - _PAD)
        painter.drawText(left, top + metrics.ascent(), shown)


class Picks(QScrollArea):
    """One stop for the tabulator, arrow keys inside. Signal: `chosen` (id)."""

    chosen = Signal(str)

    def __init__(self, look: Look, name: str, words: str) -> None:
        super().__init__()
        self.setObjectName(f"{name}-list")
        self.setAccessibleName(words)
        self.setWidgetResizable(True)
        self.setFixedWidth(_WIDTH)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._look = look
        self._name = name
        self._views: tuple[PickView, ...] = ()
        self._entries: dict[str, Pick] = {}
        self._group = QButtonGroup(self)
        self._group.buttonClicked.connect(self._on_clicked)

    def show_picks(self, views: tuple[PickView, ...], chosen: str | None) -> None:
        """Show the entries, one of them marked."""
        if [(one.id, one.group) for one in views] != [(one.id, one.group) for one in self._views]:
            self._rebuild(views)
        self._views = views
        for view in views:
            entry = self._entries[view.id]
            if entry.view != view:
                entry.show_view(view)
            if view.id == chosen and not entry.isChecked():
                entry.setChecked(True)

    def _rebuild(self, views: tuple[PickView, ...]) -> None:
        content = QWidget()
        content.setObjectName("page")
        column = QVBoxLayout(content)
        step = self._look.space("step")
        column.setContentsMargins(0, 0, step * 2, 0)
        column.setSpacing(2)
        for entry in self._group.buttons():
            self._group.removeButton(entry)
        self._entries = {}
        group = ""
        for view in views:
            if view.group != group:
                group = view.group
                heading = label("small", group)
                heading.setContentsMargins(_PAD, step * 2 if self._entries else 0, 0, step)
                column.addWidget(heading)
            entry = self._entries[view.id] = Pick(self._look, self._name, view)
            self._group.addButton(entry)
            column.addWidget(entry)
        column.addStretch(1)
        self.setWidget(content)

    def _on_clicked(self, button: QAbstractButton) -> None:
        if isinstance(button, Pick):
            self.chosen.emit(button.view.id)


def _two_lines(text: str, metrics: QFontMetrics, room: int) -> tuple[str, ...]:
    """Return `text` in one line, or in two where its words do not fit into one."""
    if metrics.horizontalAdvance(text) <= room:
        return (text,)
    words = text.split(" ")
    first = words[0]
    for place, word in enumerate(words[1:], start=1):
        if metrics.horizontalAdvance(f"{first} {word}") > room:
            return first, " ".join(words[place:])
        first = f"{first} {word}"
    return (text,)
