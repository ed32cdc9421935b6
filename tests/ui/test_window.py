"""The whole window against a service over real HTTP."""

import sys
import threading
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from studio.domain.control import UpRequest, UpResult
from studio.domain.errors import ErrorInfo
from studio.domain.events import (
    EngineChanged,
    LogAppended,
    Stage,
    StageProgress,
    StageState,
    Ticked,
    UpFinished,
)
from studio.domain.server import EngineSnapshot, EngineState
from studio.ui.bridge import Bridge
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.state import Link
from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.frame import PageId
from studio.ui.widgets.help_sheet import HelpSheet
from studio.ui.widgets.report_dialog import ReportDialog
from studio.ui.window import MainWindow
from tests.ui.fake_service import (
    BASE_URL,
    BOOT_FAILED,
    CONSENT,
    DEMO,
    KEY,
    PORT_TAKEN,
    READY,
    FakeService,
    booting,
    line,
    tick,
    up_result,
)


def button(window: QWidget, name: str) -> QAbstractButton:
    """Return the button `name`."""
    found = window.findChild(QAbstractButton, name)
    assert found is not None, name
    return found


def text(window: QWidget, name: str) -> str:
    """Return what the label `name` says."""
    found = window.findChild(QLabel, name)
    assert found is not None, name
    return found.text()


def shown(window: QWidget, name: str) -> bool:
    """Tell whether the widget `name` can be seen."""
    found = window.findChild(QWidget, name)
    return found is not None and found.isVisible()


def click(qtbot: QtBot, window: MainWindow, name: str) -> None:
    """Click the button `name`; of a problem once its answer has come, after its events."""
    if name.startswith("problem-"):
        qtbot.waitUntil(lambda: not window._session.known.pending)
    qtbot.mouseClick(button(window, name), Qt.MouseButton.LeftButton)


def test_start_leads_over_the_stages_to_points_on_the_chart_and_stop_ends_it(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """The window's one job, from the first click to the last."""
    downloaded, booted = threading.Event(), threading.Event()

    def come_up(request: UpRequest) -> UpResult:
        service.publish(
            StageProgress(of_up=True, stage=Stage.DETECT, state=StageState.RUNNING, title="Look"),
            StageProgress(of_up=True, stage=Stage.DETECT, state=StageState.DONE, title="Look"),
            StageProgress(
                of_up=True,
                stage=Stage.RUNTIME,
                state=StageState.RUNNING,
                title="Install the runtime",
                done=100 << 20,
                total=400 << 20,
                unit="bytes",
                rate=20 << 20,
            ),
        )
        downloaded.wait(10)
        service.publish(EngineChanged(engine=booting(4, elapsed_s=30.0)))
        booted.wait(10)
        return service.come_up(request)

    service.on_up = come_up
    click(qtbot, window, "start-preset")
    qtbot.waitUntil(lambda: text(window, "state") == "Install the runtime")
    row = window.findChild(QWidget, "stage-runtime")
    assert row is not None
    assert "100.0 MiB of 400.0 MiB · 20.0 MiB/s" in row.accessibleName()

    downloaded.set()
    qtbot.waitUntil(lambda: text(window, "state").startswith("Loading weights, 30."))
    assert text(window, "state").endswith("s of about 50.2 s")
    assert shown(window, "timeline")

    booted.set()
    qtbot.waitUntil(lambda: text(window, "state") == "Ready, booted in 49.8 s")
    assert text(window, "address") == BASE_URL
    qtbot.waitUntil(lambda: shown(window, "secret"))  # with the answer, after the event
    service.publish(*(Ticked(tick=tick(second)) for second in range(5)))
    chart = window.home.view.charts[0]
    qtbot.waitUntil(lambda: chart.view is not None and len(chart.view.lines[0].points) == 5)
    assert text(window, "figure-speed-value") == f"{tick(4).decode_tokens_per_s:.0f}"

    click(qtbot, window, "stop")
    qtbot.waitUntil(lambda: text(window, "state") == "Stopped")
    assert [route for route, _ in service.asked] == ["/up", "/stop"]
    assert shown(window, "chooser")
    assert not shown(window, "problem")


def test_a_taken_port_is_one_click_away_from_the_free_one(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """Who meets a taken port wants to serve, not to learn about ports."""
    service.on_up = lambda _request: service.fail(PORT_TAKEN)
    click(qtbot, window, "start-preset")
    qtbot.waitUntil(lambda: shown(window, "problem-take-port"))

    service.on_up = service.come_up
    click(qtbot, window, "problem-take-port")

    qtbot.waitUntil(lambda: text(window, "state").startswith("Ready"))
    assert service.asked[-1] == ("/up", UpRequest(preset=DEMO.id, port=18021))
    qtbot.waitUntil(lambda: not shown(window, "problem"))


def test_a_large_download_is_a_question_and_yes_answers_it(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """Gigabytes are never fetched unasked, and the yes is said where the question stands."""
    service.on_up = lambda _request: service.fail(CONSENT)
    click(qtbot, window, "start-preset")
    qtbot.waitUntil(lambda: shown(window, "problem-consent"))
    assert button(window, "problem-consent").text() == "Yes, download 17.30 GiB"

    service.on_up = service.come_up
    click(qtbot, window, "problem-consent")

    qtbot.waitUntil(lambda: text(window, "state").startswith("Ready"))
    assert service.asked[-1] == ("/up", UpRequest(preset=DEMO.id, consent=True))


def test_a_failed_boot_shows_cause_and_folded_evidence_and_can_be_tried_again(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """The card is what a person has when nothing works."""
    service.on_up = lambda _request: service.fail(BOOT_FAILED)
    click(qtbot, window, "start-preset")
    qtbot.waitUntil(lambda: shown(window, "problem"))
    assert not shown(window, "problem-evidence")

    click(qtbot, window, "problem-evidence-button")
    assert text(window, "problem-evidence").startswith("(EngineCore pid=4242) ERROR")
    click(qtbot, window, "problem-copy")
    assert QApplication.clipboard().text().startswith("engine-out-of-memory: The engine needs")
    service.on_up = service.come_up
    click(qtbot, window, "problem-retry")

    qtbot.waitUntil(lambda: text(window, "state").startswith("Ready"))
    assert not shown(window, "problem")


def test_stop_during_a_boot_leaves_no_error_card(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """An attempt that a person ended did not fail."""
    stopped = threading.Event()

    def come_up(_request: UpRequest) -> UpResult:
        service.publish(EngineChanged(engine=booting(2, elapsed_s=11.0)))
        stopped.wait(10)
        service.publish(UpFinished(preset=DEMO.id, error=BOOT_FAILED))
        return up_result()

    service.on_up = come_up
    click(qtbot, window, "start-preset")
    qtbot.waitUntil(lambda: text(window, "state").startswith("Reading the configuration"))
    click(qtbot, window, "stop")
    stopped.set()

    qtbot.waitUntil(lambda: text(window, "state") == "Stopped")
    assert not shown(window, "problem")


def test_the_window_comes_back_when_the_service_does(
    qtbot: QtBot, service: FakeService, session: Session, window: MainWindow
) -> None:
    """A killed service is a calm line, and numbers of before are not shown as numbers of now."""
    service.publish(EngineChanged(engine=READY), Ticked(tick=tick(0)))
    qtbot.waitUntil(lambda: text(window, "figure-speed-value") == "118")

    service.close()
    qtbot.waitUntil(lambda: shown(window, "banner"))
    assert "trying again" in text(window, "banner-text")
    assert text(window, "figure-speed-value") == "–"

    qtbot.waitUntil(lambda: session.known.link is Link.LIVE)
    qtbot.waitUntil(lambda: service.listeners == 1)
    assert not shown(window, "banner")
    service.publish(Ticked(tick=tick(1)))
    qtbot.waitUntil(lambda: text(window, "figure-speed-value") != "–")


def test_a_service_that_said_goodbye_is_started_again_only_when_asked(
    qtbot: QtBot, service: FakeService, session: Session, window: MainWindow
) -> None:
    """Who ends the service does not want the window to undo it."""
    service.say_goodbye("weir down")
    qtbot.waitUntil(lambda: session.known.link is Link.ENDED)
    assert text(window, "banner-text") == "The service has ended: weir down."
    assert not service.is_open

    click(qtbot, window, "banner-button")

    qtbot.waitUntil(lambda: session.known.link is Link.LIVE)
    assert service.is_open


def test_a_key_is_made_shown_once_and_revoked_after_a_question_in_place(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """A key is a secret: it is readable in one place, once, and goes by two clicks, not by one."""
    service.keys.append(KEY)
    window.show_page(PageId.KEYS)
    qtbot.waitUntil(lambda: shown(window, "key-k1"))
    qtbot.keyClicks(window.controller(PageId.KEYS).view.field, "Zed")
    qtbot.keyClick(window.controller(PageId.KEYS).view.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: shown(window, "key-secret"))
    assert text(window, "key-secret-key") == "weir-9aBcT0pXb2vVnYkLr8sHdQ9wE1uZ"
    click(qtbot, window, "key-secret-done")
    assert text(window, "key-secret-key") == ""

    click(qtbot, window, "revoke-k1")
    assert not any("revoke" in route for route, _ in service.asked)
    click(qtbot, window, "revoke-yes-k1")

    qtbot.waitUntil(lambda: not button(window, "revoke-k1").isEnabled())
    assert service.keys[0].revoked_at is not None


def test_switching_asks_for_the_other_preset_and_keeps_the_weir_until_then(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """The chooser must not take the instrument away from who only looks."""
    other = msgspec.structs.replace(DEMO, id="other", title="Other")
    service.presets.append(other)
    service.close()
    qtbot.waitUntil(lambda: shown(window, "preset-other"))
    qtbot.waitUntil(lambda: service.listeners == 1)
    service.publish(EngineChanged(engine=READY))
    qtbot.waitUntil(lambda: shown(window, "weir"))

    click(qtbot, window, "switch")
    assert shown(window, "chooser")
    assert not button(window, "start-preset").isEnabled()
    click(qtbot, window, "preset-other")
    service.on_up = service.come_up
    click(qtbot, window, "start-preset")

    qtbot.waitUntil(lambda: bool(service.asked))
    assert service.asked[-1] == ("/switch", UpRequest(preset="other"))
    qtbot.waitUntil(lambda: shown(window, "weir"))


def test_log_lines_written_between_answer_and_stream_are_fetched(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """A gap in a log hides the line that matters."""
    service.log = [line(seq, f"line {seq}") for seq in range(3)]
    service.close()
    qtbot.waitUntil(
        lambda: window.controller(PageId.LOGS).view.view.lines.count == 3, timeout=10_000
    )
    qtbot.waitUntil(lambda: service.listeners == 1)

    service.log += [line(3, "line 3"), line(4, "line 4")]
    service.publish(LogAppended(lines=(line(5, "line 5"),)))

    qtbot.waitUntil(lambda: window.controller(PageId.LOGS).view.view.lines.count == 6)
    assert [item.seq for item in window.controller(PageId.LOGS).view.view.lines.shown] == list(
        range(6)
    )


@pytest.mark.parametrize(
    ("keys", "page"), [("8", "log"), ("4", "key-name"), ("1", "chooser"), ("F", "log-search")]
)
def test_pages_answer_to_the_keyboard(
    qtbot: QtBot, window: MainWindow, keys: str, page: str
) -> None:
    """Everything works without a mouse."""
    window.activateWindow()
    qtbot.keySequence(window, f"Ctrl+{keys}")

    qtbot.waitUntil(lambda: shown(window, page))


def test_every_button_and_field_has_words_for_a_screen_reader(window: MainWindow) -> None:
    """An icon says nothing to who cannot see it."""
    window.resize(900, 600)
    nameless = [
        item.objectName()
        for item in window.findChildren(QAbstractButton)
        if item.isVisibleTo(window) and not (item.accessibleName() or item.text()).strip()
    ]

    assert nameless == []


def test_the_rail_collapses_where_the_window_is_narrow(qtbot: QtBot, window: MainWindow) -> None:
    """At 900 pixels the numbers need the room."""
    window.resize(900, 600)
    qtbot.waitUntil(lambda: button(window, "rail-serve").width() < 60)

    window.resize(1180, 760)
    qtbot.waitUntil(lambda: button(window, "rail-serve").width() > 120)


def test_theme_and_rail_are_remembered(
    qtbot: QtBot, look: Look, session: Session, window: MainWindow, tmp_path: Path
) -> None:
    """What was chosen once holds at the next start."""
    window.activateWindow()
    qtbot.keySequence(window, "Ctrl+T")
    qtbot.waitUntil(lambda: look.choice is ThemeChoice.LIGHT)
    click(qtbot, window, "rail-collapse")

    settings = WindowSettings(tmp_path)
    assert settings.theme is ThemeChoice.LIGHT
    assert settings.rail_collapsed is True


def test_zero_presets_say_the_next_step(
    qtbot: QtBot, service: FakeService, session: Session, closed_window: MainWindow
) -> None:
    """An empty list without words looks broken."""
    service.presets.clear()
    session.begin()

    qtbot.waitUntil(lambda: session.known.presets == ())
    words = [item.text() for item in closed_window.home.view.findChildren(QLabel)]
    assert any("There is no preset yet." in item for item in words)
    assert not button(closed_window, "start-preset").isEnabled()


def test_an_engine_that_dies_later_is_a_card_too(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """Nobody asked for anything then, yet everybody wants to know."""
    service.publish(EngineChanged(engine=READY))
    qtbot.waitUntil(lambda: shown(window, "weir"))
    died = EngineSnapshot(state=EngineState.FAILED, preset=DEMO.id, error=BOOT_FAILED)

    service.publish(EngineChanged(engine=died))

    qtbot.waitUntil(lambda: shown(window, "problem"))
    assert text(window, "state") == "Failed"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal from 3.12 on")
def test_qt_calls_do_not_eat_references_to_none(qtbot: QtBot) -> None:
    """PySide6 6.12 does on Python 3.11, and aborts after some thousand calls."""
    label = QLabel()
    qtbot.addWidget(label)
    before = sys.getrefcount(None)

    for number in range(2_000):
        label.setText(str(number))

    assert abs(sys.getrefcount(None) - before) < 100


def test_a_report_is_seen_before_it_is_saved(qtbot: QtBot, window: MainWindow) -> None:
    """From the button in the log to the text of the file."""
    window.show_page(PageId.LOGS)
    click(qtbot, window, "log-report")
    dialog = window.findChild(ReportDialog, "report-dialog")
    assert dialog is not None

    qtbot.waitUntil(lambda: dialog.files.count() == 2)

    assert "The engine is ready." in dialog.text.toPlainText()
    dialog.close()


def test_a_report_that_fails_says_so_in_its_window(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """Not in a card that has to do with the engine."""
    service.report = ErrorInfo(code="report-not-made", message="It was not made.")
    window.controller(PageId.LOGS).view.report_asked.emit()
    dialog = window.findChild(ReportDialog, "report-dialog")
    assert dialog is not None
    about = dialog.findChild(QLabel, "report-about")
    assert about is not None

    qtbot.waitUntil(lambda: "It was not made." in about.text())
    dialog.close()


def test_a_minimised_window_comes_to_the_front(qtbot: QtBot, closed_window: MainWindow) -> None:
    """A second `weir ui` asks for it, and nothing but the window tells that it worked."""
    closed_window.showMinimized()
    assert closed_window.isMinimized()

    closed_window.come_to_front()

    qtbot.waitUntil(lambda: closed_window.isVisible() and not closed_window.isMinimized())


def test_f1_and_the_question_mark_show_every_key_once(qtbot: QtBot, window: MainWindow) -> None:
    """Whoever asks twice does not get two sheets; a question mark in a field stays one."""
    qtbot.keyClick(window, Qt.Key.Key_F1)
    qtbot.waitUntil(lambda: window.findChild(HelpSheet) is not None)
    sheets = window.findChildren(HelpSheet)
    assert len(sheets) == 1
    sheets[0].close()
    qtbot.waitUntil(lambda: window.findChild(HelpSheet) is None)

    window.show_page(PageId.KEYS)
    field = window.findChild(QLineEdit, "key-name")
    assert field is not None
    field.setFocus()
    qtbot.keyClick(field, Qt.Key.Key_Question)
    assert field.text() == "?"
    assert window.findChild(HelpSheet) is None


def test_another_machine_is_named_and_never_started_from_here(
    qtbot: QtBot, look: Look, service: FakeService, tmp_path: Path
) -> None:
    """Two windows side by side have to be told apart at a glance."""
    bridge = Bridge(service.connect, service.connect)
    session = Session(bridge, "gpu-box")
    window = MainWindow(look, session, bridge, WindowSettings(tmp_path))
    qtbot.addWidget(window)
    window.show()
    assert text(window, "banner-text") == "Looking for the service on gpu-box."
    session.begin()
    qtbot.waitUntil(lambda: session.known.link is Link.LIVE)
    assert text(window, "place") == "gpu-box"
    assert shown(window, "place")
    assert window.windowTitle() == "gpu-box · Weir Studio"

    qtbot.waitUntil(lambda: service.listeners == 1)
    service.say_goodbye()
    qtbot.waitUntil(lambda: session.known.link is Link.ENDED)
    assert "waits for its return" in text(window, "banner-text")
    assert not shown(window, "banner-button")
    qtbot.waitUntil(lambda: not shown(window, "banner"))
    bridge.close()
