"""The connect page in a window, against the fake service; and its view models as tables."""

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from studio.domain.clients import ClientState, ConnectRequest, TryGrant, TryPiece
from studio.domain.errors import ErrorInfo
from studio.ui.controllers.connect import ConnectController
from studio.ui.state import Link
from studio.ui.viewmodels.connect import (
    NEW_KEY,
    TryState,
    choices,
    connect_view,
    first_choice,
    key_choices,
    try_view,
)
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow
from tests.ui.fake_clients import CLAUDE, FakeClients
from tests.ui.fake_service import KEY, FakeService
from tests.ui.test_window import click, text


@pytest.fixture
def clients(service: FakeService) -> FakeClients:
    """Return the fake clients of the fake service."""
    service.be_ready()
    return FakeClients(service)


@pytest.fixture
def page(qtbot: QtBot, clients: FakeClients, window: MainWindow) -> ConnectController:
    """Return the page in front, with the first client shown."""
    window.show_page(PageId.CONNECT)
    made = window.controller(PageId.CONNECT)
    assert isinstance(made, ConnectController)
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

    qtbot.waitUntil(lambda: page.desk.session.known.link is Link.LIVE, timeout=10_000)

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
    for button in window.findChildren(QPushButton):
        if button.isVisible():
            assert button.accessibleName() or button.text(), button.objectName()
    wide = page.view.width()
    assert all(one.width() <= wide for one in page.view.findChildren(QLabel) if one.isVisible())


@pytest.mark.parametrize(
    ("state", "word", "undo"),
    [
        (ClientState.UNTOUCHED, "Not connected", (False, False)),
        (ClientState.CONNECTED, "Connected", (True, True)),
        (ClientState.CHANGED, "Changed since it was written", (True, False)),
    ],
)
def test_a_state_is_a_word_and_decides_about_undo(
    state: ClientState, word: str, undo: tuple[bool, bool], clients: FakeClients
) -> None:
    """A changed file is not put back, and the button says why."""
    clients.become("claude-code", state)

    view = connect_view(clients.plan("claude-code"), None, is_busy=False)

    assert view.sign.text == word
    assert (view.undo.visible, view.undo.enabled) == undo
    assert view.undo.tooltip
    assert not connect_view(clients.plan("claude-code"), None, is_busy=True).write.enabled


def test_keys_to_choose_from_are_those_that_can_be_shown(clients: FakeClients) -> None:
    """A hash cannot be put into a file; a revoked key is of no use."""
    stored = msgspec.structs.replace(KEY, id="k2", name="Shared", stored="file")
    gone = msgspec.structs.replace(stored, id="k3", name="Old", revoked_at="2026-01-01T00:00:00Z")

    found = key_choices(clients.plan("claude-code"), [KEY, stored, gone])

    assert [one.value for one in found] == [None, "Shared", NEW_KEY]
    assert key_choices(None, []) == ()


def test_the_list_marks_what_is_connected_and_keeps_the_choice() -> None:
    """By a sign and a word, not by colour."""
    info = msgspec.structs.replace(CLAUDE, state=ClientState.CONNECTED)
    fake = FakeClients(FakeService())
    fake.become("claude-code", ClientState.CONNECTED)
    known = fake.answer("GET", "/clients", b"")

    (first, *_rest) = choices(known)

    assert first.text == f"{info.title} ✓"
    assert first.spoken == "Claude Code, Connected"
    assert first_choice(known, "cline") == "cline"
    assert first_choice(known, "gone") == "claude-code"
    assert choices(None) == ()


def test_an_answer_grows_with_what_was_seen_of_it() -> None:
    """Thoughts are no answer; figures are those of the newest piece."""
    thought = TryPiece(text="hm", is_thought=True, ttft_s=0.2, tokens=1)
    piece = TryPiece(text="Hi", ttft_s=0.2, tokens=2, tokens_per_s=10.0)

    assert try_view(TryState.STREAMS, (thought,), is_serving=True).answer == "Thinking."
    view = try_view(TryState.STREAMS, (thought, piece), is_serving=True)

    assert (view.answer, view.is_quiet) == ("Hi", False)
    assert view.seen.startswith("seen here: first token 0.20 s")
    assert view.stop.visible
    assert not view.ask.enabled
    assert not try_view(TryState.IDLE, (), is_serving=False).ask.enabled
