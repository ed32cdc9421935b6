"""The Linux in Windows from the window's settings: what `weir wsl` does in a terminal."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.app.wsl import WslSetup
from studio.control import launcher
from studio.control.calls import answered
from studio.control.client import ControlClient
from studio.control.wsl import WslRoutes
from studio.domain.wsl import DISTRIBUTION
from studio.host.paths import Paths, bundled_root
from studio.ui.bridge import Bridge
from studio.ui.controllers.settings import SettingsController
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.theme import Look
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.settings import Edit, Section, Verb
from studio.ui.window import MainWindow
from tests.fakes.registry import FakeRegistry
from tests.fakes.wsl import FakeWsl
from tests.ui.fake_planning import CHAT, FakePlanning
from tests.ui.fake_service import FakeService
from tests.ui.fake_settings import FakeSettings
from tests.ui.opened import opened
from tests.ui.test_window import click, shown, text

PATIENCE_MS = 15_000
GIB = 1 << 30
INSIDE = {"wslinfo": "nat\n", "hostname": "172.20.1.2\n", "du": "12G\t/home/weir/models\n"}


class Pc:
    """A PC whose Linux is set up; its administrator always says yes."""

    def __init__(self, folder: Path) -> None:
        self.fake = FakeWsl.made(folder / "windows", names=["Ubuntu", DISTRIBUTION], inside=INSIDE)
        self.paths = Paths(home=folder / "Jörg's home", catalogue=bundled_root())
        self.disk = self.paths.home / "wsl/ext4.vhdx"
        self.disk.parent.mkdir(parents=True)
        self.disk.write_bytes(b"x" * 4_096)
        self.config = self.fake.folder / ".wslconfig"
        self.config.write_text("[wsl2]\nmemory=1GB\nswap=0\n", encoding="utf-8")
        self.ran: list[str] = []
        self.setup = WslSetup(
            self.paths, environ=self.fake.environ, is_windows=True, registry=FakeRegistry(),
            total_bytes=lambda: 32 * GIB, elevate=self._elevate,
        )  # fmt: skip

    async def _elevate(self, _program: str, words: str) -> int | None:
        self.ran.append(words)
        return 0

    async def answer(self, method: str, path: str, query: str, body: bytes) -> tuple[int, bytes]:
        """Answer what needs no service."""
        return await answered(WslRoutes(self.setup).routes(), method, path, query, body)

    def here(self) -> ControlClient:
        """Return a client of this side."""

        async def nothing() -> None:
            return

        return launcher.in_process(self, nothing)


@pytest.fixture
def pc(tmp_path: Path, service: FakeService) -> Pc:
    """Return that PC; its service plays."""
    FakeSettings(service)
    FakePlanning(service)
    return Pc(tmp_path)


@pytest.fixture
def window(
    qtbot: QtBot, pc: Pc, service: FakeService, look: Look, tmp_path: Path
) -> Iterator[MainWindow]:
    """Return a window that has reached the service, on the page that is asked about."""
    bridge = Bridge(service.connect, None, pc.here)
    made = MainWindow(look, Session(bridge), bridge, WindowSettings(tmp_path))
    qtbot.addWidget(made)
    try:
        with qtbot.waitExposed(made), qtbot.waitSignal(bridge.opened):
            made.show()
            bridge.start()
        opened(made, PageId.SETTINGS, SettingsController).choose(Section.SERVICE)
        qtbot.waitUntil(lambda: shown(made, "do-linux.remove"), timeout=PATIENCE_MS)
        yield made
    finally:
        bridge.close()


def test_its_disk_and_network_are_shown_and_the_disk_is_made_smaller_after_a_yes(
    qtbot: QtBot, pc: Pc, window: MainWindow
) -> None:
    """What is served ends for it, so it is asked first."""
    assert "4.0 KiB" in text(window, "value-linux.compact")
    assert "nat" in text(window, "value-linux.network")
    click(qtbot, window, "do-linux.compact")
    qtbot.waitUntil(lambda: shown(window, "yes-linux.compact"))
    assert ["--terminate", DISTRIBUTION] not in pc.fake.asked

    click(qtbot, window, "yes-linux.compact")

    qtbot.waitUntil(
        lambda: any(call[0] == "--manage" for call in pc.fake.asked), timeout=PATIENCE_MS
    )


def test_other_machines_are_let_in_and_shut_out(qtbot: QtBot, pc: Pc, window: MainWindow) -> None:
    """Each after a question, because Windows asks for the administrator then."""
    click(qtbot, window, "do-linux.lan")
    qtbot.waitUntil(lambda: shown(window, "yes-linux.lan"))
    click(qtbot, window, "yes-linux.lan")
    qtbot.waitUntil(
        lambda: text(window, "value-linux.lan") == "They may reach the gateway.",
        timeout=PATIENCE_MS,
    )
    assert "portproxy add" in pc.ran[-1]

    click(qtbot, window, "do-linux.lan")
    qtbot.waitUntil(lambda: shown(window, "yes-linux.lan"))
    click(qtbot, window, "yes-linux.lan")

    qtbot.waitUntil(lambda: "delete" in pc.ran[-1], timeout=PATIENCE_MS)


def test_memory_is_proposed_for_a_preset_and_written_after_a_yes(
    qtbot: QtBot, pc: Pc, window: MainWindow
) -> None:
    """The planner, which the service asks, says what it takes."""
    page = opened(window, PageId.SETTINGS, SettingsController)
    page.view.edited.emit(Edit(row="linux.memory-for", verb=Verb.SET, value=CHAT.id))
    qtbot.waitUntil(lambda: shown(window, "do-linux.memory"), timeout=PATIENCE_MS)
    click(qtbot, window, "do-linux.memory")
    qtbot.waitUntil(lambda: shown(window, "yes-linux.memory"))
    assert "memory=1GB" in pc.config.read_text(encoding="utf-8")

    click(qtbot, window, "yes-linux.memory")

    qtbot.waitUntil(lambda: not shown(window, "do-linux.memory"), timeout=PATIENCE_MS)
    assert pc.config.with_name(".wslconfig.before-weir").is_file()
    assert "swap=0" in pc.config.read_text(encoding="utf-8")


def test_what_is_in_it_is_said_before_it_is_removed(
    qtbot: QtBot, pc: Pc, window: MainWindow
) -> None:
    """And others of the person's are not touched."""
    click(qtbot, window, "do-linux.remove")
    qtbot.waitUntil(lambda: shown(window, "yes-linux.remove"), timeout=PATIENCE_MS)
    assert "12G /home/weir/models" in text(window, "problem-linux.remove")
    assert not any(call[0] == "--unregister" for call in pc.fake.asked)

    click(qtbot, window, "yes-linux.remove")

    qtbot.waitUntil(lambda: ["--unregister", DISTRIBUTION] in pc.fake.asked, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not shown(window, "do-linux.remove"), timeout=PATIENCE_MS)
    assert not pc.disk.exists()
