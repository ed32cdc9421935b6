"""A window on a fake service, offscreen."""

import gc
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.ui.bridge import Bridge
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.state import Link
from studio.ui.theme import Look, ThemeChoice
from studio.ui.window import MainWindow
from tests.ui.fake_service import FakeService

ASSETS = Path(__file__).resolve().parents[2] / "assets"


PATIENCE_MS = 60_000
"""How long a state is waited for; five seconds, pytest-qt's own, are little on a busy machine."""
FULL_EVERY = 50
"""Tests between two looks at all garbage, old and new."""
_tests = itertools.count(1)


class PatientBot(QtBot):
    """Waits as long as a busy machine needs, where a test does not say how long."""

    def waitUntil(self, callback, *, timeout=PATIENCE_MS) -> None:
        """Wait for a state."""
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal, *, timeout=PATIENCE_MS, **options):
        """Wait for a signal."""
        return super().waitSignal(signal, timeout=timeout, **options)

    def waitSignals(self, signals, *, timeout=PATIENCE_MS, **options):
        """Wait for several."""
        return super().waitSignals(signals, timeout=timeout, **options)

    def waitExposed(self, widget, *, timeout=PATIENCE_MS):
        """Wait for a window."""
        return super().waitExposed(widget, timeout=timeout)

    def waitActive(self, widget, *, timeout=PATIENCE_MS):
        """Wait for the window that has the keyboard."""
        return super().waitActive(widget, timeout=timeout)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """Return what drives widgets, with the patience of a busy machine."""
    return PatientBot(request)


@pytest.fixture(autouse=True)
def garbage_is_collected_here() -> Iterator[None]:
    """As in the real window: widgets of a test before must not be deleted by another thread."""
    gc.disable()
    yield
    gc.collect(2 if next(_tests) % FULL_EVERY == 0 else 1)


@pytest.fixture(scope="session")
def assets() -> Path:
    """Return the real assets."""
    return ASSETS


@pytest.fixture(scope="session")
def shared_look(qapp: QApplication) -> Look:
    """Return the one look of the test process: fonts are loaded once."""
    return Look(qapp, ASSETS, ThemeChoice.DARK)


@pytest.fixture
def look(shared_look: Look) -> Iterator[Look]:
    """Return the dark look, and make it dark again."""
    yield shared_look
    shared_look.choose(ThemeChoice.DARK)


@pytest.fixture
def service() -> Iterator[FakeService]:
    """Return a fake service that is not open yet; the bridge's `connect` opens it."""
    fake = FakeService()
    yield fake
    fake.close()


@pytest.fixture
def bridge(qapp: QApplication, service: FakeService) -> Iterator[Bridge]:
    """Return a bridge that was not started."""
    made = Bridge(service.connect)
    yield made
    made.close()


@pytest.fixture
def session(bridge: Bridge) -> Session:
    """Return a session that has not begun."""
    return Session(bridge)


@pytest.fixture
def closed_window(
    qtbot: QtBot, look: Look, session: Session, bridge: Bridge, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> MainWindow:  # fmt: skip
    """Return a shown window that has not begun to look for the service.

    It hears events as soon as they come: that they come in batches is the bridge's own test.
    """
    monkeypatch.setattr("studio.ui.bridge._BATCH_S", 0.01)
    window = MainWindow(look, session, bridge, WindowSettings(tmp_path))
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    return window


@pytest.fixture
def window(
    qtbot: QtBot, service: FakeService, session: Session, closed_window: MainWindow
) -> MainWindow:
    """Return a window that found the service and hears its events."""
    session.begin()
    qtbot.waitUntil(lambda: session.known.link is Link.LIVE and service.listeners == 1)
    return closed_window
