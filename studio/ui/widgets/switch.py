"""A switch: a knob that lies left or right, and the word for it."""

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox

from studio.ui.language import t
from studio.ui.theme import Look

_TRACK = QSize(36, 20)
_INSET = 3
_GAP = 10
_HEIGHT = 28


class Switch(QCheckBox):
    """Painted by us; a check box to the keyboard and to screen readers."""

    def __init__(self, look: Look, name: str, words: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(words)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._look = look
        look.changed.connect(self.update)
        self.toggled.connect(self.update)

    def sizeHint(self) -> QSize:
        """Return the room for track and word."""
        words = max(self.fontMetrics().horizontalAdvance(word) for word in (t("On"), t("Off")))
        return QSize(_TRACK.width() + _GAP + words + 4, _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Return the same: nothing of it can be left out."""
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:
        """Take a press anywhere on it."""
        return self.rect().contains(pos)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw track, knob and word."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look, is_on = self._look, self.isChecked()
        strength = 1.0 if self.isEnabled() else look.tokens.share["disabled"]
        top = (self.height() - _TRACK.height()) / 2
        track = QRectF(1, top, _TRACK.width(), _TRACK.height()).adjusted(0.5, 0.5, -0.5, -0.5)
        radius = track.height() / 2
        edge = "water" if self.hasFocus() else "primary" if is_on else "quiet"
        painter.setPen(QPen(look.colour(edge, strength), 2 if self.hasFocus() else 1))
        painter.setBrush(look.colour("primary" if is_on else "ground", strength))
        painter.drawRoundedRect(track, radius, radius)
        side = track.height() - 2 * _INSET
        left = track.right() - _INSET - side if is_on else track.left() + _INSET
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.colour("on_primary" if is_on else "quiet", strength))
        painter.drawEllipse(QRectF(left, track.top() + _INSET, side, side))
        painter.setPen(look.colour("ink", strength))
        words = self.rect().adjusted(_TRACK.width() + _GAP, 0, 0, 0)
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, t("On") if is_on else t("Off"))
        painter.end()
