"""The pages at work, as far as their own tests and the window's do not show it."""

import pytest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from studio.domain.diagnosis import Match
from studio.domain.events import EngineChanged, GatewayChanged
from studio.domain.server import EngineSnapshot, EngineState
from studio.ui.controllers.connect import ConnectController
from studio.ui.controllers.logs import LogsController
from studio.ui.controllers.table import CONTROLLERS
from studio.ui.pages.log_desk import Part
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow
from tests.ui.fake_clients import CLINE, FakeClients
from tests.ui.fake_records import FakeRecords
from tests.ui.fake_service import BASE_URL, READY, FakeService
from tests.ui.test_window import click, shown

GATEWAY = GatewayChanged(base_url=BASE_URL)
FAILED_BEFORE = EngineSnapshot(state=EngineState.STOPPED, preset="cpu-demo")


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


@pytest.mark.qt_log_ignore("does not support (raise|grabbing)", extend=True)
def test_the_menu_beside_the_address_leads_to_a_clients_page(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """From the address to a configured client in two presses; those found here stand first."""
    FakeClients(service)
    service.be_ready()
    service.publish(EngineChanged(engine=READY))
    service.publish(GATEWAY)
    qtbot.waitUntil(lambda: shown(window, "connect-clients"))
    click(qtbot, window, "connect-clients")
    qtbot.waitUntil(lambda: window.findChild(QMenu, "connect-menu") is not None)
    menu = window.findChild(QMenu, "connect-menu")
    assert menu is not None
    words = [one.text() for one in menu.actions() if not one.isSeparator()]
    assert words[:3] == ["Found here", "Claude Code", "Cline"]

    next(one for one in menu.actions() if one.data() == CLINE.id).trigger()

    page = window.controller(PageId.CONNECT)
    assert isinstance(page, ConnectController)
    qtbot.waitUntil(lambda: page.area.chosen == CLINE.id and page.area.plan is not None)
    assert page.page.isVisible()
    menu.close()


def test_why_the_last_start_failed_is_one_press_away(
    qtbot: QtBot, service: FakeService, closed_window: MainWindow
) -> None:
    """The service remembers it, also after the window was closed."""
    window, records = closed_window, FakeRecords(service)
    assert isinstance(records.failure, Match)
    service.engine = FAILED_BEFORE
    window.home.desk.session.begin()
    name = f"alarm-failure-{records.failure.code}"
    qtbot.waitUntil(lambda: shown(window, name))

    click(qtbot, window, f"{name}-why-diagnosis")

    page = window.controller(PageId.LOGS)
    assert isinstance(page, LogsController)
    qtbot.waitUntil(lambda: page.parts.part is Part.DIAGNOSIS and page.page.isVisible())
