"""Every page as text, before there is a service: what is there, in what order, what can be pressed.

Without a service nothing depends on when it answers; pages that are full have tests of their own.
"""

import re

import msgspec
import pytest
from PySide6.QtWidgets import QScrollArea, QWidget
from pytestqt.qtbot import QtBot
from syrupy.assertion import SnapshotAssertion

from studio.ui.controllers.table import CONTROLLERS
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import SMALLEST, MainWindow
from tests.ui.fake_service import HOST, FakeService
from tests.ui.tree import tree_text

_SPAN = re.compile(r'"\d+ [A-Z][a-z]+, \d\d:\d\d – [^"]*"')
"""What the monitor looks at now: the one text that the clock makes."""


@pytest.mark.parametrize("page", list(CONTROLLERS), ids=lambda page: page.value)
def test_a_page_without_a_service_as_text(
    closed_window: MainWindow, page: PageId, snapshot: SnapshotAssertion
) -> None:
    """A button that is lost, a word that changes and a thing that can be pressed too early."""
    closed_window.show_page(page)

    view = closed_window.controller(page).page
    assert isinstance(view, QWidget)
    assert _SPAN.sub('"SPAN"', tree_text(view)) == snapshot


@pytest.mark.parametrize("count", [0, 1, 8])
def test_any_number_of_cards_fits_into_the_smallest_window(
    qtbot: QtBot, service: FakeService, closed_window: MainWindow, count: int
) -> None:
    """Eight long names, and nothing lies beyond the right edge where nobody finds it."""
    cards = tuple(
        msgspec.structs.replace(
            HOST.gpus[0], index=index, name="NVIDIA RTX PRO 6000 Blackwell " * 2
        )
        for index in range(count)
    )
    service.host = msgspec.structs.replace(HOST, gpus=cards)
    service.be_ready(seconds=30)
    window = closed_window
    window.resize(*SMALLEST)
    session = window.home.desk.session
    session.begin()
    qtbot.waitUntil(lambda: session.known.host is not None and service.listeners == 1)

    for page in CONTROLLERS:
        window.show_page(page)
        view = window.controller(page).page
        view.grab()  # lays everything out
        for area in view.findChildren(QScrollArea):
            assert area.horizontalScrollBar().maximum() == 0, (page, area.objectName())
        assert window.width() == SMALLEST[0], page
