"""A service that is away, comes back, or answers late: nothing is claimed, and nothing stays so."""

import re

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from studio.domain.errors import ErrorInfo
from studio.domain.keys import UsageBy
from studio.ui.area import Area
from studio.ui.bridge import Bridge
from studio.ui.controllers.connect import ConnectController
from studio.ui.controllers.keys import KeysController
from studio.ui.controllers.logs import LogsController
from studio.ui.controllers.models import ModelsController
from studio.ui.controllers.monitor import MonitorController
from studio.ui.controllers.plan import PlanController
from studio.ui.controllers.settings import SettingsController
from studio.ui.controllers.table import CONTROLLERS
from studio.ui.pages.log_desk import Part
from studio.ui.pages.monitor import Part as MonitorPart
from studio.ui.session import Session
from studio.ui.state import Link
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.settings import Section
from studio.ui.window import MainWindow
from tests.ui import pseudo
from tests.ui.fake_clients import FakeClients
from tests.ui.fake_models import GGUF, QWEN, FakeModels
from tests.ui.fake_planning import CHAT, MINE, FakePlanning
from tests.ui.fake_records import FakeRecords
from tests.ui.fake_runtimes import FakeRuntimes
from tests.ui.fake_service import FakeService
from tests.ui.held import held
from tests.ui.opened import opened
from tests.ui.screenshots import ready
from tests.ui.tree import tree_text
from tests.ui.visits import PLACES, Place, visit

_OLDER = re.compile(r".*#log-older .*")
"""The fake has one older page, whoever asks first."""
REFUSED = ErrorInfo(code="odd", message="It is refused.")


@pytest.fixture
def full(service: FakeService) -> FakeService:
    """Return a service with everything that there is to show."""
    ready(service)
    FakeRuntimes(service)
    FakeModels(service)
    FakePlanning(service)
    return service


def go_away(qtbot: QtBot, service: FakeService, session: Session) -> None:
    """End the service, so that it is away until it is wanted again."""
    service.say_goodbye()
    qtbot.waitUntil(lambda: session.known.link is Link.ENDED)


def come_back(qtbot: QtBot, session: Session) -> None:
    """Start it again; whoever asks anew then has done so when this returns."""
    with qtbot.waitSignal(session._bridge.opened):  # it is told last, being the youngest
        session.start_service()
    assert session.known.link is Link.LIVE


def settle(qtbot: QtBot, window: MainWindow, page: PageId) -> str:
    """Wait until a page asks nothing any more, and return it as text."""
    area = getattr(window.controller(page), "area", None)
    qtbot.waitUntil(lambda: area is None or not area.pending)
    QCoreApplication.sendPostedEvents()  # what a layout took in is shown by one
    window.grab()
    return _OLDER.sub("", tree_text(window.controller(page).page))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: "-".join(filter(None, place)))
def test_a_page_opened_while_the_service_was_away_is_filled_by_its_return(
    qtbot: QtBot, full: FakeService, session: Session, window: MainWindow, place: Place
) -> None:
    """Nobody has to press anything, and no error of the meantime stays."""
    page = place[0]
    go_away(qtbot, full, session)
    visit(qtbot, window, place)
    area = getattr(window.controller(page), "area", None)
    assert area is None or area.problem is None

    come_back(qtbot, session)

    found = settle(qtbot, window, page)
    window.show_page(PageId.SETTINGS if page is not PageId.SETTINGS else PageId.SERVE)
    visit(qtbot, window, place)
    assert found == settle(qtbot, window, page)


@pytest.mark.parametrize("page", list(CONTROLLERS), ids=lambda page: page.value)
def test_nothing_can_be_done_by_a_service_that_is_away(
    qtbot: QtBot, full: FakeService, session: Session, window: MainWindow, page: PageId
) -> None:
    """What a page shows stays; what only the service can do rests."""
    visit(qtbot, window, (page, None))

    go_away(qtbot, full, session)

    deeds = ("connect-write", "make-key-form", "model-get", "plan-save-as", "runtime-verify")
    lines = tree_text(window).splitlines()
    assert not [one for one in lines for deed in deeds if f"#{deed} " in one and "[off" not in one]


def test_an_error_of_the_meantime_goes_when_the_service_is_back(
    qtbot: QtBot, service: FakeService, session: Session, window: MainWindow, bridge: Bridge
) -> None:
    """“The service does not answer” would be wrong; another refusal stays until it is closed."""
    area, other = Area(bridge), Area(bridge)
    other.problem = REFUSED
    go_away(qtbot, service, session)
    area.ask("status", lambda client: client.status(), lambda _status: None)
    qtbot.waitUntil(lambda: area.problem is not None)

    come_back(qtbot, session)

    assert area.problem is None
    assert other.problem is REFUSED


def test_no_figure_of_before_stands_over_the_monitors_charts_either(
    qtbot: QtBot, full: FakeService, session: Session, window: MainWindow
) -> None:
    """As on the home page: what was is drawn, what is now is not known; its return says it."""
    page = opened(window, PageId.MONITOR, MonitorController)
    charts = page.view.board.charts
    qtbot.waitUntil(lambda: bool(charts) and charts["decode"].now.endswith("tok/s"))

    go_away(qtbot, full, session)

    assert {chart.now for chart in charts.values()} == {""}
    assert charts["decode"].empty == ""
    come_back(qtbot, session)
    qtbot.waitUntil(lambda: page.view.board.charts["decode"].now.endswith("tok/s"))


def test_no_request_runs_now_in_a_service_that_is_away(
    qtbot: QtBot, full: FakeService, session: Session, window: MainWindow
) -> None:
    """What is over stays on record; its return says again what runs."""
    page = opened(window, PageId.MONITOR, MonitorController)
    page.choose(MonitorPart.REQUESTS)
    qtbot.waitUntil(lambda: page.area.entries is not None and page.area.pool is not None)
    table = page.view.requests.table
    qtbot.waitUntil(lambda: table.rows_model.rows[0].cells[0].text == "now")

    go_away(qtbot, full, session)

    began = {row.cells[0].text for row in table.rows_model.rows}
    assert began
    assert "now" not in began
    come_back(qtbot, session)
    qtbot.waitUntil(lambda: table.rows_model.rows[0].cells[0].text == "now")


def test_nothing_happened_is_not_said_before_the_history_was_read(
    qtbot: QtBot, full: FakeService, session: Session, window: MainWindow
) -> None:
    """“Choose a longer span” would send people looking for what nobody has told."""
    go_away(qtbot, full, session)
    page = opened(window, PageId.MONITOR, MonitorController)
    page.choose(MonitorPart.EVENTS)
    away = tree_text(page.view)

    come_back(qtbot, session)
    qtbot.waitUntil(lambda: page.area.reads > 0)

    assert "Nothing happened" not in away
    assert "Appears when the service answers" in away
    assert "Appears when the service answers" not in tree_text(page.view.events)


def test_nothing_is_counted_by_a_service_that_is_away(
    qtbot: QtBot, full: FakeService, session: Session, window: MainWindow
) -> None:
    """“Large folders take a moment” would let people wait for what nobody does."""
    go_away(qtbot, full, session)
    visit(qtbot, window, (PageId.SETTINGS, Section.FOLDERS))
    away = tree_text(window.controller(PageId.SETTINGS).page)

    assert "Counting" not in away
    assert "Not known until the service answers." in away


def test_no_scale_is_made_up_for_keys_whose_use_nobody_told(
    qtbot: QtBot, full: FakeService, session: Session, window: MainWindow
) -> None:
    """Empty bars over a scale from 0 to 1,000 say that nothing was used."""
    go_away(qtbot, full, session)

    page = opened(window, PageId.KEYS, KeysController)

    assert page.view.usage.bars.said == "Their use appears when the service answers."


def test_lines_of_one_log_are_not_shown_as_those_of_another(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """Whoever goes on to the service's log meanwhile gets that one, and only that one."""
    FakeRecords(service)
    page = opened(window, PageId.LOGS, LogsController)
    shown: list[tuple[Part, int]] = []
    page.area.changed.connect(lambda: shown.append((page.area.source, len(page.area.lines))))
    with held(service, "/logs/page") as slow:
        page.choose(Part.ENGINE)
        qtbot.waitUntil(lambda: slow.asked == 1)
        page.choose(Part.SERVICE)
        slow.let_go()

        qtbot.waitUntil(lambda: page.area.has_read and not page.area.pending)

    assert slow.asked == 2
    assert page.area.lines[0].text == "page 2 line 0"
    assert {count for _part, count in shown} == {0, 50}


def test_a_file_that_is_read_is_not_called_empty(
    qtbot: QtBot, full: FakeService, session: Session, window: MainWindow
) -> None:
    """“No lines yet” is for a log that was read."""
    page = opened(window, PageId.LOGS, LogsController)
    files = page.parts.files
    with held(full, "/logs/page") as slow:
        page.choose(Part.ENGINE)
        qtbot.waitUntil(lambda: slow.asked == 1)
        assert files.view.empty == "Reading…"
    qtbot.waitUntil(lambda: not page.area.pending)

    go_away(qtbot, full, session)
    page.choose(Part.SERVICE)

    assert files.view.empty == "The lines appear when the service answers."
    assert "lines" not in tree_text(files).split("files-log-count", 1)[1].splitlines()[0]


def test_use_of_all_keys_is_not_shown_as_that_of_one(
    qtbot: QtBot, full: FakeService, window: MainWindow
) -> None:
    """The rows follow what is chosen, also where it was chosen before they came."""
    page = opened(window, PageId.KEYS, KeysController)
    qtbot.waitUntil(lambda: not page.area.pending)
    table = page.view.usage.tables[UsageBy.KEY]
    before = table.rows_model.rows
    with held(full, "/keys/usage") as slow:
        page.area.read(page._rows())
        qtbot.waitUntil(lambda: slow.asked > 0)
        page.view.usage.key.setCurrentIndex(2)
        assert table.isHidden()
        slow.let_go()

        qtbot.waitUntil(lambda: not page.area.pending and not table.isHidden())

    assert len(before) > 1
    assert [row.id for row in table.rows_model.rows] == ["k2-"]


def test_a_removal_that_was_asked_of_another_model_is_not_offered(
    qtbot: QtBot, full: FakeService, window: MainWindow
) -> None:
    """Whoever went on to another model does not want that one removed."""
    page = opened(window, PageId.MODELS, ModelsController)
    qtbot.waitUntil(lambda: page.area.library is not None and not page.area.pending)
    page.area.choose(GGUF.path)
    with held(full, "/models/remove") as slow:
        page.area.plan_removal(GGUF.path)
        qtbot.waitUntil(lambda: slow.asked == 1)
        page.area.choose(QWEN.path)
        slow.let_go()

        qtbot.waitUntil(lambda: not page.area.pending)

    assert page.area.plan is None


def test_a_refusal_about_another_client_is_nobodys_problem(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """The card would stand above a client that is well."""
    clients = FakeClients(service)
    page = opened(window, PageId.CONNECT, ConnectController)
    qtbot.waitUntil(lambda: page.area.plan is not None and not page.area.pending)
    clients.too_early_for["cline"] = REFUSED
    with held(service, "/clients/cline/plan") as slow:
        page.area.choose("cline")
        qtbot.waitUntil(lambda: slow.asked == 1)
        page.area.choose("claude-code")
        slow.let_go()
        qtbot.waitUntil(lambda: not page.area.pending)

    assert page.area.problem is None


def test_an_update_of_another_preset_is_not_offered(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """“Update, 2 changes” is for the preset in front."""
    FakePlanning(service).add_mine()
    service.publish()
    page = opened(window, PageId.PLAN, PlanController)
    page.desk.session.refresh_presets()
    qtbot.waitUntil(lambda: any(one.id == MINE.id for one in page._presets))
    page.area.choose(MINE.id)
    qtbot.waitUntil(lambda: page.area.origin_diff is not None and not page.area.pending)

    page.area.choose(CHAT.id)

    assert page.area.origin_diff is None
    qtbot.waitUntil(lambda: not page.area.pending)
    assert page.area.origin_diff is None


def test_a_refusal_about_another_preset_is_nobodys_problem(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """The one in front is read afterwards, and its settings are shown."""
    FakePlanning(service).add_mine()
    service.publish()
    page = opened(window, PageId.PLAN, PlanController)
    page.desk.session.refresh_presets()
    qtbot.waitUntil(lambda: any(one.id == MINE.id for one in page._presets))
    page.area.choose(CHAT.id)
    qtbot.waitUntil(lambda: not page.area.pending)
    route = f"/presets/{MINE.id}"
    service.queried.append(lambda asked, _query: REFUSED if asked == route else None)
    with held(service, route) as slow:
        page.area.choose(MINE.id)
        qtbot.waitUntil(lambda: slow.asked == 1)
        page.area.choose(CHAT.id)
        slow.let_go()
        qtbot.waitUntil(lambda: not page.area.pending)

    assert page.area.problem is None
    assert page.area.detail is not None
    assert page.area.detail.preset.id == CHAT.id


def test_a_part_of_the_settings_that_could_not_be_read_is_whole_when_the_service_is_back(
    qtbot: QtBot, full: FakeService, session: Session, window: MainWindow
) -> None:
    """“Not everything could be read” would be wrong, and nobody would look again."""
    visit(qtbot, window, (PageId.SETTINGS, Section.GATEWAY))
    page = opened(window, PageId.SETTINGS, SettingsController)
    qtbot.waitUntil(lambda: not page.area.pending)
    gone = ErrorInfo(code="service-unreachable", message="Gone.", exit_status=6)
    full.areas.insert(0, lambda _m, route, _b: gone if route == "/gateway" else None)
    page.area.read(Section.GATEWAY)
    qtbot.waitUntil(lambda: Section.GATEWAY.value in page.area.machine.problems)
    go_away(qtbot, full, session)
    del full.areas[0]

    come_back(qtbot, session)

    settle(qtbot, window, PageId.SETTINGS)
    assert not page.area.machine.problems


def test_why_no_line_is_there_is_said_in_the_persons_language(
    qtbot: QtBot, service: FakeService, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentence stands in the middle of the page, and once more below."""
    FakeRecords(service)
    pseudo.speak(monkeypatch)
    service.queried.insert(0, lambda route, _q: REFUSED if route == "/logs/page" else None)
    page = opened(window, PageId.LOGS, LogsController)

    page.choose(Part.ENGINE)

    qtbot.waitUntil(lambda: page.area.problem is not None)
    assert page.parts.files.view.empty == "×× ×× ×××××××."


def test_what_the_network_may_do_is_not_guessed(
    qtbot: QtBot, full: FakeService, session: Session, window: MainWindow
) -> None:
    """The page about privacy is the last that may claim what nobody said."""
    claims = ("is allowed, for these only", "Only when you press")
    go_away(qtbot, full, session)
    visit(qtbot, window, (PageId.SETTINGS, Section.PRIVACY))
    away = tree_text(window.controller(PageId.SETTINGS).page)

    come_back(qtbot, session)

    found = settle(qtbot, window, PageId.SETTINGS)
    assert not [one for one in claims if one in away]
    assert all(one in found for one in claims)


def test_no_figure_of_before_stands_over_the_charts_of_a_service_that_is_away(
    qtbot: QtBot, full: FakeService, session: Session, window: MainWindow
) -> None:
    """The lines are the past and may stay; “141 tok/s” would be now."""
    qtbot.waitUntil(lambda: all(chart.view and chart.view.now for chart in window.home.view.charts))

    go_away(qtbot, full, session)

    assert [chart.view.now for chart in window.home.view.charts if chart.view] == [""] * 4
    assert all(chart.view.lines[0].points for chart in window.home.view.charts if chart.view)


def test_nothing_is_claimed_of_a_gateway_that_is_away(
    qtbot: QtBot, full: FakeService, session: Session, window: MainWindow
) -> None:
    """“Open now” is not known any more, and is said again once it is."""
    visit(qtbot, window, (PageId.SETTINGS, Section.GATEWAY))
    view = window.controller(PageId.SETTINGS).page
    assert "Open now." in tree_text(view)

    go_away(qtbot, full, session)

    assert "Open now." not in tree_text(view)
    come_back(qtbot, session)
    settle(qtbot, window, PageId.SETTINGS)
    assert "Open now." in tree_text(view)
