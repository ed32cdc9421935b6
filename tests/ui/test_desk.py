"""What pages and the window have with each other."""

from pytestqt.qtbot import QtBot

from studio.ui.desk import Controller
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow


def test_a_page_is_made_when_it_is_first_shown_and_told_of_coming_and_going(
    qtbot: QtBot, window: MainWindow
) -> None:
    """A page that nobody opens costs nothing; one that is left asks for nothing more."""
    assert PageId.KEYS not in window.made

    window.home.desk.go_to(PageId.KEYS)

    keys = window.controller(PageId.KEYS)
    assert keys.page.isVisible()
    assert keys.is_following
    window.home.desk.go_to(PageId.SERVE)
    assert not keys.is_following
    assert window.controller(PageId.KEYS) is keys


def test_a_page_with_nothing_to_search_leaves_ctrl_f_to_the_log(window: MainWindow) -> None:
    """The base class decides for pages that say nothing."""
    assert not window.home.begin_search()
    assert Controller.begin_search(window.home) is False
