"""The smallest window has room for what stands in it."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QScrollArea, QTableView, QWidget
from pytestqt.qtbot import QtBot

from studio.ui.controllers.keys import KeysController
from studio.ui.controllers.table import CONTROLLERS
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import SMALLEST, MainWindow
from tests.ui.fake_service import FakeService
from tests.ui.opened import opened
from tests.ui.screenshots import ready
from tests.ui.visits import places, visit

_FRAME = 2 * (12 + 1)
"""What a field's padding and edge take of its width."""


@pytest.fixture
def small(service: FakeService, window: MainWindow) -> MainWindow:
    """Return the smallest window, with everything that there is to show."""
    ready(service)
    window.resize(*SMALLEST)
    return window


def cut(root: QWidget) -> Iterator[str]:
    """Yield what is cut at the right: an example in a field, a button's words, a whole page."""
    for widget in root.findChildren(QWidget):
        if not widget.isVisible():
            continue
        name = widget.objectName() or type(widget).__name__
        match widget:
            case QLineEdit() if not widget.text():
                words = widget.placeholderText()
                if widget.fontMetrics().horizontalAdvance(words) > widget.width() - _FRAME:
                    yield f"{name}: {words}"
            case QAbstractButton() if not name.startswith("rail-"):  # there it is an icon
                if widget.text() and widget.sizeHint().width() > widget.width():
                    yield f"{name}: {widget.text()}"
            case QScrollArea() | QTableView() if widget.horizontalScrollBar().maximum() > 0:
                yield f"{name}: lies {widget.horizontalScrollBar().maximum()} px beyond the edge"


@pytest.mark.parametrize("page", CONTROLLERS)
def test_nothing_lies_beyond_the_edge(qtbot: QtBot, small: MainWindow, page: PageId) -> None:
    """An example that ends in `…` is none, and nobody finds what lies beyond an edge."""
    found = []
    for place in places(page):
        visit(qtbot, small, place)
        found += [f"{place}: {one}" for one in cut(small)]

    assert not found


def test_the_examples_in_the_form_for_a_key_are_whole(qtbot: QtBot, small: MainWindow) -> None:
    """They are all that says how limits are written."""
    page = opened(small, PageId.KEYS, KeysController)
    page.begin_form("Zed")
    form = page.dialog
    assert form is not None
    form.grab()

    assert not list(cut(form))
    form.close()
    qtbot.waitUntil(lambda: page.dialog is None)
