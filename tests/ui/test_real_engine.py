"""The window on the real service and the real engine: a click on Start, an answer, a click on Stop.

The home is the one that the real lane installs into anyway; the engine boots once. Nothing of that
lane comes after this folder: an engine that others share may be ended here.
"""

import functools

import pytest
from PySide6.QtWidgets import QPlainTextEdit
from pytestqt.qtbot import QtBot

from studio.control import launcher
from studio.ui.bridge import Bridge
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.state import Link
from studio.ui.theme import Look
from studio.ui.window import MainWindow
from tests.conftest import INSTALL_LIMIT_S
from tests.fakes.weir import Weir
from tests.ui.test_window import button, click, shown, text

pytestmark = [pytest.mark.real, pytest.mark.timeout(2400)]

PATIENCE_MS = 60_000
START_MS = round(INSTALL_LIMIT_S * 1_000)
START_BUTTONS = ("welcome-start", "start-preset")
"""The first run's where nothing was served in this home yet, else the chooser's."""


def start_button(window: MainWindow) -> str | None:
    """Return the button that may be pressed."""
    usable = (
        name for name in START_BUTTONS if shown(window, name) and button(window, name).isEnabled()
    )
    return next(usable, None)


def test_a_click_on_start_ends_in_an_answer_of_the_real_engine_and_stop_ends_it(
    qtbot: QtBot, look: Look, real_home: Weir
) -> None:
    """Every layer at once, with nothing played: what a person sees on the first evening."""
    real_home.run("down")
    real_home.begin_service()
    bridge = Bridge(functools.partial(launcher.connect, real_home.paths, start=False, hold=False))
    session = Session(bridge)
    settings = WindowSettings(real_home.paths.home)
    window = MainWindow(look, session, bridge, settings)
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    session.begin()
    try:
        qtbot.waitUntil(lambda: session.known.link is Link.LIVE, timeout=PATIENCE_MS)
        qtbot.waitUntil(lambda: start_button(window) is not None, timeout=PATIENCE_MS)
        click(qtbot, window, str(start_button(window)))
        qtbot.waitUntil(lambda: text(window, "state").startswith("Ready"), timeout=START_MS)
        chart = window.home.view.charts[0]
        qtbot.waitUntil(
            lambda: chart.view is not None and len(chart.view.lines[0].points) >= 2,
            timeout=PATIENCE_MS,
        )

        click(qtbot, window, "home-try-ask")
        panel = window.findChild(QPlainTextEdit, "home-try-answer")
        assert panel is not None
        qtbot.waitUntil(
            lambda: (
                "seen here: first token" in text(window, "home-try-seen")
                and panel.isEnabled()
                and button(window, "home-try-ask").isEnabled()
            ),
            timeout=PATIENCE_MS,
        )
        assert len(panel.toPlainText().split()) > 3
        assert session.known.problem is None

        click(qtbot, window, "stop")
        qtbot.waitUntil(lambda: text(window, "state") == "Stopped", timeout=PATIENCE_MS)
        assert real_home.engine_pids() == []
    finally:
        bridge.close()
        real_home.run("down")
