"""The Studio's Linux from the settings of a window on Windows, against a `wsl.exe` of ours."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from studio.app.wsl import WslSetup
from studio.domain.plans import LedgerItem, LedgerPlace, Plan, PlanVerdict
from studio.domain.self_update import UpdateStatus
from studio.domain.wsl import DISTRIBUTION
from studio.ui.controllers.settings import SettingsController
from studio.ui.state import Link
from studio.ui.theme import Look
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.settings import Edit, Section, Verb
from studio.ui.viewmodels.settings_program import AT_A_TIME
from studio.ui.window import MainWindow
from tests.fakes.registry import FakeRegistry
from tests.ui.fake_service import DEMO, FakeService
from tests.ui.fake_settings import FakeSettings
from tests.ui.opened import opened
from tests.ui.test_window import button, click, shown, text
from tests.ui.test_wsl import PATIENCE_MS, PROGRAM, Windows

GIB = 1 << 30
NETWORK = {
    "wslinfo": "nat\n", "hostname -I": "172.20.1.2 \n", "du": "12G\t/models\n3G\t/runtimes\n",
}  # fmt: skip


class Pc(Windows):
    """A Windows whose Linux is set up, with an administrator who says yes."""

    def __init__(self, folder: Path, service: FakeService, look: Look) -> None:
        super().__init__(folder, service, look, names=[DISTRIBUTION], inside=PROGRAM)
        self.registry = FakeRegistry()
        self.ran: list[str] = []
        self.disk = self.paths.home / "wsl/ext4.vhdx"
        self.disk.parent.mkdir(parents=True)
        self.disk.write_bytes(b"x" * 4_096)
        self.fake.know(disk=str(self.disk), compacted="x" * 1_024)

    def setup(self) -> WslSetup:
        """Return a setup on this PC."""
        return WslSetup(
            self.paths, environ=self.environ, is_windows=True, boot_at=lambda: self.booted_at,
            total_bytes=lambda: 32 * GIB, registry=self.registry, elevate=self._elevate,
        )  # fmt: skip

    async def _elevate(self, _program: str, parameters: str) -> int | None:
        self.ran.append(parameters)
        return 0

    def spawn(self, *words: object) -> object:
        """Be the service inside, whose Linux also tells of its network and its folders."""
        made = super().spawn(*words)
        self.fake.know(inside={**self.fake.known["inside"], **NETWORK})
        return made


@pytest.fixture
def pc(tmp_path: Path, service: FakeService, look: Look) -> Iterator[Pc]:
    """Return that PC."""
    FakeSettings(service)
    made = Pc(tmp_path, service, look)
    yield made
    for bridge in made.bridges:
        bridge.close()


@pytest.fixture
def live(qtbot: QtBot, pc: Pc, service: FakeService) -> MainWindow:
    """Return a window that reached the service inside."""
    window, session = pc.window(qtbot)
    qtbot.waitUntil(
        lambda: session.known.link is Link.LIVE and service.listeners == 1, timeout=PATIENCE_MS
    )
    return window


@pytest.fixture
def page(qtbot: QtBot, live: MainWindow) -> SettingsController:
    """Return the part about the Linux, in front and filled."""
    made = opened(live, PageId.SETTINGS, SettingsController)
    click(qtbot, made.view, "section-linux")
    qtbot.waitUntil(lambda: shown(live, "do-linux.compact"), timeout=PATIENCE_MS)
    return made


def settled(qtbot: QtBot, page: SettingsController, row: str) -> None:
    """Wait until a row rests no more."""
    qtbot.waitUntil(lambda: row not in page.area.machine.pending, timeout=PATIENCE_MS)


def plans(service: FakeService, needed_gib: int) -> None:
    """Have the planner say that everything takes so much of the PC's memory."""
    item = LedgerItem(
        name="memory", title="", bytes=needed_gib * GIB, place=LedgerPlace.MEMORY, source="a test"
    )
    plan = Plan(model="", engine="", host="", verdict=PlanVerdict.FITS, ledger=(item,))
    service.areas.insert(0, lambda _method, route, _body: plan if route == "/plan" else None)


def test_memory_is_proposed_for_a_preset_and_written_after_its_change_was_shown(
    qtbot: QtBot, pc: Pc, live: MainWindow, page: SettingsController, service: FakeService
) -> None:
    """The person's own lines stay, and nothing is written before the yes."""
    config = pc.fake.folder / ".wslconfig"
    config.write_text("[wsl2]\nswap=0\nmemory=8GB\n", encoding="utf-8")
    plans(service, 20)
    box = live.findChild(QComboBox, "pick-linux.preset")
    assert isinstance(box, QComboBox)
    box.setCurrentIndex(box.findText(DEMO.id))
    box.activated.emit(box.currentIndex())
    qtbot.waitUntil(lambda: shown(live, "do-linux.proposed"), timeout=PATIENCE_MS)
    assert "22.00 GiB" in text(live, "note-linux.memory")

    click(qtbot, live, "do-linux.proposed")
    qtbot.waitUntil(lambda: shown(live, "lines-linux.proposed"), timeout=PATIENCE_MS)
    shows = text(live, "lines-linux.proposed")
    assert shows.splitlines() == [" swap=0", "-memory=8GB", "+# memory=8GB", "+memory=22GB"]
    click(qtbot, live, "no-linux.proposed")
    qtbot.waitUntil(lambda: not shown(live, "lines-linux.proposed"))
    assert "22GB" not in config.read_text(encoding="utf-8")

    click(qtbot, live, "do-linux.proposed")
    qtbot.waitUntil(lambda: shown(live, "yes-linux.proposed"), timeout=PATIENCE_MS)
    click(qtbot, live, "yes-linux.proposed")
    qtbot.waitUntil(lambda: "shutdown" in text(live, "note-linux.memory"), timeout=PATIENCE_MS)
    written = config.read_text(encoding="utf-8")
    assert "memory=22GB" in written
    assert "swap=0" in written
    assert (pc.fake.folder / ".wslconfig.before-weir").is_file()

    plans(service, 24)
    box = live.findChild(QComboBox, "pick-linux.preset")
    assert isinstance(box, QComboBox)
    box.activated.emit(box.currentIndex())
    qtbot.waitUntil(lambda: "26.00 GiB" in text(live, "note-linux.memory"), timeout=PATIENCE_MS)


def test_a_memory_of_ones_own_is_shown_first_and_no_number_is_refused(
    qtbot: QtBot, pc: Pc, live: MainWindow, page: SettingsController
) -> None:
    """As `weir wsl memory --gib`."""
    field = live.findChild(QLineEdit, "field-linux.memory")
    assert isinstance(field, QLineEdit)
    qtbot.keyClicks(field, "many")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "“many”" in text(live, "problem-linux.memory"))

    field.clear()
    qtbot.keyClicks(field, "12")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: shown(live, "yes-linux.memory"), timeout=PATIENCE_MS)
    assert text(live, "lines-linux.memory") == "+[wsl2]\n+memory=12GB"
    click(qtbot, live, "yes-linux.memory")
    settled(qtbot, page, "linux.memory")
    assert "memory=12GB" in (pc.fake.folder / ".wslconfig").read_text(encoding="utf-8")


def test_other_machines_are_let_in_once_the_commands_were_shown(
    qtbot: QtBot, pc: Pc, live: MainWindow, page: SettingsController, service: FakeService
) -> None:
    """Firewall and proxy on Windows, then the gateway inside; and closed again."""
    qtbot.waitUntil(
        lambda: page.area.machine.wsl is not None and bool(page.area.machine.wsl.lan),
        timeout=PATIENCE_MS,
    )
    click(qtbot, live, "switch-linux.lan")
    qtbot.waitUntil(lambda: shown(live, "yes-linux.lan"))
    assert "netsh" in text(live, "lines-linux.lan")
    assert pc.ran == []
    click(qtbot, live, "yes-linux.lan")
    qtbot.waitUntil(lambda: shown(live, "do-linux.gateway"), timeout=PATIENCE_MS)
    assert "connectaddress=172.20.1.2" in pc.ran[0]

    click(qtbot, live, "do-linux.gateway")
    qtbot.waitUntil(lambda: shown(live, "yes-linux.gateway"), timeout=PATIENCE_MS)
    click(qtbot, live, "yes-linux.gateway")
    qtbot.waitUntil(lambda: "answers other" in text(live, "value-linux.gateway"),
                    timeout=PATIENCE_MS)  # fmt: skip
    assert page.area.machine.wsl is not None
    assert page.area.machine.gateway is not None
    assert set(page.area.machine.wsl.lan_hosts) <= set(page.area.machine.gateway.settings.hosts)

    pc.fake.know(inside={**pc.fake.known["inside"], "hostname -I": "172.20.9.9\n"})
    page.choose(Section.LINUX)
    qtbot.waitUntil(lambda: shown(live, "do-linux.again"), timeout=PATIENCE_MS)
    click(qtbot, live, "do-linux.again")
    qtbot.waitUntil(lambda: shown(live, "yes-linux.again"))
    click(qtbot, live, "yes-linux.again")
    qtbot.waitUntil(lambda: not shown(live, "value-linux.stale"), timeout=PATIENCE_MS)
    assert "connectaddress=172.20.9.9" in pc.ran[1]

    click(qtbot, live, "switch-linux.lan")
    qtbot.waitUntil(lambda: shown(live, "yes-linux.lan"))
    assert shown(live, "value-linux.gateway")
    click(qtbot, live, "yes-linux.lan")
    qtbot.waitUntil(lambda: not shown(live, "value-linux.gateway"), timeout=PATIENCE_MS)
    assert "portproxy delete" in pc.ran[2]


def held_down(service: FakeService) -> list[str]:
    """Have the service agree to end, and note when it was asked; it goes when a test says so."""
    ends: list[str] = []

    def down(method: str, route: str, _body: bytes) -> object:
        if (method, route) != ("POST", "/down"):
            return None
        ends.append(route)
        return {"down": True}

    service.areas.insert(0, down)
    return ends


def test_the_image_is_made_smaller_between_the_goodbye_and_the_next_start(
    qtbot: QtBot, pc: Pc, live: MainWindow, page: SettingsController, service: FakeService
) -> None:
    """Asked first, because what is served ends; both sizes are said, and the service is back."""
    ends = held_down(service)
    click(qtbot, live, "do-linux.compact")
    qtbot.waitUntil(lambda: shown(live, "yes-linux.compact"))
    assert not ends

    click(qtbot, live, "yes-linux.compact")
    qtbot.waitUntil(lambda: bool(ends), timeout=PATIENCE_MS)
    assert ["--manage", DISTRIBUTION, "--compact"] not in pc.fake.asked
    service.say_goodbye()

    qtbot.waitUntil(
        lambda: text(live, "value-linux.compact") == "1.0 KiB; it was 4.0 KiB", timeout=PATIENCE_MS
    )
    qtbot.waitUntil(
        lambda: page.desk.session.known.link is Link.LIVE and service.listeners == 1,
        timeout=PATIENCE_MS,
    )
    assert pc.fake.asked.count(["--manage", DISTRIBUTION, "--compact"]) == 1


def test_while_one_thing_ends_the_linux_another_does_not_begin(
    qtbot: QtBot, live: MainWindow, page: SettingsController, service: FakeService
) -> None:
    """A yes to a question that still stands there would rest for ever, or do nothing unsaid."""
    ends = held_down(service)
    click(qtbot, live, "do-linux.compact")
    qtbot.waitUntil(lambda: shown(live, "yes-linux.compact"))
    page._on_edited(Edit(row="linux.renew", verb=Verb.SET, value=""))
    click(qtbot, live, "yes-linux.compact")
    assert not button(live, "do-linux.compact").isEnabled()
    assert not button(live, "do-linux.remove").isEnabled()

    page._on_edited(Edit(row="linux.renew", verb=Verb.CONSENT))

    assert page.area.machine.pending == {"linux.compact"}
    problem = page.area.machine.problems["linux.renew"]
    assert problem.message.startswith("The disk image of the Linux is being made smaller.")
    assert problem.hint == "Press again when that is over."
    qtbot.waitUntil(lambda: bool(ends), timeout=PATIENCE_MS)
    service.say_goodbye()
    settled(qtbot, page, "linux.compact")
    assert button(live, "do-linux.remove").isEnabled()
    assert "linux.renew" not in page.area.machine.problems


def test_while_a_version_takes_over_the_linux_is_left_alone(
    qtbot: QtBot, live: MainWindow, page: SettingsController, service: FakeService
) -> None:
    """The two ended and started the same service without knowing of each other."""
    ends = held_down(service)
    hold = asyncio.Event()  # never set: the version is being chosen as long as this test lasts

    async def choosing(_client: object) -> UpdateStatus:
        await hold.wait()
        raise AssertionError("it is not chosen here")

    click(qtbot, live, "do-linux.compact")
    qtbot.waitUntil(lambda: shown(live, "yes-linux.compact"))
    page.desk.lasting.exchange.begin("program.apply", choosing)

    click(qtbot, live, "yes-linux.compact")
    click(qtbot, live, "do-linux.remove")

    for row in ("linux.compact", "linux.remove"):
        assert text(live, f"problem-{row}").startswith("Another version is taking over.")
    assert page.desk.lasting.between.name is None
    assert not ends


def test_while_the_linux_is_made_smaller_no_version_takes_over(
    qtbot: QtBot, live: MainWindow, page: SettingsController, service: FakeService
) -> None:
    """Said when the button is pressed, not after the question; and gone when it is over."""
    ends = held_down(service)
    click(qtbot, live, "do-linux.compact")
    qtbot.waitUntil(lambda: shown(live, "yes-linux.compact"))
    click(qtbot, live, "yes-linux.compact")
    qtbot.waitUntil(lambda: bool(ends), timeout=PATIENCE_MS)

    page._on_edited(Edit(row="program.apply", verb=Verb.SET, value=""))

    assert page.area.machine.problems["program.apply"].code == AT_A_TIME
    assert page.desk.lasting.exchange.name is None
    service.say_goodbye()
    settled(qtbot, page, "linux.compact")
    assert "program.apply" not in page.area.machine.problems


def test_what_is_lost_is_said_before_the_linux_is_removed(
    qtbot: QtBot, pc: Pc, live: MainWindow, page: SettingsController
) -> None:
    """Models are hours of downloads."""
    click(qtbot, live, "do-linux.remove")
    qtbot.waitUntil(lambda: shown(live, "yes-linux.remove"), timeout=PATIENCE_MS)
    assert "12G     /models" in text(live, "lines-linux.remove")
    assert ["--unregister", DISTRIBUTION] not in pc.fake.asked

    click(qtbot, live, "yes-linux.remove")

    qtbot.waitUntil(lambda: "not there yet" in text(live, "value-linux.state"), timeout=PATIENCE_MS)
    assert ["--unregister", DISTRIBUTION] in pc.fake.asked
    assert not shown(live, "do-linux.remove")


def test_where_it_is_no_windows_the_part_is_not_there(window: MainWindow) -> None:
    """Nobody could be asked."""
    opened(window, PageId.SETTINGS, SettingsController)

    assert not button(window, "section-linux").isVisible()
    assert button(window, "section-service").isVisible()
