"""What outlives a window: closing into the tray, notifications, another language."""

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from studio.domain.events import AlarmChanged, EngineChanged, LogAppended
from studio.domain.server import EngineSnapshot
from studio.ui.bridge import Bridge
from studio.ui.controllers.logs import LogsController
from studio.ui.controllers.plan import PlanController
from studio.ui.controllers.settings import SettingsController
from studio.ui.focus import focus_named, focused_name
from studio.ui.language import speak
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.shell import Shell
from studio.ui.state import Link
from studio.ui.theme import Look
from studio.ui.tray import Tray
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.notes import Note
from studio.ui.viewmodels.settings import Section
from tests.ui.conftest import ASSETS
from tests.ui.fake_planning import CHAT, FakePlanning
from tests.ui.fake_service import READY, FakeService, booting, line
from tests.ui.fake_serving import SPILLS
from tests.ui.fake_settings import FakeSettings
from tests.ui.opened import opened
from tests.ui.test_exchange import PATIENCE_MS, Versions, gone_back
from tests.ui.test_window import button, click, shown, text


class Desktop(Tray):
    """A tray on a desktop that has one: what it would show is kept."""

    def __init__(self, look: Look) -> None:
        super().__init__(look)
        self.has_tray = True
        self.is_shown = False
        self.said: list[Note] = []

    @property
    def is_there(self) -> bool:
        """Tell whether it is shown."""
        return self.is_shown

    def appear(self) -> bool:
        """Show it where there is a tray."""
        self.is_shown = self.has_tray
        return self.has_tray

    def say(self, note: Note) -> None:
        """Keep a notification."""
        self.said.append(note)

    def go(self) -> None:
        """Leave."""
        self.is_shown = False


@pytest.fixture
def settings(tmp_path: Path) -> WindowSettings:
    """Return settings of nobody."""
    return WindowSettings(tmp_path)


@pytest.fixture
def shell(
    qtbot: QtBot,
    qapp: QApplication,
    look: Look,
    session: Session,
    bridge: Bridge,
    settings: WindowSettings,
    service: FakeService,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Shell]:
    """Return a shell with a tray and without a bus, whose window found the service."""
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus")
    made = Shell(qapp, look, session, bridge, settings, ASSETS, tray=Desktop(look))
    with qtbot.waitExposed(made.window):
        made.show()
    session.begin()
    qtbot.waitUntil(lambda: session.known.link is Link.LIVE and service.listeners == 1)
    yield made
    made.quit()
    speak("en", ASSETS)
    made.qt_words.speak("en")
    made.window.deleteLater()
    qapp.setQuitOnLastWindowClosed(True)


@pytest.fixture
def desktop(shell: Shell) -> Desktop:
    """Return the tray of the shell."""
    assert isinstance(shell.tray, Desktop)
    return shell.tray


def test_the_first_close_explains_the_tray_and_the_next_ones_use_it(
    qtbot: QtBot, shell: Shell, settings: WindowSettings
) -> None:
    """A window that vanishes unexplained is opened again in anger."""
    shell.window.close()
    assert shell.window.isVisible()
    click(qtbot, shell.window, "tray-card-tray")
    assert not shell.window.isVisible()
    assert settings.tray_is_explained

    shell.tray.open.trigger()
    assert shell.window.isVisible()
    shell.window.close()
    assert not shell.window.isVisible()


def test_a_second_close_over_the_card_is_an_answer(shell: Shell, settings: WindowSettings) -> None:
    """Nobody has to read it."""
    shell.window.close()
    shell.window.close()

    assert not shell.window.isVisible()
    assert settings.to_tray


def test_who_wants_closing_to_close_is_obeyed_from_then_on(
    qtbot: QtBot, shell: Shell, settings: WindowSettings, desktop: Desktop
) -> None:
    """The card's other button."""
    shell.window.close()
    with qtbot.waitSignal(shell.window.closed):
        click(qtbot, shell.window, "tray-card-close")

    assert not settings.to_tray
    assert not desktop.is_shown


def test_without_a_tray_closing_closes(qtbot: QtBot, shell: Shell, desktop: Desktop) -> None:
    """Hidden without a sign it could not be found again."""
    desktop.has_tray = False

    with qtbot.waitSignal(shell.window.closed):
        shell.window.close()


def test_quit_closes_whatever_closing_means(qtbot: QtBot, shell: Shell) -> None:
    """Ctrl+Q, and the menu of the tray."""
    with qtbot.waitSignal(shell.window.closed):
        qtbot.keyClick(shell.window, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)


def test_ready_failed_and_spill_are_said_while_nobody_looks(
    qtbot: QtBot, shell: Shell, desktop: Desktop, service: FakeService
) -> None:
    """Each once, and none while the window is in front."""
    shell.window.hide()
    service.publish(EngineChanged(engine=booting(2, elapsed_s=10.0)), EngineChanged(engine=READY))
    qtbot.waitUntil(lambda: len(desktop.said) == 1)
    service.publish(AlarmChanged(alarm=SPILLS), AlarmChanged(alarm=SPILLS))
    qtbot.waitUntil(lambda: len(desktop.said) == 2)

    assert [note.title for note in desktop.said] == [
        "Try it, on any machine is ready",
        SPILLS.title,
    ]


def test_the_switch_silences_them(
    qtbot: QtBot,
    shell: Shell,
    desktop: Desktop,
    service: FakeService,
    settings: WindowSettings,
) -> None:
    """All of them."""
    settings.notifies = False
    shell.window.hide()
    service.publish(EngineChanged(engine=booting(2, elapsed_s=10.0)), EngineChanged(engine=READY))

    qtbot.waitUntil(lambda: text(shell.window, "state").startswith("Ready"))
    assert desktop.said == []


def test_another_language_builds_the_window_anew_in_place(
    qtbot: QtBot, shell: Shell, service: FakeService
) -> None:
    """Same page, same log, same service; only the words are others."""
    service.publish(LogAppended(lines=(line(1, "Started."),)))
    shell.window.show_page(PageId.LOGS)
    old = shell.window

    old.guide.language_asked.emit("zh_CN")

    qtbot.waitUntil(lambda: shell.window is not old)
    assert shell.window.front is PageId.LOGS
    assert shell.window.isVisible()
    assert button(shell.window, "rail-serve").text().strip() != "Serve"
    logs = shell.window.controller(PageId.LOGS)
    assert isinstance(logs, LogsController)
    qtbot.waitUntil(lambda: [one.text for one in logs.view.view.lines.shown] == ["Started."])
    assert service.listeners == 1


def test_another_language_is_qts_too(qtbot: QtBot, shell: Shell) -> None:
    """The menu of a text field stood there in English, between Chinese words."""

    def menu() -> list[str]:
        words = shell.window.findChild(QLineEdit, "log-search")
        assert words is not None
        return [action.text() for action in words.createStandardContextMenu().actions()]

    shell.window.show_page(PageId.LOGS)
    assert any("Copy" in text for text in menu())

    shell.window.guide.language_asked.emit("zh_CN")
    assert any("复制" in text for text in menu())
    assert not any("Copy" in text for text in menu())

    shell.window.guide.language_asked.emit("en")
    assert any("Copy" in text for text in menu())


def test_another_language_keeps_focus_and_what_was_typed(
    qtbot: QtBot, shell: Shell, service: FakeService, assets: Path
) -> None:
    """Whoever chose a language goes on at the same place, with a half-made plan as it was."""
    FakePlanning(service)
    shell.window.show_page(PageId.SETTINGS)
    plan = shell.window.controller(PageId.PLAN)
    assert isinstance(plan, PlanController)
    plan.area.preset, plan.area.typed = CHAT.id, {"max_num_seqs": "4"}
    focus_named(shell.window, "pick-window.language")
    old = shell.window

    old.guide.language_asked.emit("zh_CN")
    qtbot.waitUntil(lambda: shell.window is not old)

    assert shell.window.front is PageId.SETTINGS
    assert focused_name(shell.window) == "pick-window.language"
    carried = shell.window.controller(PageId.PLAN)
    assert isinstance(carried, PlanController)
    assert carried.area.typed == {"max_num_seqs": "4"}


def test_start_and_stop_of_the_tray_reach_the_service(
    qtbot: QtBot, shell: Shell, service: FakeService
) -> None:
    """The same rules as the buttons of the window."""
    service.on_up = service.come_up
    qtbot.waitUntil(shell.tray.start.isEnabled)
    shell.tray.start.trigger()
    qtbot.waitUntil(lambda: text(shell.window, "state").startswith("Ready"))
    shell.tray.stop.trigger()

    qtbot.waitUntil(lambda: text(shell.window, "state") == "Stopped")
    assert [route for route, _ in service.asked] == ["/up", "/stop"]


def made_anew(qtbot: QtBot, shell: Shell) -> None:
    """Choose Chinese, and wait for the window that speaks it."""
    old = shell.window
    old.guide.language_asked.emit("zh_CN")
    qtbot.waitUntil(lambda: shell.window is not old)


def test_another_language_does_not_lose_the_end_of_a_takeover(
    qtbot: QtBot, shell: Shell, session: Session, service: FakeService,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The window is another one; the service still has to be started, and to serve again."""
    monkeypatch.setattr("studio.ui.exchange._LOOK_MS", 20)
    service.publish(EngineChanged(engine=READY))
    qtbot.waitUntil(lambda: session.known.engine.is_serving)
    service.on_up = service.come_up
    FakeSettings(service)
    versions = Versions(service)
    opened(shell.window, PageId.SETTINGS, SettingsController).choose(Section.UPDATES)
    qtbot.waitUntil(lambda: shown(shell.window, "do-program.rollback"))
    gone_back(qtbot, versions, shell.window, service)

    made_anew(qtbot, shell)
    page = opened(shell.window, PageId.SETTINGS, SettingsController)
    assert "program.rollback" in page.area.machine.pending
    gc.collect()
    service.engine = EngineSnapshot()
    service.say_goodbye()

    qtbot.waitUntil(lambda: any(route == "/up" for route, _ in service.asked), timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: "program.rollback" not in page.area.machine.pending)
    assert not page.takeover.exchange.is_under_way


def test_another_language_does_not_lose_what_is_done_between_two_services(
    qtbot: QtBot, shell: Shell, service: FakeService, bridge: Bridge,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Nobody would start the service again after its goodbye."""
    done: list[str] = []
    started: list[str] = []

    async def work(_client: object) -> str:
        raise AssertionError("it is asked of this machine, which is a fake here")

    def ask_here(_question: object, finish: Callable[[str], None], _failed: object) -> None:
        done.append("here")
        finish("smaller")

    monkeypatch.setattr(bridge, "ask_here", ask_here)
    monkeypatch.setattr(bridge, "start_service", lambda: started.append("again"))
    service.areas.insert(0, lambda _m, route, _b: {"down": True} if route == "/down" else None)
    page = opened(shell.window, PageId.SETTINGS, SettingsController)
    between = page.desk.lasting.between
    ended: list[object] = []
    between.over.connect(lambda name, found: ended.append((name, found)))
    between.begin("linux.compact", work)

    made_anew(qtbot, shell)
    page = opened(shell.window, PageId.SETTINGS, SettingsController)
    assert "linux.compact" in page.area.machine.pending
    gc.collect()
    service.say_goodbye()

    qtbot.waitUntil(lambda: ended == [("linux.compact", "smaller")])
    assert (done, started) == (["here"], ["again"])
    assert "linux.compact" not in page.area.machine.pending
