"""A choice that opens: its text ends in `…` where the room ends, and the wheel leaves it alone."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox

_SLACK = 4
"""What styles leave between the text and the edge of its room."""


class Box(QComboBox):
    """Used instead of `QComboBox` everywhere; its list shows each text in full."""

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        """Cut the text in view: Qt would break off in the middle of a letter."""
        super().initStyleOption(option)
        room = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox,
            option,
            QStyle.SubControl.SC_ComboBoxEditField,
            self,
        )
        option.currentText = self.fontMetrics().elidedText(
            self.currentText(), Qt.TextElideMode.ElideRight, max(0, room.width() - _SLACK)
        )

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page that is scrolled, unless this has the focus."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()
