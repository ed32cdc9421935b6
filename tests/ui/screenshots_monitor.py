"""Pictures of the monitor and keys pages, for `screenshots.py`."""

from collections.abc import Callable
from pathlib import Path

import msgspec
from PySide6.QtWidgets import QScrollArea

from studio.domain.keys import KeyLimits
from studio.domain.secrets import StoreKind
from studio.ui.controllers.keys import KeysController
from studio.ui.controllers.monitor import MonitorController
from studio.ui.pages.monitor import Part
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow
from tests.ui.fake_keys import FakeKeys
from tests.ui.fake_monitor import ENDED, FakeMonitor, afternoon
from tests.ui.fake_service import FakeService

Shoot = Callable[[str], None]
Wait = Callable[[Callable[[], bool]], None]


def prepare(service: FakeService) -> None:
    """Give the fake a past, requests and the use of its keys."""
    monitor = FakeMonitor(service, cards=2)
    monitor.entries = afternoon(60)
    monitor.ended = (ENDED,)
    FakeKeys(service)
    service.keys[1] = msgspec.structs.replace(
        service.keys[1],
        limits=KeyLimits(models=("chat",), max_context=32_000),
        stored=StoreKind.FILE,
        prompts_until="2026-11-30T16:24:00+00:00",
    )


def monitor_pages(window: MainWindow, shoot: Shoot, wait: Wait) -> None:
    """Draw every part of the monitor page."""
    window.show_page(PageId.MONITOR)
    page = window.controller(PageId.MONITOR)
    assert isinstance(page, MonitorController)
    wait(lambda: page.area.reads > 0 and not page.area.pending)
    shoot("monitor")
    page.view.board.pointed.emit(page.span()[1] - 299)
    shoot("monitor-crosshair")
    page.view.board.pointed.emit(None)
    reads = page.area.reads
    page.choose_span("24h")
    wait(lambda: page.area.reads > reads and not page.area.pending)
    scroll = window.findChild(QScrollArea, "chart-scroll")
    assert isinstance(scroll, QScrollArea)
    scroll.verticalScrollBar().setValue(scroll.verticalScrollBar().maximum())
    shoot("monitor-24h")
    for part in (Part.REQUESTS, Part.EVENTS, Part.ALARMS):
        page.choose(part)
        page.view.requests.table.mark("req-00004")
        wait(lambda: not page.area.pending)
        shoot(f"monitor-{part.value}")
    page.choose(Part.CHARTS)
    page.choose_span("15m")
    window.show_page(PageId.SERVE)


def key_pages(window: MainWindow, folder: Path, theme: str, wait: Wait) -> None:
    """Draw the form for a key, with a mistake in it."""
    window.show_page(PageId.KEYS)
    page = window.controller(PageId.KEYS)
    assert isinstance(page, KeysController)
    wait(lambda: bool(page.area.rows) and not page.area.pending)
    page.begin_form("Zed")
    form = page.dialog
    assert form is not None
    form.fields["max_context"].setText("32 tokens")
    form.finish()
    wait(form.isVisible)
    form.grab().save(str(folder / f"{theme}-keys-form.png"))
    form.close()
    wait(lambda: page.dialog is None)
    window.show_page(PageId.SERVE)
