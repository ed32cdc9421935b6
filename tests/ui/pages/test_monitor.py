"""The monitor page in a window, against a fake history."""

from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QMenu, QPushButton
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot
from syrupy.assertion import SnapshotAssertion

from studio.domain.events import AlarmChanged, EngineChanged, PoolChanged, Ticked
from studio.domain.server import EngineState
from studio.ui.controllers.monitor import MonitorController
from studio.ui.pages.monitor import Part
from studio.ui.state import Link
from studio.ui.viewmodels.frame import PageId
from studio.ui.widgets.time_chart import TimeChart
from studio.ui.window import MainWindow
from tests.ui.fake_monitor import ENDED, FakeMonitor, afternoon
from tests.ui.fake_service import HOST, READY, FakeService, tick
from tests.ui.fake_serving import POOL_REPORT, SMALLER, SPILLS, offered
from tests.ui.held import held
from tests.ui.tree import tree_text


@pytest.fixture
def fake(service: FakeService) -> FakeMonitor:
    """Return a history of an afternoon with two cards."""
    service.host = msgspec.structs.replace(
        HOST, gpus=tuple(msgspec.structs.replace(HOST.gpus[0], index=card) for card in range(2))
    )
    service.be_ready(seconds=301)
    made = FakeMonitor(service, cards=2)
    made.entries = afternoon(40)
    made.ended = (ENDED,)
    service.serving.alarms = (SPILLS,)
    service.serving.pool = POOL_REPORT
    service.serving.offered = (offered(1, SPILLS.code, SMALLER),)
    return made


@pytest.fixture
def page(qtbot: QtBot, fake: FakeMonitor, window: MainWindow) -> MonitorController:
    """Return the page in front, with everything read."""
    window.show_page(PageId.MONITOR)
    found = window.controller(PageId.MONITOR)
    assert isinstance(found, MonitorController)
    settle(qtbot, found, 1)
    return found


def settle(qtbot: QtBot, page: MonitorController, reads: int) -> None:
    """Wait until series came so often, and nothing is under way."""
    qtbot.waitUntil(lambda: page.area.reads >= reads and not page.area.pending)


def test_the_page_as_text(page: MonitorController, snapshot: SnapshotAssertion) -> None:
    """What is there, in what order, and what can be pressed."""
    assert tree_text(page.view) == snapshot


def test_a_second_that_passes_moves_every_chart(
    qtbot: QtBot, page: MonitorController, service: FakeService
) -> None:
    """Without a question to the service."""
    asked = page.area.reads
    service.publish(Ticked(tick=tick(302, decode_tokens_per_s=77.0)))

    qtbot.waitUntil(lambda: page.view.board.charts["decode"].now == "77.0 tok/s")
    assert page.area.reads == asked


def test_a_span_is_read_remembered_and_a_drag_goes_deeper_and_back(
    qtbot: QtBot, page: MonitorController, window: MainWindow
) -> None:
    """Two zooms, two steps back, and the choice of before holds again."""
    page.choose_span("24h")
    settle(qtbot, page, 2)
    begin, end = page.span()
    assert end - begin == 86_400
    assert page.desk.settings.span == "24h"
    board = page.view.board
    board.zoomed.emit(end - 4_000, end - 2_000)
    board.zoomed.emit(end - 3_000, end - 2_500)
    settle(qtbot, page, 4)
    assert page.span() == (end - 3_000, end - 2_500)
    assert page.view.spans.value is None

    board.back_asked.emit()
    button(window, "span-back").click()
    settle(qtbot, page, 5)

    assert page.view.spans.value == "24h"
    assert button(window, "span-back").isHidden()


def button(window: MainWindow, name: str) -> QPushButton:
    """Return a button."""
    found = window.findChild(QPushButton, name)
    assert isinstance(found, QPushButton)
    return found


def test_a_span_drawn_by_hand_stands_still(
    qtbot: QtBot, page: MonitorController, service: FakeService
) -> None:
    """What one looks at must not run away."""
    _begin, end = page.span()
    page.zoom(end - 100, end - 50)
    settle(qtbot, page, 2)

    service.publish(Ticked(tick=tick(302)))
    qtbot.waitUntil(lambda: page.desk.session.ticks[-1].at > end)

    assert page.span() == (end - 100, end - 50)


def test_the_crosshair_names_the_moment_and_what_happened_there(page: MonitorController) -> None:
    """The death is at 300 seconds before now; with the keyboard, too."""
    now = page.span()[1]
    chart = page.view.board.charts["ttft"]
    chart.setFocus()

    chart.pointed.emit(now - 299)

    assert page.view.said.endswith(
        "· Engine died: cpu-demo. The engine was killed. (engine-killed)"
    )
    chart.pointed.emit(None)
    assert " – " in page.view.said


def test_charts_are_chosen_and_the_choice_survives(qtbot: QtBot, page: MonitorController) -> None:
    """Also over a restart of the window; the usual ones are one press away."""
    menu = page.view.menu_of_charts()
    actions = {action.data(): action for action in menu.actions()}
    assert actions["pool"].isChecked()
    assert not actions["card-clock"].isChecked()

    actions["pool"].trigger()
    actions["card-clock"].trigger()
    settle(qtbot, page, 2)

    board = page.view.board
    assert "pool" not in board.charts
    assert board.charts["card-clock"].empty == ""
    assert page.desk.settings.charts == {"pool": False, "card-clock": True}
    menu.actions()[-1].trigger()
    settle(qtbot, page, 3)
    assert "pool" in board.charts
    menu.close()


def test_figures_and_picture_are_saved_whole_or_not_at_all(
    qtbot: QtBot, page: MonitorController, tmp_path: Path
) -> None:
    """Also below a name with spaces and in another script."""
    folder = tmp_path / "größe 图表"
    folder.mkdir()
    page.save_csv_to(str(folder / "a.csv"))
    page.save_picture_to(str(folder / "a.png"))
    qtbot.waitUntil(lambda: (folder / "a.csv").exists())

    assert (folder / "a.csv").read_text("utf-8").startswith("at,epoch_s,")
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")
    page.save_picture_to(str(tmp_path / "none" / "a.png"))
    assert "could not be written" in page.view.saved


def test_the_save_button_leads_to_a_whole_file(
    qtbot: QtBot, page: MonitorController, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a person goes: button, menu, name; a name that was not given writes nothing."""
    offered_names: list[str] = []
    given = ""

    class Names:
        """The system's dialog for a name, answered at once."""

        @staticmethod
        def getSaveFileName(*asked: object) -> tuple[str, str]:
            """Return what a person typed."""
            offered_names.append(str(asked[2]))
            return given, ""

    menus: list[QMenu] = []
    monkeypatch.setattr("studio.ui.controllers.monitor.QFileDialog", Names)
    # A screen that nobody sees cannot pop menus up; what is in one, it can.
    monkeypatch.setattr(page.view, "_pop_up", lambda menu, _button: menus.append(menu))

    def save(place: int) -> None:
        button = page.view.findChild(QPushButton, "save-charts")
        assert button is not None
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        menus.pop().actions()[place].trigger()

    save(0)
    assert list(tmp_path.iterdir()) == []
    given = str(tmp_path / "mine.csv")
    save(0)
    qtbot.waitUntil(lambda: given in page.view.saved)
    lines = (tmp_path / "mine.csv").read_text("utf-8").splitlines()
    given = str(tmp_path / "mine")
    save(1)
    qtbot.waitUntil(lambda: "mine" in page.view.saved and "mine.csv" not in page.view.saved)

    assert lines[0].startswith("at,epoch_s,")
    assert len(lines) > 1
    assert (tmp_path / "mine.png").read_bytes().startswith(b"\x89PNG")
    assert [name.rpartition(".")[2] for name in offered_names] == ["csv", "csv", "png"]

    (tmp_path / "other.png").write_bytes(b"kept")
    given = str(tmp_path / "other")
    save(1)
    qtbot.waitUntil(lambda: "other" in page.view.saved)
    assert (tmp_path / "other.png").read_bytes() == b"kept"
    assert (tmp_path / "other").read_bytes().startswith(b"\x89PNG")


def test_a_page_at_the_back_asks_nothing(
    qtbot: QtBot, page: MonitorController, window: MainWindow, service: FakeService,
    fake: FakeMonitor,
) -> None:  # fmt: skip
    """A page that is not in front costs nothing."""
    window.show_page(PageId.KEYS)
    asked = len(fake.asked)
    service.publish(
        Ticked(tick=tick(302)), AlarmChanged(alarm=SPILLS), PoolChanged(pool=POOL_REPORT)
    )
    qtbot.waitUntil(lambda: page.desk.session.ticks[-1].at >= tick(302).at)

    assert not page.area.pending
    assert len(fake.asked) == asked
    assert not page.is_following


def test_what_happens_is_read_again_soon(
    qtbot: QtBot, page: MonitorController, service: FakeService
) -> None:
    """A death is a mark on the axis while one looks."""
    service.publish(EngineChanged(engine=msgspec.structs.replace(READY, state=EngineState.FAILED)))

    settle(qtbot, page, 2)


def test_requests_are_listed_narrowed_and_told_of(
    qtbot: QtBot, page: MonitorController, window: MainWindow,
    qtmodeltester: ModelTester,
) -> None:  # fmt: skip
    """Sorted by any column; one that is marked says everything."""
    page.choose(Part.REQUESTS)
    settle(qtbot, page, 1)
    part = page.view.requests
    qtmodeltester.check(part.table.model())
    assert part.table.model().rowCount() == 42

    part.key.setCurrentText("Cline on the laptop")
    part.only_failed.setChecked(True)
    assert part.table.model().rowCount() == 1
    part.only_failed.setChecked(False)
    part.key.setCurrentIndex(0)
    part.table.mark("req-00004")
    detail = window.findChild(QFrame, "request-detail")
    assert isinstance(detail, QFrame)
    assert detail.isVisible()

    part.table.sortByColumn(4, Qt.SortOrder.DescendingOrder)
    assert part.table.model().index(0, 4).data() == "18,000"


def test_an_event_leads_to_its_place_in_the_charts(qtbot: QtBot, page: MonitorController) -> None:
    """From the table into the picture, with Enter."""
    page.choose(Part.EVENTS)
    settle(qtbot, page, 2)
    table = page.view.events.table
    assert table.model().rowCount() == 6
    table.selectRow(2)

    qtbot.keyClick(table, Qt.Key.Key_Return)

    settle(qtbot, page, 3)
    begin, end = page.span()
    assert page.view.part is Part.CHARTS
    assert begin < page.area.events[0].at < end


def test_alarms_have_their_remedies_and_those_that_are_over_a_table(
    qtbot: QtBot, page: MonitorController, window: MainWindow, service: FakeService
) -> None:
    """Taken and muted here as on the home page."""
    page.choose(Part.ALARMS)
    settle(qtbot, page, 1)
    assert window.findChild(QPushButton, "monitor-alarms").text() == "Alarms · 1"
    assert page.view.alarms.table.model().rowCount() == 1

    notices = page.view.alarms.notices
    click(notices, "alarm-spill-swap-fix-1")
    qtbot.waitUntil(lambda: bool(service.serving.fixes) and not page.area.pending)
    click(notices, "alarm-spill-swap-mute-spill-swap")
    qtbot.waitUntil(lambda: window.findChild(QPushButton, "monitor-alarms").text() == "Alarms")


def test_alarms_of_a_service_that_is_away_are_not_called_well(
    qtbot: QtBot, page: MonitorController, window: MainWindow, service: FakeService
) -> None:
    """“All is well” needs somebody who looks."""
    page.choose(Part.ALARMS)
    settle(qtbot, page, 1)
    said = window.findChild(QLabel, "alarms-said")
    assert said.text() == "1 alarm holds."

    service.close()

    qtbot.waitUntil(lambda: said.text().startswith("The service tells what it warns of"))


def click(parent: QFrame, name: str) -> None:
    """Press a button."""
    found = parent.findChild(QPushButton, name)
    assert isinstance(found, QPushButton)
    found.click()


def test_charts_do_not_move_when_their_figures_come(
    qtbot: QtBot, fake: FakeMonitor, window: MainWindow, service: FakeService,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Each has its place from the first picture; figures fill it."""
    seen: dict[str, set[tuple[int, int, int, int]]] = {}
    paint = TimeChart.paintEvent

    def painted(chart: TimeChart, event: QPaintEvent) -> None:
        seen.setdefault(chart.kind.id, set()).add(chart.geometry().getRect())
        paint(chart, event)

    monkeypatch.setattr(TimeChart, "paintEvent", painted)
    with held(service, "/history/series") as slow:
        window.show_page(PageId.MONITOR)
        page = window.controller(PageId.MONITOR)
        assert isinstance(page, MonitorController)
        qtbot.waitUntil(lambda: "pool" in seen and slow.asked == 1)
        names = list(page.view.board.charts)
        assert page.area.reads == 0

        slow.let_go()
        settle(qtbot, page, 1)
    page.view.grab()

    assert list(page.view.board.charts) == names
    assert {"pool", "itl", "memory", "card-load", "card-heat"} <= set(names)
    assert all(len(places) == 1 for places in seen.values()), seen


def test_a_machine_where_nothing_was_measured_yet_says_so(
    qtbot: QtBot, page: MonitorController, fake: FakeMonitor
) -> None:
    """Empty charts with a reason; the service says that there are cards."""
    fake.known = ()
    page.choose_span("1h")
    settle(qtbot, page, 2)

    charts = page.view.board.charts
    assert "card-load" in charts
    assert {chart.empty for chart in charts.values()} == {"Nothing measured in this span"}


def test_a_service_that_went_away_leaves_the_charts_and_its_return_reads_them_anew(
    qtbot: QtBot, page: MonitorController, service: FakeService
) -> None:
    """What was measured stays measured."""
    service.close()
    qtbot.waitUntil(lambda: page.desk.session.known.link is Link.LOST)
    assert page.view.board.charts["decode"].empty == ""

    qtbot.waitUntil(lambda: page.desk.session.known.link is Link.LIVE)
    settle(qtbot, page, 2)


@pytest.mark.parametrize(("width", "columns"), [(900, 2), (1_900, 4)])
def test_the_page_fits_small_and_large_windows(
    qtbot: QtBot, page: MonitorController, window: MainWindow, width: int, columns: int
) -> None:
    """No chart is cut off at its side."""
    window.resize(width, 600)

    def across() -> int:
        charts = page.view.board.charts.values()
        return len({chart.x() for chart in charts})

    qtbot.waitUntil(lambda: across() == columns)
    board = page.view.board
    assert board.width() <= width
