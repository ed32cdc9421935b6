"""Pages brought to the front, with their controllers as what they are."""

from typing import TypeVar

from studio.ui.desk import Controller
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow

Made = TypeVar("Made", bound=Controller)


def opened(window: MainWindow, page: PageId, kind: type[Made]) -> Made:
    """Bring a page to the front and return its controller."""
    window.show_page(page)
    made = window.controller(page)
    assert isinstance(made, kind)
    return made
