"""Every page of the window and every part of one, with everything in it that there is to show."""

from pytestqt.qtbot import QtBot

from studio.ui.controllers.logs import LogsController
from studio.ui.controllers.settings import SettingsController
from studio.ui.controllers.table import CONTROLLERS
from studio.ui.pages.log_desk import Part
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.settings import Section
from studio.ui.window import MainWindow
from tests.ui.opened import opened

SECTIONS = tuple(one for one in Section if one is not Section.LINUX)
"""Of the settings, where this is no Windows."""
Place = tuple[PageId, Section | Part | None]

PLACES: tuple[Place, ...] = (
    *((page, None) for page in CONTROLLERS if page not in (PageId.SETTINGS, PageId.LOGS)),
    *((PageId.LOGS, part) for part in Part),
    *((PageId.SETTINGS, section) for section in SECTIONS),
)


def places(page: PageId) -> tuple[Place, ...]:
    """Return the places of one page."""
    return tuple(place for place in PLACES if place[0] is page)


def visit(qtbot: QtBot, window: MainWindow, place: Place) -> None:
    """Bring a place to the front, and wait for what it asks for and for its layout."""
    page, part = place
    if isinstance(part, Section):
        opened(window, page, SettingsController).choose(part)
    elif isinstance(part, Part):
        opened(window, page, LogsController).choose(part)
    window.show_page(page)
    area = getattr(window.controller(page), "area", None)
    qtbot.waitUntil(lambda: area is None or not area.pending)
    window.grab()  # whoever paints lays out first
