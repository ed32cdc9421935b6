"""Presets that fit as cards side by side: one stop for Tab, arrow keys inside, one is chosen."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from studio.ui.theme import Look
from studio.ui.viewmodels.welcome import SuggestionView
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import label, show_text

_WIDEST = 480
"""A card alone is not drawn across the whole window."""
_QT_WIDEST = 16_777_215
_ANYWHERE = Qt.AlignmentFlag(0)


class Suggestion(QAbstractButton):
    """One preset: title, what it is for, verdict, figures."""

    def __init__(self, look: Look, view: SuggestionView) -> None:
        super().__init__()
        self.setObjectName(f"suggestion-{view.id}")
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._look = look
        self.preset_id = view.id
        self._title = label("lead", wrap=True)
        self._summary = label("quiet", wrap=True)
        self._sign = Sign(look)
        self._verdict = label("body", wrap=True)
        self._rows: list[tuple[QLabel, QLabel]] = []
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(look.space("step") * 2)
        self._grid.setVerticalSpacing(look.space("step") // 2)
        self._grid.setColumnStretch(1, 1)
        pad = look.space("card_padding")
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(pad, pad, pad, pad)
        column.setSpacing(look.space("step") * 2)
        row = QHBoxLayout()
        row.setSpacing(look.space("step") * 2)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._verdict, 1)
        column.addWidget(self._title)
        column.addWidget(self._summary)
        column.addStretch(1)
        column.addLayout(row)
        column.addLayout(self._grid)
        look.changed.connect(self.update)
        self.show_view(view)

    def show_view(self, view: SuggestionView) -> None:
        """Show `view`."""
        self.setChecked(view.chosen)
        show_text(self._title, view.title)
        show_text(self._summary, view.summary)
        self._sign.show_sign(view.shape, view.role)
        show_text(self._verdict, view.verdict)
        while len(self._rows) < len(view.figures):
            place = len(self._rows)
            pair = (label("small"), label(wrap=True))
            pair[1].setAlignment(Qt.AlignmentFlag.AlignRight)
            self._grid.addWidget(pair[0], place, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(pair[1], place, 1)
            self._rows.append(pair)
        for (name, value), (words, text) in zip(self._rows, view.figures, strict=True):
            show_text(name, words)
            show_text(value, text.text, text.tooltip)
        self.setAccessibleName(view.spoken)
        self.update()

    def sizeHint(self) -> QSize:
        """Return what the words need."""
        return self._column.sizeHint()

    def heightForWidth(self, width: int) -> int:
        """Return what the wrapped words need."""
        return self._column.heightForWidth(width)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the frame; the words are labels."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        chosen = self.isChecked()
        edge = self._look.colour("water") if chosen else self._look.colour("ink", 0.16)
        if self.hasFocus():
            edge = self._look.colour("ink" if chosen else "water")
        painter.setPen(QPen(edge, 1.5 if chosen or self.hasFocus() else 1))
        painter.setBrush(self._look.colour("raised"))
        radius = self._look.space("radius")
        frame = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.drawRoundedRect(frame, radius, radius)
        if chosen or self.underMouse():
            painter.setBrush(self._look.colour("water", 0.09 if chosen else 0.05))
            painter.drawRoundedRect(frame, radius, radius)
        painter.end()


class Suggestions(QWidget):
    """Signals: `chosen` (preset id)."""

    chosen = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("suggestions")
        self._look = look
        self._cards: dict[str, Suggestion] = {}
        self._group = QButtonGroup(self)
        self._group.buttonClicked.connect(self._on_clicked)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(look.space("card_gap"))

    def show_views(self, views: tuple[SuggestionView, ...]) -> None:
        """Show the presets; cards are kept while the presets are the same."""
        if [view.id for view in views] != list(self._cards):
            self._rebuild(views)
        for view in views:
            self._cards[view.id].show_view(view)
        self.setVisible(bool(views))

    def _rebuild(self, views: tuple[SuggestionView, ...]) -> None:
        for card in self._cards.values():
            self._group.removeButton(card)
            self._row.removeWidget(card)
            card.hide()
            card.deleteLater()
        self._cards = {view.id: Suggestion(self._look, view) for view in views}
        for card in self._cards.values():
            self._group.addButton(card)
            card.setMaximumWidth(_WIDEST if len(views) == 1 else _QT_WIDEST)
            self._row.addWidget(card, 1)
            card.show()
        self._row.setAlignment(Qt.AlignmentFlag.AlignLeft if len(views) == 1 else _ANYWHERE)

    def _on_clicked(self, card: QAbstractButton) -> None:
        if isinstance(card, Suggestion):
            self.chosen.emit(card.preset_id)
