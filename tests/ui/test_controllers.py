"""The pages at work, as far as their own tests and the window's do not show it."""

import pytest

from studio.ui.controllers.table import CONTROLLERS
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow


@pytest.mark.parametrize("page", list(CONTROLLERS))
def test_every_page_opens_without_a_service_and_is_left_again(
    closed_window: MainWindow, page: PageId
) -> None:
    """The first seconds of every start, and every fall of the service."""
    closed_window.show_page(page)

    assert closed_window.controller(page).page.isVisible()
    closed_window.show_page(PageId.SERVE)
    assert not closed_window.controller(page).page.isVisible() or page is PageId.SERVE


def test_the_rail_keeps_the_order_of_the_pages() -> None:
    """Ctrl+number counts in that order."""
    assert list(CONTROLLERS) == [page for page in PageId if page in CONTROLLERS]
