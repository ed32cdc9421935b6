"""The menu beside the address: chat clients, those on this machine first; each opens its page."""

from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from studio.domain.clients import ClientList
from studio.domain.errors import ErrorInfo
from studio.ui.area import Area
from studio.ui.desk import Desk
from studio.ui.language import t
from studio.ui.viewmodels.connect import ChoiceView, choices, group_words
from studio.ui.viewmodels.frame import PageId


class ConnectMenu(QObject):
    """Asks for the clients when it is opened, and never before."""

    def __init__(self, desk: Desk, parent: QWidget) -> None:
        super().__init__(parent)
        self._desk = desk
        self._area = Area(desk.bridge)
        self._parent = parent
        self.menu: QMenu | None = None

    def open(self) -> None:
        """Look which clients there are, and show them; a service that is away opens the page."""
        self._area.ask("clients", lambda client: client.clients(), self._on_found, self._on_fault)

    def _on_found(self, found: ClientList) -> None:
        views = choices(found)
        if self.menu is not None:
            self.menu.close()
            self.menu.deleteLater()
        self.menu = QMenu(self._parent)
        self.menu.setObjectName("connect-menu")
        self.menu.setAccessibleName(t("Set up a chat client"))
        here, others = group_words()
        self._add(here, [one for one in views if one.is_found])
        self._add(others, [one for one in views if not one.is_found])
        self.menu.triggered.connect(self._on_chosen)
        self.menu.popup(self._parent.mapToGlobal(QPoint(0, self._parent.height())))

    def _add(self, heading: str, views: list[ChoiceView]) -> None:
        if self.menu is None or not views:
            return
        if not self.menu.isEmpty():
            self.menu.addSeparator()
        head = self.menu.addAction(heading)
        head.setEnabled(False)
        for one in views:
            action = self.menu.addAction(one.text)
            action.setData(one.id)
            action.setToolTip(one.tooltip)

    def _on_chosen(self, action: QAction) -> None:
        self._desk.point_at(PageId.CONNECT, str(action.data()))

    def _on_fault(self, _error: ErrorInfo) -> None:
        self._desk.go_to(PageId.CONNECT)
