"""The window on the real service and a fake engine: Start, points on the chart, Stop."""

import functools
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from PySide6.QtWidgets import QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from studio.control import launcher
from studio.ui.bridge import Bridge
from studio.ui.controllers.connect import ConnectController
from studio.ui.controllers.logs import LogsController
from studio.ui.pages.log_desk import Part
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.state import Link
from studio.ui.theme import Look
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow
from tests.fakes.weir import Weir
from tests.ui.test_window import click, shown, text

PATIENCE_MS = 30_000


@pytest.fixture
def live(qtbot: QtBot, look: Look, weir: Weir, tmp_path: Path) -> Iterator[MainWindow]:
    """Return a window that found the real service of an empty home."""
    weir.begin_service()
    bridge = Bridge(functools.partial(launcher.connect, weir.paths, start=False, hold=False))
    session = Session(bridge)
    window = MainWindow(look, session, bridge, WindowSettings(tmp_path))
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    session.begin()
    qtbot.waitUntil(lambda: session.known.link is Link.LIVE, timeout=PATIENCE_MS)
    yield window
    bridge.close()


def test_a_click_on_start_ends_in_points_on_the_chart_and_a_click_on_stop_ends_the_engine(
    qtbot: QtBot, live: MainWindow, weir: Weir
) -> None:
    """Every layer at once: click, control API, supervisor, engine, monitor, event, paint."""
    qtbot.waitUntil(lambda: shown(live, "preset-fake-demo"), timeout=PATIENCE_MS)
    click(qtbot, live, "start-preset")
    qtbot.waitUntil(lambda: text(live, "state").startswith("Ready"), timeout=PATIENCE_MS)
    assert text(live, "address") == f"http://127.0.0.1:{weir.port}/v1"
    qtbot.waitUntil(lambda: text(live, "secret-key") != "", timeout=PATIENCE_MS)
    key = text(live, "secret-key")
    answer = httpx.post(
        f"{text(live, 'address')}/chat/completions",
        json={"messages": [{"role": "user", "content": "hi"}]},
        headers={"Authorization": f"Bearer {key}"},
        timeout=30,
        trust_env=False,
    )
    assert answer.status_code == 200
    chart = live.home.view.charts[0]

    def has_points() -> bool:
        return chart.view is not None and len(chart.view.lines[0].points) >= 2

    qtbot.waitUntil(has_points, timeout=PATIENCE_MS)

    live.show_page(PageId.CONNECT)
    click(qtbot, live, "try-ask")
    panel = live.findChild(QPlainTextEdit, "try-answer")
    assert panel is not None
    qtbot.waitUntil(
        lambda: "seen here: first token" in text(live, "try-seen") and panel.isEnabled(),
        timeout=PATIENCE_MS,
    )
    page = live.controller(PageId.CONNECT)
    assert isinstance(page, ConnectController)
    qtbot.waitUntil(lambda: "try" not in page.area.pending, timeout=PATIENCE_MS)
    assert page.area.problem is None

    click(qtbot, live, "stop")

    qtbot.waitUntil(lambda: text(live, "state") == "Stopped", timeout=PATIENCE_MS)
    assert weir.engine_pids() == []


def test_the_pages_of_clients_and_records_fill_from_the_real_service(
    qtbot: QtBot, live: MainWindow
) -> None:
    """Every call that they make exists, and what comes is what they show; no engine is needed."""
    live.show_page(PageId.CONNECT)
    connect = live.controller(PageId.CONNECT)
    assert isinstance(connect, ConnectController)
    qtbot.waitUntil(
        lambda: connect.area.clients is not None and not connect.area.pending, timeout=PATIENCE_MS
    )
    assert live.findChild(QPushButton, "client-claude-code") is not None
    live.show_page(PageId.LOGS)
    logs = live.controller(PageId.LOGS)
    assert isinstance(logs, LogsController)
    for part in (Part.ENGINE, Part.SERVICE, Part.DIAGNOSIS, Part.BOOTS):
        logs.choose(part)
        qtbot.waitUntil(lambda: not logs.area.pending, timeout=PATIENCE_MS)
        assert logs.area.problem is None
    assert logs.area.boots is not None
