"""Brings what has the keyboard's focus into sight.

Qt scrolls an area only to what is reached from inside it: whoever came from the rail, or from
another column, pressed Tab and saw nothing happen.
"""

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QScrollArea, QWidget

from studio.ui.layouts import settle

_MARGIN = 16
"""Room for the ring, and for a glimpse of what comes next, in px."""


def bring_into_sight(widget: QWidget) -> None:
    """Scroll every area that holds `widget`, the innermost first, until all of it is seen.

    Qt's own looks at the caret of a field alone, and leaves the field's edge and ring out of sight.
    """
    settle()  # what is laid out later lies somewhere else now
    area = holder(widget)
    while area is not None and (content := area.widget()) is not None:
        lies = QRect(widget.mapTo(content, QPoint()), widget.size())
        if lies.height() < area.viewport().height():
            area.ensureVisible(lies.left(), lies.bottom(), 0, _MARGIN)
            area.ensureVisible(lies.left(), lies.top(), 0, _MARGIN)
        else:
            area.ensureWidgetVisible(widget)
        area = holder(area)


def holder(widget: QWidget) -> QScrollArea | None:
    """Return the innermost area that scrolls `widget`; an area does not scroll itself."""
    parent = widget.parentWidget()
    while parent is not None and not isinstance(parent, QScrollArea):
        parent = parent.parentWidget()
    return parent
