"""What a page works with, and what the window asks of a page."""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from studio.domain.metrics import Tick
from studio.ui.bridge import Bridge
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.state import Known
from studio.ui.theme import Look
from studio.ui.viewmodels.frame import PageId


class Guide(QObject):
    """Asks the window for a page. Signal: `asked` (PageId).

    A signal, so that pages do not hold the window that holds them.
    """

    asked = Signal(object)


class Desk(NamedTuple):
    """Handed to every controller when it is made."""

    look: Look
    session: Session
    bridge: Bridge
    settings: WindowSettings
    guide: Guide

    def go_to(self, page: PageId) -> None:
        """Bring a page to the front."""
        self.guide.asked.emit(page)


class Controller(QObject):
    """One page: holds its widget, asks the service for what it shows, decides nothing.

    Made when its page is shown for the first time; every method is called on Qt's thread.
    """

    def __init__(self, desk: Desk, page: QWidget) -> None:
        super().__init__(page)
        self.desk = desk
        self.page = page

    def show_known(self, known: Known) -> None:
        """Show what changed; also called while another page is in front."""

    def show_ticks(self, ticks: Sequence[Tick]) -> None:
        """Show the newest figures; called only while this page is in front and visible."""

    def enter(self) -> None:
        """Come to the front: ask for what is shown, begin to follow it."""

    def leave(self) -> None:
        """Go to the back: stop asking."""

    def begin_search(self) -> bool:
        """Take Ctrl+F; False when this page has nothing to search."""
        return False
