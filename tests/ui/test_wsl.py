"""A fresh Windows in the window: from no WSL at all over a restart to a service that answers.

`wsl.exe` is a program of ours that speaks German in UTF-16; what it was asked is what a real one
would be asked. Only the administrator's question is played.
"""

import functools
import json
import lzma
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from studio import __version__
from studio.app.wsl import WslSetup
from studio.control import launcher, wsl_launcher
from studio.control.calls import answered
from studio.control.client import ControlClient
from studio.control.wsl import WslRoutes
from studio.domain.errors import ServiceUnreachable
from studio.domain.wsl import DISTRIBUTION, WslReport, WslStep
from studio.host.paths import Paths, bundled_root
from studio.host.wsl_exe import WslExe
from studio.ui.bridge import Bridge
from studio.ui.language import CHINESE, SOURCE, speak
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.state import Link
from studio.ui.theme import Look
from studio.ui.window import SMALLEST, MainWindow
from studio.ui.wsl import WslArea
from tests.fakes.wsl import FakeWsl
from tests.ui.fake_service import TOKEN, FakeService
from tests.ui.test_window import button, click, shown, text

PATIENCE_MS = 60_000
HOME = "/home/weir/.local/share/weir-studio/service"
PROGRAM = {"/usr/bin/weir --version": f"weir {__version__}\n"}
"""What the Linux has from its import: a program of this version."""


class Answers:
    """What `weir wsl` asks, without a service."""

    def __init__(self, setup: WslSetup) -> None:
        self._routes = WslRoutes(setup)

    async def answer(self, method: str, path: str, query: str, body: bytes) -> tuple[int, bytes]:
        """Return status and JSON body."""
        return await answered(self._routes.routes(), method, path, query, body)


class Windows:
    """One PC and the window on it, whose `wsl.exe` may be missing at first."""

    def __init__(self, folder: Path, service: FakeService, look: Look, **known: object) -> None:
        self.fake = FakeWsl.made(folder / "windows", **{"inside": PROGRAM, **known})
        self.paths = Paths(home=folder / "Jörg's home", catalogue=bundled_root())
        self.paths.logs.mkdir(parents=True)
        self.environ = {**self.fake.environ, "PROCESSOR_IDENTIFIER": "AMD64 AuthenticAMD"}
        self.booted_at = 1_000.0
        self.service = service
        self.look = look
        self.folder = folder
        self.bridges: list[Bridge] = []

    @property
    def program(self) -> Path:
        """Return `wsl.exe`."""
        return self.fake.folder / "bin/wsl.exe"

    def setup(self) -> WslSetup:
        """Return a setup, as each call makes one."""
        return WslSetup(
            self.paths, environ=self.environ, is_windows=True, boot_at=lambda: self.booted_at
        )

    def here(self) -> ControlClient:
        """Return what answers without a service."""

        async def nothing() -> None:
            return

        return launcher.in_process(Answers(self.setup()), nothing)

    def spawn(self, command: Sequence[str], _environ: Mapping[str, str], _log: Path) -> object:
        """Be the service inside: listen, and lay address and token where they are read."""
        assert list(command)[:3] == ["wsl.exe", "--distribution", DISTRIBUTION]
        if not self.service.is_open:
            self.service.open()
        port = int(self.service.address.rpartition(":")[2])
        self.fake.know(
            inside={
                **PROGRAM,
                f"cat {HOME}/service.json": json.dumps({"port": port}),
                f"cat {HOME}/token": TOKEN,
            }
        )
        return None

    def window(self, qtbot: QtBot) -> tuple[MainWindow, Session]:
        """Open a window, as after a restart of Windows, too."""
        connect = functools.partial(
            wsl_launcher.connect, self.paths, self.setup(), start=True, spawn=self.spawn
        )
        bridge = Bridge(connect, None, self.here)
        self.bridges.append(bridge)
        session = Session(bridge)
        made = MainWindow(self.look, session, bridge, WindowSettings(self.folder))
        qtbot.addWidget(made)
        with qtbot.waitExposed(made):
            made.show()
        session.begin()
        return made, session


@pytest.fixture
def administrator(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """Return what the administrator's installation ends with; it is asked for through a list."""
    answers: list[int | None] = []

    async def install(_exe: WslExe) -> int | None:
        return answers.pop(0)

    monkeypatch.setattr(WslExe, "install", install)
    return answers


@pytest.fixture
def windows(
    tmp_path: Path, service: FakeService, look: Look, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Windows]:
    """Return a Windows with a WSL, on which nothing of ours is."""
    made = Windows(tmp_path, service, look)
    packed = tmp_path / "weir-studio-rootfs.tar.xz"
    packed.write_bytes(lzma.compress(b"tar"))
    monkeypatch.setattr("studio.app.wsl.ROOTFS", str(packed))
    yield made
    for bridge in made.bridges:
        bridge.close()


def step(window: MainWindow, number: int) -> str:
    """Return what a screen reader says of a step."""
    found = window.findChild(QWidget, f"wsl-step-{number}")
    return found.accessibleName() if found is not None else ""


def test_a_bare_windows_is_set_up_over_a_restart_by_one_button(
    qtbot: QtBot, windows: Windows, administrator: list[int | None]
) -> None:
    """What is missing is said, each press goes as far as it can, and the restart loses nothing."""
    later = windows.program.rename(windows.fake.folder / "later.exe")
    window, session = windows.window(qtbot)
    qtbot.waitUntil(lambda: shown(window, "wsl-go-on"), timeout=PATIENCE_MS)
    assert not shown(window, "chooser")
    assert button(window, "wsl-go-on").text() == "Install WSL"
    assert "administrator" in text(window, "wsl-lines")
    assert step(window, 1) == "Windows Subsystem for Linux, now. It is not installed."
    assert step(window, 4) == "The Studio's Linux, later."

    administrator.append(3010)
    click(qtbot, window, "wsl-go-on")
    qtbot.waitUntil(lambda: step(window, 2).startswith("Windows started anew, now"),
                    timeout=PATIENCE_MS)  # fmt: skip
    assert button(window, "wsl-go-on").text() == "Look again"
    windows.bridges.pop().close()

    windows.booted_at += 600.0
    later.rename(windows.program)
    window, session = windows.window(qtbot)
    qtbot.waitUntil(lambda: shown(window, "wsl-go-on"), timeout=PATIENCE_MS)
    assert button(window, "wsl-go-on").text() == "Set up the Linux"
    assert step(window, 1) == "Windows Subsystem for Linux, done."
    assert step(window, 0) == "Virtualization, done."
    click(qtbot, window, "wsl-go-on")

    qtbot.waitUntil(lambda: session.known.link is Link.LIVE, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not shown(window, "wsl"))
    assert not shown(window, "wsl-foot")
    imported = next(words for words in windows.fake.asked if words[0] == "--import")
    assert imported[1] == DISTRIBUTION
    assert imported[4:] == ["--version", "2"]


def test_an_old_wsl_is_updated_and_the_rest_follows_by_the_same_press(
    qtbot: QtBot, windows: Windows, administrator: list[int | None]
) -> None:
    """As `weir wsl setup`: as far as it goes without a person."""
    windows.fake.know(version=None)
    window, session = windows.window(qtbot)
    qtbot.waitUntil(lambda: shown(window, "wsl-go-on"), timeout=PATIENCE_MS)
    assert button(window, "wsl-go-on").text() == "Update WSL"

    click(qtbot, window, "wsl-go-on")

    qtbot.waitUntil(lambda: session.known.link is Link.LIVE, timeout=PATIENCE_MS)
    assert ["--update"] in windows.fake.asked
    assert administrator == []


def test_a_no_to_the_administrator_says_so_and_the_button_stays(
    qtbot: QtBot, windows: Windows, administrator: list[int | None]
) -> None:
    """Nothing was changed, and it can be tried again."""
    windows.program.rename(windows.fake.folder / "later.exe")
    window, _session = windows.window(qtbot)
    qtbot.waitUntil(lambda: shown(window, "wsl-go-on"), timeout=PATIENCE_MS)

    administrator.append(None)
    click(qtbot, window, "wsl-go-on")

    qtbot.waitUntil(lambda: shown(window, "wsl-problem"), timeout=PATIENCE_MS)
    assert "the administrator's yes did not come" in text(window, "wsl-problem")
    assert button(window, "wsl-go-on").isEnabled()
    assert button(window, "wsl-go-on").text() == "Install WSL"


def test_virtualization_that_is_off_is_named_as_the_maker_calls_it(
    qtbot: QtBot, windows: Windows, assets: Path
) -> None:
    """In the smallest window and in Chinese, too, with the button in view."""
    windows.fake.know(error="HCS_E_HYPERV_NOT_INSTALLED")
    speak(CHINESE, assets)
    try:
        window, _session = windows.window(qtbot)
        window.resize(*SMALLEST)
        qtbot.waitUntil(lambda: shown(window, "wsl-go-on"), timeout=PATIENCE_MS)
        assert "SVM" in step(window, 0)
        foot = window.findChild(QWidget, "wsl-foot")
        assert foot is not None
        qtbot.waitUntil(lambda: foot.visibleRegion().boundingRect().size() == foot.size())
    finally:
        speak(SOURCE, assets)

    windows.fake.know(error=None)
    click(qtbot, window, "wsl-go-on")

    qtbot.waitUntil(lambda: not step(window, 0).count("SVM"), timeout=PATIENCE_MS)


class Patient(Bridge):
    """Keeps what waits for an answer of this machine, to be answered in any order."""

    def __init__(self) -> None:
        super().__init__(self._nobody, here=self._nothing)
        self.waiting: list[Callable[[WslReport], None]] = []

    def ask_here(
        self, _question: object, done: Callable[[WslReport], None], _failed: object
    ) -> None:
        """Keep who is to be told."""
        self.waiting.append(done)

    async def _nobody(self) -> ControlClient:
        raise ServiceUnreachable("service-not-running", "No service is running.")

    def _nothing(self) -> ControlClient:
        raise AssertionError("nobody is asked")


def test_a_look_from_before_the_end_of_a_step_does_not_offer_it_again(qapp: QApplication) -> None:
    """One is asked each second while a step is taken; the last one is answered after its end."""
    assert qapp is not None
    bridge = Patient()
    area = WslArea(bridge)
    area.look()
    bridge.waiting.pop()(WslReport(step=WslStep.IMPORT))
    area.go_on()
    area.look()
    step, late = bridge.waiting

    step(WslReport(step=WslStep.START))
    late(WslReport(step=WslStep.IMPORT))

    assert area.report == WslReport(step=WslStep.START)
    assert area.view(is_live=False) is None


def test_nothing_of_it_is_shown_where_nobody_can_be_asked(
    qtbot: QtBot, look: Look, service: FakeService, tmp_path: Path
) -> None:
    """A Linux whose service is away is no Windows that has to be set up."""

    async def refused() -> ControlClient:
        raise ServiceUnreachable("service-not-running", "No service is running.")

    bridge = Bridge(refused)
    session = Session(bridge)
    window = MainWindow(look, session, bridge, WindowSettings(tmp_path))
    qtbot.addWidget(window)
    session.begin()
    try:
        qtbot.waitUntil(lambda: session.known.link is Link.LOST)
        assert window.home.wsl.report is None
        assert window.home.wsl.view(is_live=False) is None
    finally:
        bridge.close()
