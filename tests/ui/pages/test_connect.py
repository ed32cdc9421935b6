"""The connect page in a window, against the fake service."""

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QPlainTextEdit, QPushButton, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from studio.domain.clients import ClientState, ConnectRequest, TryGrant
from studio.domain.errors import ErrorInfo
from studio.domain.events import EngineChanged
from studio.domain.server import EngineSnapshot
from studio.ui.controllers.connect import ConnectController
from studio.ui.state import Link
from studio.ui.viewmodels.connect import (
    NEW_KEY,
)
from studio.ui.viewmodels.frame import PageId
from studio.ui.widgets.path_dialog import PathDialog
from studio.ui.window import MainWindow
from tests.ui.fake_clients import FakeClients
from tests.ui.fake_service import READY, FakeService
from tests.ui.opened import opened
from tests.ui.test_window import button, click, text


@pytest.fixture
def clients(service: FakeService) -> FakeClients:
    """Return the fake clients of the fake service."""
    service.be_ready()
    return FakeClients(service)


@pytest.fixture
def page(qtbot: QtBot, clients: FakeClients, window: MainWindow) -> ConnectController:
    """Return the page in front, with the first client shown."""
    made = opened(window, PageId.CONNECT, ConnectController)
    qtbot.waitUntil(lambda: made.area.plan is not None and not made.area.pending)
    return made


def test_a_file_is_shown_written_and_put_back_by_three_presses(
    qtbot: QtBot, page: ConnectController, window: MainWindow, clients: FakeClients
) -> None:
    """What was shown is what is asked for: the digest goes along."""
    diff = window.findChild(QPlainTextEdit, "connect-diff")
    assert diff is not None
    assert "ANTHROPIC_BASE_URL" in diff.toPlainText()
    assert text(window, "client-state") == "Not connected"

    click(qtbot, window, "connect-write")
    qtbot.waitUntil(lambda: text(window, "client-state") == "Connected")
    assert ("connect", ConnectRequest(seen="d1")) in clients.asked
    assert "settings.json.weir-backup" in text(window, "connect-done")
    assert diff.isHidden()

    click(qtbot, window, "connect-undo")
    qtbot.waitUntil(lambda: text(window, "client-state") == "Not connected")
    assert text(window, "connect-done").endswith("is as it was.")


def test_a_client_whose_file_lies_elsewhere_is_shown_it(
    qtbot: QtBot, page: ConnectController, window: MainWindow, clients: FakeClients
) -> None:
    """LibreChat's lies wherever its compose file does; in the window that could not be said."""
    clients.clients = [
        msgspec.structs.replace(one, can_write=True) if one.id == "librechat" else one
        for one in clients.clients
    ]
    page.show_what("librechat")
    qtbot.waitUntil(lambda: button(window, "connect-file").text() == "Name its file…")

    name_file(qtbot, window, "compose/librechat.yaml")
    qtbot.waitUntil(lambda: page.area.problem is not None and not page.area.pending)
    assert button(window, "connect-file").text() == "Name its file…", "a refusal changes nothing"

    name_file(qtbot, window, "/srv/librechat.yaml")
    qtbot.waitUntil(lambda: button(window, "connect-write").text() == "Write the file")
    assert page.area.problem is None
    assert button(window, "connect-file").text() == "Another file…"
    page.area.refresh()
    qtbot.waitUntil(lambda: not page.area.pending)
    assert button(window, "connect-write").text() == "Write the file"

    click(qtbot, window, "connect-write")
    wanted = ConnectRequest(file="/srv/librechat.yaml", seen="d1")
    qtbot.waitUntil(lambda: ("connect", wanted) in clients.asked)
    page.show_what("cline")
    assert page.area.file is None


def name_file(qtbot: QtBot, window: MainWindow, path: str) -> None:
    """Press the button, and give a path to its dialog."""
    click(qtbot, window, "connect-file")
    dialog = window.findChild(PathDialog)
    assert dialog is not None
    dialog.path.setText(path)
    click(qtbot, dialog, "client-file-do")
    qtbot.waitUntil(lambda: window.findChild(PathDialog) is None)


def test_a_key_chosen_while_a_file_is_asked_for_is_planned_with_it(
    qtbot: QtBot, page: ConnectController, clients: FakeClients
) -> None:
    """What is shown is what would be written, whichever answer comes first."""
    page.area.choose_file("/srv/librechat.yaml")
    page.area.choose_key(NEW_KEY)

    wanted = ConnectRequest(key=NEW_KEY, file="/srv/librechat.yaml")
    qtbot.waitUntil(lambda: ("plan", wanted) in clients.asked)


def test_an_engine_that_comes_up_meanwhile_is_asked_for(
    qtbot: QtBot, service: FakeService, clients: FakeClients, window: MainWindow
) -> None:
    """What could not be planned without a model is planned as soon as there is one."""
    clients.too_early = ErrorInfo(code="client-model-unknown", message="Nothing was served yet.")
    service.publish(EngineChanged(engine=EngineSnapshot()))
    page = opened(window, PageId.CONNECT, ConnectController)
    qtbot.waitUntil(lambda: page.area.problem is not None and not page.area.pending)

    clients.too_early = None
    service.publish(EngineChanged(engine=READY))

    qtbot.waitUntil(lambda: page.area.plan is not None)


def test_a_client_without_a_file_shows_its_key_only_when_asked(
    qtbot: QtBot, page: ConnectController, window: MainWindow
) -> None:
    """A hint of a key cannot be copied by mistake."""
    click(qtbot, window, "client-cline")
    qtbot.waitUntil(lambda: page.area.plan is not None and not page.area.pending)
    secret = window.findChild(QPushButton, "connect-copy-2")
    assert secret is not None
    assert not secret.isEnabled()

    click(qtbot, window, "connect-write")

    qtbot.waitUntil(secret.isEnabled)


def test_a_refusal_is_a_card_and_nothing_else_changes(
    qtbot: QtBot, page: ConnectController, window: MainWindow, clients: FakeClients
) -> None:
    """With what to do, and closed by hand."""
    clients.refusal = ErrorInfo(
        code="client-file-changed", message="It has changed since it was shown.", hint="Look again."
    )

    click(qtbot, window, "connect-write")

    qtbot.waitUntil(lambda: not page.view.problem.isHidden())
    click(qtbot, window, "connect-problem-close")
    assert page.view.problem.isHidden()


def test_a_chosen_key_is_asked_for(
    qtbot: QtBot, service: FakeService, page: ConnectController, window: MainWindow,
    clients: FakeClients,
) -> None:  # fmt: skip
    """The box is worked with the keyboard."""
    box = window.findChild(QComboBox, "connect-key")
    assert box is not None
    box.setFocus()

    qtbot.keyClick(box, Qt.Key.Key_End)
    box.activated.emit(box.currentIndex())

    qtbot.waitUntil(lambda: ("plan", ConnectRequest(key=NEW_KEY)) in clients.asked)


def test_a_service_that_went_away_is_said_and_its_return_fills_the_page(
    qtbot: QtBot, service: FakeService, page: ConnectController, window: MainWindow
) -> None:
    """Nobody has to press anything."""
    service.close()
    qtbot.waitUntil(lambda: page.desk.session.known.link is not Link.LIVE)
    asked = len(service.asked)

    qtbot.waitUntil(lambda: page.desk.session.known.link is Link.LIVE)

    qtbot.waitUntil(lambda: page.area.plan is not None and not page.area.pending)
    assert len(service.asked) >= asked


def test_a_page_at_the_back_asks_nothing(
    qtbot: QtBot, page: ConnectController, window: MainWindow, clients: FakeClients
) -> None:
    """A page that is not in front costs nothing."""
    window.show_page(PageId.SERVE)
    asked = list(clients.asked)
    clients.service.publish()

    window.resize(900, 600)

    assert clients.asked == asked


def test_a_try_that_is_refused_ends_as_a_card_and_can_be_asked_again(
    qtbot: QtBot, page: ConnectController, window: MainWindow, clients: FakeClients
) -> None:
    """Also when the gateway itself is gone."""
    for grant in (clients.grant, TryGrant(base_url="http://127.0.0.1:9/v1", model="m", key="k")):
        clients.grant = grant
        click(qtbot, window, "try-ask")
        qtbot.waitUntil(lambda: not page.view.problem.isHidden() and not page.area.pending)
        page.area.dismiss()
    ask = window.findChild(QPushButton, "try-ask")
    assert ask is not None
    assert ask.isEnabled()


def test_everything_fits_into_the_smallest_window(
    page: ConnectController, window: MainWindow
) -> None:
    """No label is wider than its page, and all that can be pressed has a name."""
    window.resize(900, 600)
    for one in window.findChildren(QPushButton):
        if one.isVisible():
            assert one.accessibleName() or one.text(), one.objectName()
    wide = page.view.width()
    assert all(one.width() <= wide for one in page.view.findChildren(QLabel) if one.isVisible())


@pytest.mark.parametrize("state", list(ClientState))
def test_nothing_is_cut_beside_a_rail_with_words(
    qtbot: QtBot, page: ConnectController, window: MainWindow, clients: FakeClients,
    state: ClientState,
) -> None:  # fmt: skip
    """A client that is connected has a button more than others: the last one was cut."""
    for _wish in ("icons only", "words, whatever the width"):
        click(qtbot, window, "rail-collapse")
    window.resize(900, 600)
    clients.become("claude-code", state)

    page.area.refresh()

    is_ours = state is not ClientState.UNTOUCHED
    qtbot.waitUntil(lambda: button(window, "connect-undo").isVisible() is is_ours)
    assert button(window, "rail-collapse").text().strip() == "Collapse"
    scroll = window.findChild(QScrollArea, "connect-scroll")
    assert scroll is not None
    assert scroll.widget().minimumSizeHint().width() <= scroll.viewport().width()


def test_before_anything_was_served_the_next_step_is_said_and_nothing_is_red(
    qtbot: QtBot, page: ConnectController, window: MainWindow, clients: FakeClients
) -> None:
    """It was an error card that named an option of the command line."""
    page.area.plan = None
    page.area.problem = ErrorInfo(code="client-model-unknown", message="Nothing.", exit_status=3)
    page.area.changed.emit()

    assert "Start a preset on the Serve page first" in text(window, "connect-empty")
    assert page.view.problem.isHidden()


def test_steps_stand_above_the_values_that_they_speak_of(
    qtbot: QtBot, page: ConnectController, window: MainWindow
) -> None:
    """ "Enter the values below" stood under them."""
    click(qtbot, window, "client-cline")
    qtbot.waitUntil(lambda: page.area.plan is not None and not page.area.pending)
    steps = window.findChild(QLabel, "connect-steps")
    values = window.findChild(QWidget, "connect-values")
    assert steps is not None
    assert values is not None

    qtbot.waitUntil(lambda: steps.isVisible() and values.isVisible())
    qtbot.waitUntil(lambda: steps.geometry().bottom() < values.geometry().top())
