"""The way back from the window on Windows, where this side knows the versions."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.app.self_update import SelfUpdate
from studio.app.update_records import Records, Staged
from studio.app.wsl_turn import WslTurn
from studio.control import launcher
from studio.control.calls import answered
from studio.control.client import ControlClient
from studio.control.updating import UpdateRoutes
from studio.domain.errors import NotFound
from studio.domain.server import EngineSnapshot
from studio.host.paths import Paths, bundled_root
from studio.ui.bridge import Bridge
from studio.ui.controllers.settings import SettingsController
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.theme import Look
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.settings import Section
from studio.ui.window import MainWindow
from tests.fakes import windows_versions
from tests.fakes.registry import FakeRegistry
from tests.ui.fake_service import FakeService
from tests.ui.fake_settings import FakeSettings
from tests.ui.opened import opened
from tests.ui.test_window import click, shown, text

PATIENCE_MS = 60_000


class Windows:
    """A PC on which 1.1.0 runs and 1.0.0 is kept."""

    def __init__(self, folder: Path, service: FakeService) -> None:
        paths = Paths(home=folder / "wéir home", catalogue=bundled_root())
        self._place = folder / "Weir Studio"
        self._records = Records(paths)
        installed = windows_versions.made(self._place, "app-1.0.0", "app-1.1.0")
        self.service = service
        self.turn = WslTurn(
            paths, version="1.1.0", installed=lambda: installed, registry=FakeRegistry()
        )
        self._updates = UpdateRoutes(
            SelfUpdate(paths, version="1.1.0", installed=lambda: installed, release=_no_release)
        )

    def stage(self, version: str) -> None:
        """Lay a newer version beside, as a set-up that the Studio ran has."""
        windows_versions.finish(self._place, f"app-{version}")
        self._records.write(Staged(version=version))

    async def answer(self, method: str, path: str, query: str, body: bytes) -> tuple[int, bytes]:
        """Answer what needs no service."""
        return await answered(self._updates.routes(), method, path, query, body)

    def here(self) -> ControlClient:
        """Return a client of this side."""

        async def nothing() -> None:
            return

        return launcher.in_process(self, nothing)

    async def connect(self) -> ControlClient:
        """Start the service inside, as `wsl_launcher` does."""
        self.turn.take(None)
        client = await self.service.connect()
        self.turn.came_up(self.turn.used)
        return client


def _no_release() -> object:
    raise NotFound("none", "None.")


@pytest.fixture
def windows(tmp_path: Path, service: FakeService) -> Windows:
    """Return that PC; its service serves nothing."""
    service.engine = EngineSnapshot()
    FakeSettings(service)
    return Windows(tmp_path, service)


@pytest.mark.parametrize(("deed", "version"), [("rollback", "1.0.0"), ("apply", "1.2.0")])
def test_the_window_goes_back_and_forth_as_the_command_does(
    qtbot: QtBot, windows: Windows, service: FakeService, look: Look, tmp_path: Path,
    deed: str, version: str,
) -> None:  # fmt: skip
    """The service inside is a package of its Linux, and would send a person to apt."""
    if deed == "apply":
        windows.stage(version)
    bridge = Bridge(windows.connect, None, windows.here)
    window = MainWindow(look, Session(bridge), bridge, WindowSettings(tmp_path))
    qtbot.addWidget(window)
    try:
        with qtbot.waitExposed(window), qtbot.waitSignal(bridge.opened):
            window.show()
            bridge.start()
        page = opened(window, PageId.SETTINGS, SettingsController)
        page.choose(Section.UPDATES)
        qtbot.waitUntil(lambda: shown(window, f"do-program.{deed}"), timeout=PATIENCE_MS)
        if deed == "rollback":
            assert version in text(window, "value-program.rollback")
        click(qtbot, window, f"do-program.{deed}")
        qtbot.waitUntil(lambda: shown(window, f"yes-program.{deed}"))

        qtbot.waitUntil(lambda: service.listeners == 1)
        click(qtbot, window, f"yes-program.{deed}")
        qtbot.waitUntil(lambda: any(route == "/down" for route, _ in service.asked))
        service.say_goodbye()

        qtbot.waitUntil(
            lambda: not page.takeover.exchange.is_under_way and windows.turn.used == version,
            timeout=PATIENCE_MS,
        )
        qtbot.waitUntil(
            lambda: f"{version} is in use" in text(window, "value-program.version"),
            timeout=PATIENCE_MS,
        )
        assert not any(route.startswith("/update") for route, _ in service.asked)
    finally:
        bridge.close()
