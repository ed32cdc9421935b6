"""The settings page in a window, against the fake service."""

import threading

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QScrollArea
from pytestqt.qtbot import QtBot

from studio.domain.adopt import AdoptRequest, AdoptResult, Forgotten
from studio.domain.errors import ErrorInfo
from studio.domain.events import EngineChanged, GatewayChanged
from studio.domain.gateway import GatewayChange
from studio.domain.library import RootChange
from studio.domain.network import NetworkChange
from studio.domain.server import AdoptedInfo, EngineSnapshot, EngineState
from studio.domain.settings import CareChange
from studio.ui.controllers.settings import SettingsController
from studio.ui.pages.settings import SettingsPage
from studio.ui.settings import WindowSettings
from studio.ui.state import Link
from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.settings import Machine, Section, section_view
from studio.ui.viewmodels.settings_gateway import EVERYWHERE
from studio.ui.viewmodels.settings_machine import network_cards
from studio.ui.window import MainWindow
from tests.ui.fake_service import FakeService
from tests.ui.fake_settings import NETWORK, FakeSettings
from tests.ui.opened import opened
from tests.ui.test_window import button, click, shown, text
from tests.ui.visits import SECTIONS

BOB = AdoptedInfo(name="Bob's", url="http://127.0.0.1:8000")


@pytest.fixture
def fake(service: FakeService) -> FakeSettings:
    """Return the fake settings of the fake service."""
    service.be_ready()
    made = FakeSettings(service)
    service.areas.insert(0, service.areas.pop())
    return made


@pytest.fixture
def page(fake: FakeSettings, window: MainWindow) -> SettingsController:
    """Return the page in front."""
    assert fake.asked == []
    return opened(window, PageId.SETTINGS, SettingsController)


def choose(qtbot: QtBot, page: SettingsController, section: Section) -> None:
    """Bring a section to the front and wait for what it shows."""
    click(qtbot, page.view, f"section-{section.value}")
    qtbot.waitUntil(lambda: not page.area.pending)


def field(page: SettingsController, name: str) -> QLineEdit:
    """Return the field of a setting."""
    found = page.view.findChild(QLineEdit, f"field-{name}")
    assert found is not None, name
    return found


def enter(qtbot: QtBot, page: SettingsController, name: str, words: str) -> None:
    """Type into the field of a setting and press Enter."""
    field(page, name).clear()
    qtbot.keyClicks(field(page, name), words)
    qtbot.keyClick(field(page, name), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not page.area.pending)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_fills(qtbot: QtBot, page: SettingsController, section: Section) -> None:
    """Each asks only for what it shows, and shows what came."""
    choose(qtbot, page, section)

    part = page.view.findChild(QLabel, "settings-empty")
    assert part is not None
    assert page.area.machine.problems == {}
    assert shown(page.view, f"part-{section.value}")
    titles = [one for one in page.view.findChildren(QLabel) if one.property("kind") == "lead"]
    assert titles


def test_a_refused_proxy_is_put_right_in_its_own_field(
    qtbot: QtBot, page: SettingsController, fake: FakeSettings
) -> None:
    """Error, correction and success in one place."""
    choose(qtbot, page, Section.NETWORK)
    enter(qtbot, page, "network.proxy", "socks5://127.0.0.1:9050")
    assert "SOCKS" in text(page.view, "problem-network.proxy")
    assert field(page, "network.proxy").text() == "socks5://127.0.0.1:9050"

    enter(qtbot, page, "network.proxy", "http://10.0.0.1:3128")
    assert not shown(page.view, "problem-network.proxy")
    assert fake.asked[-1] == (
        "network",
        NetworkChange(values={"proxy": "http://10.0.0.1:3128"}),
    )
    click(qtbot, page.view, "reset-network.proxy")
    qtbot.waitUntil(lambda: fake.asked[-1] == ("network", NetworkChange(forget=("proxy",))))


def test_folders_of_models_are_added_and_forgotten(
    qtbot: QtBot, page: SettingsController, fake: FakeSettings
) -> None:
    """As `weir models roots` does it."""
    choose(qtbot, page, Section.FOLDERS)
    enter(qtbot, page, "folders.roots", "/data/my models")
    click(qtbot, page.view, "remove-folders.roots-/mnt/nas/models")
    qtbot.waitUntil(lambda: not page.area.pending)

    assert fake.asked == [
        ("roots", RootChange(add="/data/my models")),
        ("roots", RootChange(remove="/mnt/nas/models")),
    ]


def test_opening_the_gateway_asks_first_and_a_yes_opens_it(
    qtbot: QtBot, page: SettingsController, fake: FakeSettings
) -> None:
    """Nothing is exposed by one press; until the yes the old choice is marked."""
    choose(qtbot, page, Section.GATEWAY)
    click(qtbot, page.view, f"choose-gateway.address-{EVERYWHERE}")
    qtbot.waitUntil(lambda: shown(page.view, "yes-gateway.address"))
    assert button(page.view, "choose-gateway.address-127.0.0.1").isChecked()
    assert "Everybody" in text(page.view, "problem-gateway.address")

    click(qtbot, page.view, "yes-gateway.address")
    qtbot.waitUntil(lambda: fake.gateway.settings.address == EVERYWHERE)
    qtbot.waitUntil(lambda: not page.area.pending)
    assert not shown(page.view, "yes-gateway.address")
    assert fake.asked[-1] == ("gateway", GatewayChange(address=EVERYWHERE, expose=True))
    assert button(page.view, f"choose-gateway.address-{EVERYWHERE}").isChecked()


def test_names_pages_aliases_and_port_go_to_the_gateway(
    qtbot: QtBot, page: SettingsController, fake: FakeSettings
) -> None:
    """Each as `weir gateway` would send it."""
    choose(qtbot, page, Section.GATEWAY)
    enter(qtbot, page, "gateway.hosts", "studio.example")
    enter(qtbot, page, "gateway.aliases", "gpt-5 = smollm2")
    enter(qtbot, page, "gateway.port", "18044")
    click(qtbot, page.view, "remove-gateway.origins-http://localhost:3000")
    qtbot.waitUntil(lambda: not page.area.pending)

    assert [change for _name, change in fake.asked] == [
        GatewayChange(hosts=("studio.example",)),
        GatewayChange(aliases={"gpt-5": "smollm2"}),
        GatewayChange(port=18_044),
        GatewayChange(forget=("http://localhost:3000",)),
    ]
    enter(qtbot, page, "gateway.port", "many")
    assert "no whole number" in text(page.view, "problem-gateway.port")
    click(qtbot, page.view, "no-gateway.port")
    assert not shown(page.view, "problem-gateway.port")


def test_care_and_monitor_are_set_and_forgotten(
    qtbot: QtBot, page: SettingsController, fake: FakeSettings
) -> None:
    """What was chosen can be left to the preset again."""
    choose(qtbot, page, Section.ENGINE)
    click(qtbot, page.view, "choose-care.on-death-tell")
    qtbot.waitUntil(lambda: not page.area.pending)
    enter(qtbot, page, "care.stall-s", "90")
    click(qtbot, page.view, "reset-care.stall-s")
    qtbot.waitUntil(lambda: not page.area.pending)
    choose(qtbot, page, Section.MONITOR)
    enter(qtbot, page, "logs.files", "9")
    click(qtbot, page.view, "switch-scrape.on")
    qtbot.waitUntil(lambda: not page.area.pending)
    click(qtbot, page.view, "remove-alarms.mutes-throttled-heat")
    qtbot.waitUntil(lambda: text(page.view, "note-alarms.mutes") == "None is muted.")

    assert [change for _name, change in fake.asked] == [
        CareChange(values={"on-death": "tell"}),
        CareChange(values={"stall-s": "90"}),
        CareChange(forget=("stall-s",)),
    ]
    assert fake.logs.files == 9
    assert text(page.view, "value-scrape.url") == "http://127.0.0.1:18021/metrics"


def test_the_service_is_let_go_and_what_starts_with_it_is_chosen(
    qtbot: QtBot, page: SettingsController, fake: FakeSettings
) -> None:
    """The answer to each is how the service then stands."""
    choose(qtbot, page, Section.SERVICE)
    box = page.view.findChild(QComboBox, "pick-service.autostart")
    assert box is not None
    assert box.currentText() == "Try it, on any machine"
    box.activated.emit(0)
    qtbot.waitUntil(lambda: not page.area.pending)
    click(qtbot, page.view, "choose-service.sleep-stop")
    qtbot.waitUntil(lambda: not page.area.pending)
    click(qtbot, page.view, "do-service.unit")
    qtbot.waitUntil(lambda: button(page.view, "do-service.unit").text() == "Keep it running")

    assert [name for name, _ in fake.asked] == ["autostart", "sleep", "uninstall"]
    assert text(page.view, "note-service.autostart") == "Nothing starts by itself."


def test_links_lead_to_the_pages_that_own_the_matter(
    qtbot: QtBot, page: SettingsController, window: MainWindow
) -> None:
    """Keys are made on one page only."""
    choose(qtbot, page, Section.GATEWAY)

    click(qtbot, page.view, "do-gateway.keys")

    assert window.front is PageId.KEYS


def test_theme_and_manners_hold_at_once_and_are_remembered(
    qtbot: QtBot, page: SettingsController, window: MainWindow
) -> None:
    """No service is asked for what belongs to the window."""
    settings: WindowSettings = page.desk.settings
    click(qtbot, page.view, "choose-window.theme-light")
    click(qtbot, page.view, "switch-window.notifies")
    click(qtbot, page.view, "choose-window.motion-reduced")

    assert page.desk.look.choice is ThemeChoice.LIGHT
    assert button(window, "choose-window.theme-light").isChecked()
    assert not settings.notifies
    assert settings.motion.value == "reduced"
    with qtbot.waitSignal(page.desk.guide.language_asked) as asked:
        box = page.view.findChild(QComboBox, "pick-window.language")
        assert box is not None
        box.activated.emit(2)
    assert asked.args == ["zh_CN"]
    assert settings.language == "zh_CN"


def test_a_service_that_goes_leaves_values_at_rest_and_its_return_reads_them_again(
    qtbot: QtBot, page: SettingsController, fake: FakeSettings, service: FakeService
) -> None:
    """The last values stay readable; presses would be lost."""
    choose(qtbot, page, Section.NETWORK)
    service.close()
    qtbot.waitUntil(lambda: page.desk.session.known.link is Link.LOST)
    qtbot.waitUntil(lambda: not field(page, "network.proxy").isEnabled())
    assert text(page.view, "value-network.downloads").endswith("cache/downloads")

    fake.network = msgspec.structs.replace(fake.network, connections=9)
    qtbot.waitUntil(lambda: page.desk.session.known.link is Link.LIVE)
    qtbot.waitUntil(lambda: field(page, "network.connections").text() == "9")
    assert field(page, "network.proxy").isEnabled()


def test_what_cannot_be_read_says_why(
    qtbot: QtBot, page: SettingsController, fake: FakeSettings
) -> None:
    """An older service does not know a call; the page says its words and goes on."""
    fake.updates = ErrorInfo(code="catalog-damaged", message="It cannot be read.", hint="Mend it.")
    choose(qtbot, page, Section.UPDATES)

    def seen() -> set[str]:
        return {part.text() for part in page.view.findChildren(QLabel) if part.isVisible()}

    words = {"It cannot be read. Mend it.", "Not everything could be read", "Newer versions"}
    qtbot.waitUntil(lambda: words <= seen())
    fake.updates = ErrorInfo(code="x", message="")
    choose(qtbot, page, Section.ENGINE)
    assert page.area.machine.problems.keys() == {"updates"}


def test_the_gateway_section_follows_the_gateway(
    qtbot: QtBot, page: SettingsController, fake: FakeSettings, service: FakeService
) -> None:
    """`weir gateway listen` in a terminal is seen here."""
    choose(qtbot, page, Section.GATEWAY)
    fake.gateway = msgspec.structs.replace(fake.gateway, port=19_000)

    service.publish(GatewayChanged(base_url="http://127.0.0.1:19000/v1"))

    qtbot.waitUntil(lambda: field(page, "gateway.port").text() == "19000")


def test_a_slow_service_blocks_nothing_and_is_asked_once(
    qtbot: QtBot, page: SettingsController, fake: FakeSettings, service: FakeService
) -> None:
    """Ten presses on a switch that hangs are one wish."""
    choose(qtbot, page, Section.NETWORK)
    release = threading.Event()

    def slow(method: str, route: str, _body: bytes) -> object:
        if (method, route) == ("POST", "/network"):
            release.wait(10)
        return None

    service.areas.insert(0, slow)
    click(qtbot, page.view, "switch-network.offline")
    assert not button(page.view, "switch-network.offline").isEnabled()
    click(qtbot, page.view, "section-engine")
    assert shown(page.view, "part-engine")
    release.set()
    qtbot.waitUntil(lambda: not page.area.pending)

    assert fake.asked == [("network", NetworkChange(values={"offline": "on"}))]


def test_the_smallest_window_shows_every_section_unclipped(
    qtbot: QtBot, page: SettingsController, window: MainWindow
) -> None:
    """900×600: everything wraps, nothing needs a sideways scroll."""
    window.resize(900, 600)
    for section in SECTIONS:
        choose(qtbot, page, section)
        part = page.view.findChild(QScrollArea, f"part-{section.value}")
        assert part is not None
        content = part.widget()
        assert content is not None
        assert content.minimumSizeHint().width() <= part.viewport().width(), section


def test_cards_that_come_late_are_whole_before_anything_is_painted(
    qtbot: QtBot, look: Look
) -> None:
    """Cards come with the answer; a slow machine showed them for a moment with no height."""
    page = SettingsPage(look)
    qtbot.addWidget(page)
    page.resize(840, 540)
    page.show_section(section_view(Section.NETWORK, Machine(is_live=True), ()))
    with qtbot.waitExposed(page):
        page.show()
    machine = Machine(is_live=True, network=NETWORK)

    page.show_section(section_view(Section.NETWORK, machine, network_cards(machine)))

    wrapped = [one for one in page.findChildren(QLabel) if one.isVisible() and one.wordWrap()]
    squashed = [one.text() for one in wrapped if one.height() < one.heightForWidth(one.width()) - 1]
    assert len(wrapped) > 10
    assert squashed == []


@pytest.fixture
def asked(service: FakeService, fake: FakeSettings) -> list[tuple[str, bytes]]:
    """Have the service adopt what it is given with the right key; return what it was asked."""
    assert fake.service is service
    found: list[tuple[str, bytes]] = []

    def answer(method: str, route: str, body: bytes) -> object:
        if method != "POST" or not route.startswith("/adopted"):
            return None
        found.append((route, body))
        if route == "/adopted/forget":
            service.engine = EngineSnapshot()
            service.publish(EngineChanged(engine=service.engine))
            return Forgotten(was_adopted=True, name=BOB.name)
        if msgspec.json.decode(body, type=AdoptRequest).key != "right":
            return ErrorInfo(code="adopt-key-refused", message="It wants another key.")
        service.engine = EngineSnapshot(state=EngineState.ADOPTED, adopted=BOB)
        service.publish(EngineChanged(engine=service.engine))
        return AdoptResult(
            base_url="http://127.0.0.1:18020/v1", api_key="weir-sk-once", served_name="qwen",
            adopted=BOB, notes=("It gives no /metrics: pool and tok/s stay unknown.",),
        )  # fmt: skip

    service.areas.insert(0, answer)
    return found


def test_a_vllm_is_adopted_and_let_go_from_the_settings(
    qtbot: QtBot, page: SettingsController, window: MainWindow, asked: list[tuple[str, bytes]]
) -> None:
    """A wrong key is told in the form, the first key of the clients is not lost, Stop is gone."""
    choose(qtbot, page, Section.ENGINE)
    click(qtbot, page.view, "do-adopt.open")
    dialog = page.adopting.dialog
    assert dialog is not None
    dialog.address.setText("http://127.0.0.1:8000")
    click(qtbot, dialog, "adopt-do")
    qtbot.waitUntil(lambda: "It wants a key" in text(dialog, "adopt-fault"))

    dialog.key.setText("right")
    click(qtbot, dialog, "adopt-do")
    qtbot.waitUntil(lambda: "no /metrics" in text(dialog, "adopt-said"))
    click(qtbot, dialog, "adopt-follow")

    session = page.desk.session
    assert session.known.secret is not None
    assert session.known.secret.key == "weir-sk-once"
    qtbot.waitUntil(lambda: session.known.engine.adopted == BOB)
    assert not shown(window, "stop")
    opened(window, PageId.SETTINGS, SettingsController)
    qtbot.waitUntil(lambda: shown(page.view, "do-adopt.forget"))
    click(qtbot, page.view, "do-adopt.forget")
    qtbot.waitUntil(lambda: shown(page.view, "do-adopt.open"))
    assert [route for route, _body in asked] == ["/adopted", "/adopted", "/adopted/forget"]


def test_a_form_that_was_closed_leaves_the_answer_in_its_place(
    qtbot: QtBot, page: SettingsController, asked: list[tuple[str, bytes]]
) -> None:
    """Whoever closes it while the vLLM is asked still learns what came of it."""
    choose(qtbot, page, Section.ENGINE)
    click(qtbot, page.view, "do-adopt.open")
    dialog = page.adopting.dialog
    assert dialog is not None
    dialog.address.setText("http://127.0.0.1:8000")
    click(qtbot, dialog, "adopt-do")
    dialog.close()

    qtbot.waitUntil(lambda: "another key" in text(page.view, "problem-adopt.open"))
    assert len(asked) == 1
