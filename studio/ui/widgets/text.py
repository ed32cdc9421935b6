"""Labels: one look for each kind of text, and one that shortens itself."""

import re

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

_SPAN = re.compile(r"`([^`\n]*)`")
_LONGEST = 24
_LONG_WORD = re.compile(rf"[0-9A-Za-z_.\u00c0-\u1fff]{{{_LONGEST + 1},}}")
_PART = 16
_SELECTABLE = Qt.TextInteractionFlag.TextSelectableByMouse
_MAY_BREAK = "\u200b"
_LITERAL = ("code", "mono", "evidence", "key")
"""Kinds of labels whose text stands as it is."""


def label(kind: str = "body", text: str = "", *, wrap: bool = False) -> QLabel:
    """Return a label of the style sheet's `kind`; the text is plain, never markup."""
    made = QLabel(text if kind in _LITERAL else unquoted(text))
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setProperty("kind", kind)
    made.setWordWrap(wrap)
    return made


def selectable(kind: str, name: str) -> QLabel:
    """Return a label whose text can be selected with mouse and keyboard."""
    made = label(kind)
    made.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    made.setAccessibleName(name)
    return made


class Elided(QLabel):
    """One line that ends in `…` where the room ends; the whole text is its tooltip."""

    def __init__(self, kind: str = "body", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("kind", kind)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._own_tooltip = ""

    def show_text(self, text: str, tooltip: str = "") -> None:
        """Show `text`; an empty `tooltip` means the text itself when it does not fit."""
        self._own_tooltip = tooltip
        show_text(self, text)
        self._update_tooltip()

    def minimumSizeHint(self) -> QSize:
        """Return a width that leaves room for a few letters."""
        return QSize(
            min(48, self.fontMetrics().horizontalAdvance(self.text())),
            super().minimumSizeHint().height(),
        )

    def sizeHint(self) -> QSize:
        """Return the width of the whole text."""
        return QSize(
            self.fontMetrics().horizontalAdvance(self.text()) + 2, super().sizeHint().height()
        )

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw as much of the text as fits."""
        painter = QPainter(self)
        shown = self.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideRight, self.width()
        )
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        painter.drawText(self.rect(), self.alignment() | Qt.AlignmentFlag.AlignVCenter, shown)
        painter.end()
        self._update_tooltip()

    def _update_tooltip(self) -> None:
        fits = self.fontMetrics().horizontalAdvance(self.text()) <= self.width()
        tooltip = self._own_tooltip or ("" if fits else self.text())
        if tooltip != self.toolTip():
            self.setToolTip(tooltip)


def unquoted(text: str) -> str:
    """Return a sentence without the backticks that set commands apart in a terminal.

    What holds a blank would run into the sentence: it stands in quotation marks instead.
    """
    return _SPAN.sub(_shown, text).replace("`", "")


def breakable(text: str) -> str:
    """Return `text` with places at which a very long word may go on in the next line.

    A label is never narrower than its longest word: one name without blanks would push a page out
    of the window. Not for what can be copied.
    """
    return _LONG_WORD.sub(_in_parts, text)


def _in_parts(word: re.Match[str]) -> str:
    whole = word[0]
    return _MAY_BREAK.join(whole[at : at + _PART] for at in range(0, len(whole), _PART))


def _shown(span: re.Match[str]) -> str:
    words = span[1]
    return f"“{words}”" if " " in words.strip() else words


def show_text(target: QLabel, text: str, tooltip: str | None = None) -> None:
    """Set text and tooltip only where they differ, so that nothing is painted in vain.

    A sentence loses its backticks; lines of a log, code and paths keep what they have.
    """
    shown = text if target.property("kind") in _LITERAL else unquoted(text)
    is_long = len(shown) > _LONGEST and target.wordWrap()
    if is_long and not target.textInteractionFlags() & _SELECTABLE:
        shown = breakable(shown)
    if target.text() != shown:
        target.setText(shown)
    if tooltip is not None and target.toolTip() != tooltip:
        target.setToolTip(tooltip)
