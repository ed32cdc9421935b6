"""The window in a desktop with a tray: sign, menu and notifications over its bus, as panels do."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.domain.events import AlarmChanged, EngineChanged
from studio.domain.server import EngineSnapshot, EngineState
from tests.fakes.desktop import Desktop, desktop
from tests.fakes.logind import private_bus
from tests.fakes.screen import screen
from tests.ui.fake_http import TOKEN
from tests.ui.fake_service import FakeService
from tests.ui.fake_serving import SPILLS

ROOT = Path(__file__).resolve().parents[2]
LONG_MS = 60_000
WINDOW = """
    import sys
    from studio.ui import main, shell

    async def connect():
        from studio.control.client import ControlClient
        return ControlClient(sys.argv[1], sys.argv[2])

    class InTheTray(shell.Shell):
        def show(self):
            super().show()
            self.window.painted.connect(self.window.hide)

    main.Shell = InTheTray
    sys.exit(main.run(["--language", "en"], connect))
"""


@pytest.fixture
def panel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desktop]:
    """Run a desktop on a screen and a bus of its own."""
    with (
        screen() as display,
        private_bus(tmp_path, monkeypatch, variable="DBUS_SESSION_BUS_ADDRESS"),
        desktop() as made,
    ):
        monkeypatch.setenv("DISPLAY", display)
        yield made


@pytest.fixture
def window(
    qapp: QApplication, service: FakeService, panel: Desktop, tmp_path: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the window in a process of its own, closed into the tray."""
    assert qapp is not None
    service.open()
    environment = {
        **os.environ,
        "WEIR_HOME": str(tmp_path / "home"),
        "QT_QPA_PLATFORM": "xcb",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-c", textwrap.dedent(WINDOW), service.address, TOKEN]
    with subprocess.Popen(command, env=environment) as process:
        yield process
        if process.poll() is None:
            process.kill()


def test_a_panel_shows_the_sign_its_menu_acts_and_news_arrive(
    qtbot: QtBot, service: FakeService, panel: Desktop, window: subprocess.Popen[bytes]
) -> None:
    """The whole way over the bus, in one window: none of it is there offscreen."""

    def until(condition: Callable[[], bool]) -> None:
        qtbot.waitUntil(condition, timeout=LONG_MS)

    def can_press(words: str) -> bool:
        return panel.entries().get(words, (0, False))[1]

    until(lambda: bool(panel.signs))
    until(lambda: can_press("Start"))
    stopped = panel.sign("IconPixmap")
    assert {16, 22, 32, 64} <= {side for side, _height, _pixels in stopped}
    assert not can_press("Copy the address")

    service.on_up = service.come_up
    panel.choose(panel.entries()["Start"][0])
    until(lambda: can_press("Stop") and can_press("Copy the address"))
    until(lambda: len(panel.said) == 1)
    assert panel.said[0][3] == "Try it, on any machine is ready"
    ready = panel.sign("IconPixmap")
    assert ready != stopped
    assert "Ready" in str(panel.sign("ToolTip"))

    service.publish(AlarmChanged(alarm=SPILLS))
    until(lambda: len(panel.said) == 2)
    assert panel.said[1][3] == SPILLS.title
    assert panel.sign("Status") == "Active"  # and not another picture in place of ours

    panel.choose(panel.entries()["Stop"][0])
    until(lambda: can_press("Start"))
    service.publish(EngineChanged(engine=EngineSnapshot(state=EngineState.FAILED)))
    until(lambda: "Failed" in panel.entries())
    assert panel.sign("IconPixmap") not in (stopped, ready)

    panel.choose(panel.entries()["Quit; what is served goes on"][0])
    assert window.wait(LONG_MS / 1_000) == 0
    assert [route for route, _body in service.asked] == ["/up", "/stop"]
