"""The window on the real service and a fake engine: Start, points on the chart, Stop."""

import contextlib
import functools
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from PySide6.QtWidgets import QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from studio.control import launcher
from studio.domain.history import HistoryEventKind
from studio.domain.library import RootChange
from studio.ui.bridge import Bridge
from studio.ui.controllers.connect import ConnectController
from studio.ui.controllers.keys import KeysController
from studio.ui.controllers.logs import LogsController
from studio.ui.controllers.models import ModelsController
from studio.ui.controllers.monitor import MonitorController
from studio.ui.controllers.plan import PlanController
from studio.ui.controllers.runtimes import RuntimesController
from studio.ui.controllers.settings import SettingsController
from studio.ui.pages.log_desk import Part
from studio.ui.pages.models import Part as ModelsPart
from studio.ui.pages.monitor import Part as MonitorPart
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.state import Link
from studio.ui.theme import Look
from studio.ui.viewmodels.compare import Against
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.settings import Section
from studio.ui.viewmodels.settings_gateway import EVERYWHERE
from studio.ui.window import MainWindow
from tests.fakes.weir import Weir, fake_weir
from tests.ui.test_window import button, click, shown, text
from tests.ui.visits import SECTIONS

PATIENCE_MS = 60_000


@contextlib.contextmanager
def opened(qtbot: QtBot, look: Look, weir: Weir, folder: Path) -> Iterator[MainWindow]:
    """Yield a window that found the service of `weir`."""
    bridge = Bridge(functools.partial(launcher.connect, weir.paths, start=False, hold=False))
    session = Session(bridge)
    window = MainWindow(look, session, bridge, WindowSettings(folder))
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    session.begin()
    qtbot.waitUntil(lambda: session.known.link is Link.LIVE, timeout=PATIENCE_MS)
    try:
        yield window
    finally:
        bridge.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weir]:
    """Return a home with a service that the tests share: none of them starts an engine."""
    with fake_weir(tmp_path_factory.mktemp("served")) as made:
        made.begin_service()
        yield made


@pytest.fixture
def live(qtbot: QtBot, look: Look, served: Weir, tmp_path: Path) -> Iterator[MainWindow]:
    """Return a window on the shared service."""
    with opened(qtbot, look, served, tmp_path) as window:
        yield window


@pytest.fixture
def fresh(qtbot: QtBot, look: Look, weir: Weir, tmp_path: Path) -> Iterator[MainWindow]:
    """Return a window on a service of its own, in an empty home."""
    weir.begin_service()
    with opened(qtbot, look, weir, tmp_path) as window:
        yield window


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


def test_the_monitor_and_the_keys_fill_from_the_real_service(
    qtbot: QtBot, live: MainWindow
) -> None:
    """Every call that they make exists, and a service without an engine has a past, too."""
    live.show_page(PageId.MONITOR)
    monitor = live.controller(PageId.MONITOR)
    assert isinstance(monitor, MonitorController)

    def is_read() -> bool:
        return monitor.area.reads > 0 and not monitor.area.pending

    qtbot.waitUntil(is_read, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: "memory" in monitor.view.board.charts, timeout=PATIENCE_MS)
    for part in (MonitorPart.REQUESTS, MonitorPart.EVENTS, MonitorPart.ALARMS, MonitorPart.CHARTS):
        monitor.choose(part)
        qtbot.waitUntil(is_read, timeout=PATIENCE_MS)
        assert monitor.area.problem is None

    def has_a_past() -> bool:
        """The first second of a service's history is written while this page asks already."""
        if not monitor.area.events and not monitor.area.pending:
            monitor.choose(MonitorPart.CHARTS)
        kinds = [one.kind for one in monitor.area.events]
        return kinds == [HistoryEventKind.SERVICE_STARTED]

    qtbot.waitUntil(has_a_past, timeout=PATIENCE_MS)
    assert monitor.area.entries == ()

    live.show_page(PageId.KEYS)
    keys = live.controller(PageId.KEYS)
    assert isinstance(keys, KeysController)
    keys.begin_form("Zed")
    form = keys.dialog
    assert form is not None
    form.fields["expires_at"].setText("30d")
    form.finish()
    qtbot.waitUntil(lambda: keys.desk.session.known.secret is not None, timeout=PATIENCE_MS)
    (made,) = (key for key in keys.desk.session.known.keys or () if key.name == "Zed")
    assert made.limits.expires_at is not None
    qtbot.waitUntil(lambda: bool(keys.area.rows), timeout=PATIENCE_MS)
    assert keys.area.problem is None


def test_the_first_run_and_the_plan_page_fill_from_the_real_service(
    qtbot: QtBot, live: MainWindow
) -> None:
    """Every figure is one that the service sent; nothing is started."""
    qtbot.waitUntil(lambda: shown(live, "suggestion-fake-demo"), timeout=PATIENCE_MS)
    first = live.home.first
    qtbot.waitUntil(lambda: first.doctor is not None and not first.pending, timeout=PATIENCE_MS)
    assert first.plans["fake-demo"] is not None
    live.show_page(PageId.PLAN)
    page = live.controller(PageId.PLAN)
    assert isinstance(page, PlanController)
    area = page.area
    qtbot.waitUntil(
        lambda: area.detail is not None and area.slots[0].plan is not None and not area.pending,
        timeout=PATIENCE_MS,
    )
    assert area.hosts
    page.view.knobs.typed.emit("max_num_seqs", "4")
    page.view.against_chosen.emit(Against.BEFORE)
    qtbot.waitUntil(
        lambda: (
            all(one.plan is not None and not one.is_stale for one in area.slots)
            and not area.pending
            and not area.is_resting
        ),
        timeout=PATIENCE_MS,
    )
    assert [one.plan.seats for one in area.slots if one.plan] == [4, 16]

    area.save_as("mine", "Für mich")
    qtbot.waitUntil(lambda: area.preset == "mine" and not area.pending, timeout=PATIENCE_MS)
    area.rename("Für uns")
    qtbot.waitUntil(lambda: area.done == "renamed mine" and not area.pending, timeout=PATIENCE_MS)
    area.remove()
    qtbot.waitUntil(lambda: area.removed is not None and not area.pending, timeout=PATIENCE_MS)

    assert area.problem is None
    assert 'title = "Für uns"' in area.removed.text
    assert "max_num_seqs = 4" in area.removed.text


def test_the_settings_fill_from_the_real_service_and_change_it(
    qtbot: QtBot, live: MainWindow, served: Weir
) -> None:
    """Every call of every part exists; a choice is kept where the command line finds it."""
    live.show_page(PageId.SETTINGS)
    page = live.controller(PageId.SETTINGS)
    assert isinstance(page, SettingsController)
    for section in SECTIONS:
        page.choose(section)
        qtbot.waitUntil(lambda: not page.area.pending, timeout=PATIENCE_MS)
        assert page.area.machine.problems == {}, section

    page.choose(Section.ENGINE)
    click(qtbot, live, "choose-care.on-death-tell")
    qtbot.waitUntil(lambda: not page.area.pending, timeout=PATIENCE_MS)
    assert json.loads(served.run("settings", "--json").stdout)["on_death"] == "tell"

    page.choose(Section.GATEWAY)
    qtbot.waitUntil(lambda: not page.area.pending, timeout=PATIENCE_MS)
    click(qtbot, live, f"choose-gateway.address-{EVERYWHERE}")
    qtbot.waitUntil(lambda: "gateway.address" in page.area.machine.problems, timeout=PATIENCE_MS)
    code = page.area.machine.problems["gateway.address"].code
    has_keys = bool(page.desk.session.known.keys)  # of a test before: then it only wants a yes
    assert code == ("gateway-exposed" if has_keys else "gateway-without-key")


def test_the_page_of_runtimes_fills_from_the_real_service(qtbot: QtBot, live: MainWindow) -> None:
    """List, details, updates, disk and what would be freed; nothing is installed for it."""
    live.show_page(PageId.RUNTIMES)
    page = live.controller(PageId.RUNTIMES)
    assert isinstance(page, RuntimesController)
    area = page.area
    qtbot.waitUntil(
        lambda: area.detail is not None and area.disk is not None and not area.pending,
        timeout=PATIENCE_MS,
    )
    assert text(live, "runtime-title") != ""
    click(qtbot, live, "runtime-free")
    qtbot.waitUntil(lambda: area.done is not None and not area.pending, timeout=PATIENCE_MS)
    assert area.problem is None


def test_the_page_of_models_fills_from_the_real_service(
    qtbot: QtBot, live: MainWindow, served: Weir, tmp_path: Path
) -> None:
    """Library, queue, folders and tokens; a folder is added and searched."""
    live.show_page(PageId.MODELS)
    page = live.controller(PageId.MODELS)
    assert isinstance(page, ModelsController)
    area = page.area
    qtbot.waitUntil(
        lambda: area.library is not None and area.downloads is not None and not area.pending,
        timeout=PATIENCE_MS,
    )
    folder = tmp_path / "größe models"
    (folder / "tiny").mkdir(parents=True)
    (folder / "tiny" / "config.json").write_text('{"architectures": ["LlamaForCausalLM"]}')
    page.view.show_part(ModelsPart.FOLDERS)
    area.change_roots(RootChange(add=str(folder)))
    qtbot.waitUntil(
        lambda: bool(area.library and any(one.name == "tiny" for one in area.library.models)),
        timeout=PATIENCE_MS,
    )
    area.read_logins()
    qtbot.waitUntil(lambda: len(area.logins) == 2 and not area.pending, timeout=PATIENCE_MS)
    assert area.problem is None


def test_a_click_on_start_ends_in_points_on_the_chart_and_a_click_on_stop_ends_the_engine(
    qtbot: QtBot, fresh: MainWindow, weir: Weir
) -> None:
    """Every layer at once: click, control API, supervisor, engine, monitor, event, paint."""
    qtbot.waitUntil(lambda: shown(fresh, "suggestion-fake-demo"), timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: button(fresh, "welcome-start").isEnabled(), timeout=PATIENCE_MS)
    click(qtbot, fresh, "welcome-start")
    qtbot.waitUntil(lambda: text(fresh, "state").startswith("Ready"), timeout=PATIENCE_MS)
    assert text(fresh, "address") == f"http://127.0.0.1:{weir.port}/v1"
    qtbot.waitUntil(lambda: text(fresh, "secret-key") != "", timeout=PATIENCE_MS)
    key = text(fresh, "secret-key")
    answer = httpx.post(
        f"{text(fresh, 'address')}/chat/completions",
        json={"messages": [{"role": "user", "content": "hi"}]},
        headers={"Authorization": f"Bearer {key}"},
        timeout=30,
        trust_env=False,
    )
    assert answer.status_code == 200
    chart = fresh.home.view.charts[0]

    def has_points() -> bool:
        return chart.view is not None and len(chart.view.lines[0].points) >= 2

    qtbot.waitUntil(has_points, timeout=PATIENCE_MS)

    fresh.show_page(PageId.CONNECT)
    click(qtbot, fresh, "try-ask")
    panel = fresh.findChild(QPlainTextEdit, "try-answer")
    assert panel is not None
    qtbot.waitUntil(
        lambda: "seen here: first token" in text(fresh, "try-seen") and panel.isEnabled(),
        timeout=PATIENCE_MS,
    )
    page = fresh.controller(PageId.CONNECT)
    assert isinstance(page, ConnectController)
    qtbot.waitUntil(lambda: "try" not in page.area.pending, timeout=PATIENCE_MS)
    assert page.area.problem is None

    click(qtbot, fresh, "stop")

    qtbot.waitUntil(lambda: text(fresh, "state") == "Stopped", timeout=PATIENCE_MS)
    assert weir.engine_pids() == []
