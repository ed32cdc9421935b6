"""What a page works with, and what the window asks of a page."""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from studio.domain.metrics import Tick
from studio.ui.between import Lasting
from studio.ui.bridge import Bridge
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.state import Known
from studio.ui.theme import Look
from studio.ui.viewmodels.frame import PageId


class Guide(QObject):
    """Asks the window for what only it can do. Signals: `asked` (PageId: bring it to the front),
    `pointed` (PageId, what to show), `theme_asked` (ThemeChoice), `language_asked` (a language, or
    None for the system's), `manners_changed` (motion, notifications or tray were chosen anew),
    `versions_told` (UpdateStatus that a page has read).

    Signals, so that pages do not hold the window that holds them.
    """

    asked = Signal(object)
    pointed = Signal(object, str)
    theme_asked = Signal(object)
    language_asked = Signal(object)
    manners_changed = Signal()
    versions_told = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.key: str | None = None
        """Name of a kept key that the next page is to put into a client."""


class Desk(NamedTuple):
    """Handed to every controller when it is made."""

    look: Look
    session: Session
    bridge: Bridge
    settings: WindowSettings
    guide: Guide
    lasting: Lasting

    def go_to(self, page: PageId) -> None:
        """Bring a page to the front."""
        self.guide.asked.emit(page)

    def point_at(self, page: PageId, what: str) -> None:
        """Bring a page to the front, and on it a client, a preset or a part by its id."""
        self.guide.pointed.emit(page, what)


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

    def show_what(self, what: str) -> None:
        """Bring a client, a preset or a part of the page to the front, by its id."""

    def carried(self) -> object:
        """Return what a person chose here and the service does not keep, for `carry`."""
        return None

    def carry(self, what: object) -> None:
        """Take over what `carried` returned, in a window that was made anew."""

    def begin_search(self) -> bool:
        """Take Ctrl+F; False when this page has nothing to search."""
        return False
