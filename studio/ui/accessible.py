"""What screen readers are told beside what Qt tells them: roles of what we paint, and news.

Qt knows the roles of its own widgets; one that is painted is a mere area to it. Names and
descriptions are set by the widgets, as everywhere.
"""

from collections.abc import Mapping

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget

_ROLES: Mapping[str, QAccessible.Role] = {
    "Chart": QAccessible.Role.Chart,
    "TimeChart": QAccessible.Role.Chart,
    "DayBars": QAccessible.Role.Chart,
    "Gauge": QAccessible.Role.Graphic,
    "LogView": QAccessible.Role.Document,
    "Sign": QAccessible.Role.Graphic,
}
"""By the name of the class."""

_installed: list[object] = []


def install() -> None:
    """Tell Qt of them, once a process."""
    if not _installed:
        _installed.append(_interface)
        QAccessible.installFactory(_interface)


def announce(source: QWidget, words: str, *, is_urgent: bool = False) -> None:
    """Have `words` read out: what changed where the focus is not. Urgent ones interrupt."""
    event = QAccessibleAnnouncementEvent(source, words)
    politeness = QAccessible.AnnouncementPoliteness
    event.setPoliteness(politeness.Assertive if is_urgent else politeness.Polite)
    QAccessible.updateAccessibility(event)


def _interface(name: str, widget: QObject) -> QAccessibleInterface | None:
    """Return what stands for `widget`; None leaves it to Qt."""
    role = _ROLES.get(name)
    if role is None or not isinstance(widget, QWidget):
        return None
    return QAccessibleWidget(widget, role, widget.accessibleName())
