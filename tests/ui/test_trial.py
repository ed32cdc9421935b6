"""One answer on its way through the bridge: stopped, it ends, and the gateway hears of it."""

import socket
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QPlainTextEdit
from pytestqt.qtbot import QtBot

from studio.domain.clients import TryGrant
from studio.domain.events import EngineChanged
from studio.ui.controllers.connect import ConnectController
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow
from tests.ui.fake_clients import FakeClients
from tests.ui.fake_service import READY, FakeService
from tests.ui.test_window import button, click, shown

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
_PIECE = b'data: {"choices": [{"delta": {"content": "Water "}}]}\n\n'


class Endless:
    """A gateway that says one piece and then nothing, and knows when it is left."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.is_left = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        """End it."""
        self._listener.close()
        self._thread.join(10)

    def _serve(self) -> None:
        connection, _address = self._listener.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(_HEAD + _PIECE)
            while connection.recv(65_536):
                pass
        self.is_left.set()


@pytest.fixture
def gateway() -> Iterator[Endless]:
    """Return a gateway whose answer does not end."""
    made = Endless()
    yield made
    made.close()


@pytest.mark.parametrize("leaves", [False, True])
def test_an_answer_is_ended_by_its_button_and_by_leaving_the_page(
    qtbot: QtBot, service: FakeService, window: MainWindow, gateway: Endless, *, leaves: bool
) -> None:
    """Nothing is generated that nobody reads."""
    service.be_ready()
    service.publish()
    clients = FakeClients(service)
    clients.grant = TryGrant(base_url=f"http://127.0.0.1:{gateway.port}/v1", model="m", key="k")
    window.show_page(PageId.CONNECT)
    page = window.controller(PageId.CONNECT)
    assert isinstance(page, ConnectController)
    page.view.try_panel.asked.emit("Hi")
    panel = window.findChild(QPlainTextEdit, "try-answer")
    assert panel is not None
    qtbot.waitUntil(lambda: panel.toPlainText() == "Water ")

    if leaves:
        window.show_page(PageId.SERVE)
    else:
        click(qtbot, window, "try-stop")

    qtbot.waitUntil(lambda: gateway.is_left.is_set() and "try" not in page.area.pending)
    assert page.area.problem is None
    assert panel.toPlainText() == "Water "


def test_the_panel_beside_the_weir_asks_too_and_tells_a_refusal_in_its_place(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """No card above the page: nothing is wrong with the engine, and nothing is to be restarted."""
    service.be_ready()
    service.publish(EngineChanged(engine=READY))
    FakeClients(service)
    qtbot.waitUntil(lambda: window.home.view.try_panel.isVisible())
    qtbot.waitUntil(lambda: button(window, "home-try-ask").isEnabled())

    click(qtbot, window, "home-try-ask")

    panel = window.home.view.try_panel.answer
    qtbot.waitUntil(lambda: panel.toPlainText() == "Nothing has been served yet.")
    assert not shown(window, "problem")
    assert not any(route == "/restart" for route, _ in service.asked)


def test_ctrl_shift_t_stays_on_the_serve_page_where_the_panel_is(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """Elsewhere it goes to Connect, which has one, too."""
    service.be_ready()
    service.publish(EngineChanged(engine=READY))
    qtbot.waitUntil(lambda: window.home.view.try_panel.isVisible())
    window.activateWindow()

    qtbot.keySequence(window, "Ctrl+Shift+T")

    qtbot.waitUntil(window.home.view.try_panel.field.hasFocus)
    assert window.home.page.isVisible()
