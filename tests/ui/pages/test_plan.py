"""The plan page in the window: what is typed shows in the plan, what is pressed is asked for."""

import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from studio.domain.control import UpRequest
from studio.domain.errors import ErrorInfo
from studio.ui.controllers.plan import PlanController
from studio.ui.pages.plan import PlanPage
from studio.ui.session import Session
from studio.ui.state import Link
from studio.ui.theme import Look
from studio.ui.viewmodels.compare import Against
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.plan_page import Choice
from studio.ui.window import MainWindow
from tests.ui.fake_planning import CHAT, MINE, FakePlanning
from tests.ui.fake_service import FakeService
from tests.ui.test_window import button, click, shown, text
from tests.ui.tree import tree_text

NOT_WRITABLE = ErrorInfo(
    code="not-writable", message="/home/ada/weir/presets cannot be written.", exit_status=4
)


@pytest.fixture
def fake(service: FakeService) -> FakePlanning:
    """Return the planner that is asked."""
    made = FakePlanning(service)
    made.add_mine()
    return made


@pytest.fixture
def page(qtbot: QtBot, fake: FakePlanning, window: MainWindow) -> PlanController:
    """Return the page in front, with its first plan."""
    window.show_page(PageId.PLAN)
    made = window.controller(PageId.PLAN)
    assert isinstance(made, PlanController)
    qtbot.waitUntil(lambda: settled(made))
    return made


def settled(page: PlanController) -> bool:
    """Tell whether everything that is wanted is there."""
    area = page.area
    plans = all(one.wanted is None or one.plan or one.problem for one in area.slots)
    return area.detail is not None and plans and not area.pending


def field(window: MainWindow, name: str) -> QLineEdit:
    """Return the field of a setting."""
    found = window.findChild(QLineEdit, f"knob-{name}-value")
    assert found is not None
    return found


def test_what_is_typed_shows_in_the_plan_and_starts_with_it(
    qtbot: QtBot, service: FakeService, fake: FakePlanning, window: MainWindow, page: PlanController
) -> None:
    """The page's reason: try it here, then serve exactly that."""
    service.on_up = service.come_up
    assert page.area.preset == CHAT.id
    qtbot.keyClicks(field(window, "max_num_seqs"), "\b4")
    assert text(window, "knobs-note") == "1 changed"
    qtbot.waitUntil(lambda: page.area.slots[0].plan == fake.changed)
    assert '"55,864"' in tree_text(page.page)

    click(qtbot, window, "plan-start")

    qtbot.waitUntil(lambda: any(route == "/up" for route, _ in service.asked))
    request = next(one for route, one in service.asked if route == "/up")
    assert isinstance(request, UpRequest)
    assert (request.preset, request.overrides) == (CHAT.id, {"max_num_seqs": "4"})
    assert window.home.page.isVisible()


def test_a_refused_value_rests_the_buttons_and_says_why(
    qtbot: QtBot, window: MainWindow, page: PlanController
) -> None:
    """In the place where the plan would stand; the field keeps what was typed."""
    page.view.knobs.typed.emit("max_model_len", "abc")

    qtbot.waitUntil(lambda: text(window, "plan-table-side-0-verdict") == "There is no plan")
    assert "found abc." in text(window, "plan-table-side-0-notes")
    assert not button(window, "plan-start").isEnabled()
    click(qtbot, window, "plan-reset")
    qtbot.waitUntil(lambda: button(window, "plan-start").isEnabled())
    assert field(window, "max_model_len").text() == "65536"


def test_arrow_keys_step_a_number(qtbot: QtBot, window: MainWindow, page: PlanController) -> None:
    """Keyboard for everything."""
    qtbot.keyClick(field(window, "max_num_seqs"), Qt.Key.Key_Up)

    assert page.area.typed == {"max_num_seqs": "9"}
    assert field(window, "max_num_seqs").text() == "9"


def test_saving_makes_a_preset_of_ones_own_and_brings_it_to_the_front(
    qtbot: QtBot, fake: FakePlanning, window: MainWindow, session: Session, page: PlanController
) -> None:
    """With the values that stand there, in one call; every list knows it at once."""
    page.view.knobs.typed.emit("max_num_seqs", "4")
    page.view.deed_asked.emit("save-as")
    name = window.findChild(QLineEdit, "plan-name-id")
    assert name is not None
    assert name.text() == "my-27b-dflash2-2"
    name.setText("für mich")
    assert not button(window, "plan-name-ok").isEnabled()
    name.setText("mine")

    click(qtbot, window, "plan-name-ok")

    qtbot.waitUntil(lambda: any(one.id == "mine" for one in session.known.presets or ()))
    qtbot.waitUntil(lambda: text(window, "plan-done-text") == "“Chat, fast, mine” is saved.")
    copied = next(request for verb, request in fake.asked if verb == "copy")
    assert copied.values == {"max_num_seqs": "4"}
    assert page.area.preset == "mine"


def test_deleting_asks_and_can_be_undone(
    qtbot: QtBot, window: MainWindow, session: Session, page: PlanController
) -> None:
    """A file of the person's own is not lost to one press."""
    page.area.choose(MINE.id)
    qtbot.waitUntil(lambda: shown(window, "plan-remove"))
    click(qtbot, window, "plan-remove")
    click(qtbot, window, "plan-remove-ok")
    qtbot.waitUntil(lambda: MINE.id not in {one.id for one in session.known.presets or ()})
    assert shown(window, "plan-restore")

    click(qtbot, window, "plan-restore")

    qtbot.waitUntil(lambda: MINE.id in {one.id for one in session.known.presets or ()})
    assert not shown(window, "plan-restore")


def test_an_update_is_offered_and_taken_line_by_line(
    qtbot: QtBot, fake: FakePlanning, window: MainWindow, page: PlanController
) -> None:
    """What the person changed stays, unless they tick it."""
    page.area.choose(MINE.id)
    qtbot.waitUntil(lambda: shown(window, "plan-update"))
    assert button(window, "plan-update").text() == "Update, 2 changes…"
    click(qtbot, window, "plan-update")
    button(window, "plan-take-max_num_seqs").click()
    assert button(window, "plan-update-ok").text() == "Take over 2"

    click(qtbot, window, "plan-update-ok")

    qtbot.waitUntil(lambda: any(verb == "update" for verb, _ in fake.asked))
    update = next(request for verb, request in fake.asked if verb == "update")
    assert update.take == ("attention_backend", "max_num_seqs")


def test_a_refusal_is_a_card_and_nothing_is_lost(
    qtbot: QtBot, fake: FakePlanning, window: MainWindow, page: PlanController
) -> None:
    """The typed values stand until the person lets them go."""
    fake.refusal = NOT_WRITABLE
    page.view.knobs.typed.emit("max_num_seqs", "4")
    page.area.save_as("mine", "Mine")

    qtbot.waitUntil(lambda: shown(window, "plan-problem"))
    assert page.area.typed == {"max_num_seqs": "4"}
    click(qtbot, window, "plan-problem-close")
    qtbot.waitUntil(lambda: not shown(window, "plan-problem"))


def test_it_asks_nothing_while_another_page_is_in_front(
    qtbot: QtBot, fake: FakePlanning, window: MainWindow, page: PlanController
) -> None:
    """A page that nobody sees costs nothing; coming back plans anew."""
    window.show_page(PageId.SERVE)
    asked = len(fake.requests)
    window.show_page(PageId.LOGS)
    window.show_page(PageId.PLAN)

    qtbot.waitUntil(lambda: len(fake.requests) > asked and settled(page))


def test_it_is_there_again_after_the_service_was_away(
    qtbot: QtBot, service: FakeService, session: Session, window: MainWindow, page: PlanController
) -> None:
    """With the values that were typed."""
    page.view.knobs.typed.emit("max_num_seqs", "4")
    service.close()
    qtbot.waitUntil(lambda: session.known.link is Link.LOST)
    assert not button(window, "plan-start").isEnabled()
    service.open()

    qtbot.waitUntil(lambda: session.known.link is Link.LIVE and settled(page))
    assert page.area.typed == {"max_num_seqs": "4"}
    assert button(window, "plan-start").isEnabled()


def test_a_preset_that_is_gone_is_not_planned_any_more(
    qtbot: QtBot, service: FakeService, session: Session, page: PlanController
) -> None:
    """Somebody deleted its file meanwhile."""
    page.area.choose(MINE.id)
    service.presets[:] = [one for one in service.presets if one.id != MINE.id]
    session.refresh_presets()

    qtbot.waitUntil(lambda: page.area.preset == CHAT.id)


def test_long_names_and_the_smallest_window_keep_everything_inside(
    qtbot: QtBot, service: FakeService, window: MainWindow, page: PlanController
) -> None:
    """Nothing is pushed out of the frame."""
    box = window.findChild(QComboBox, "plan-preset")
    assert box is not None
    box.addItem("A very long title " * 20, "long")
    window.resize(900, 600)

    qtbot.waitUntil(lambda: window.width() == 900)
    for name in ("plan-start", "plan-save-as", "plan-against-other"):
        shape = button(window, name)
        right = shape.mapTo(window, shape.rect().topRight()).x()
        assert right <= window.width()


def test_coming_to_the_front_is_quick(
    qtbot: QtBot, window: MainWindow, page: PlanController
) -> None:
    """At most 50 ms; a slow machine gets four times that here."""
    window.show_page(PageId.SERVE)
    begun = time.thread_time()
    window.show_page(PageId.PLAN)

    assert time.thread_time() - begun < 0.2


def test_a_box_without_a_choice_says_why(qtbot: QtBot, look: Look) -> None:
    """An empty box that opens onto nothing looks broken."""
    page = PlanPage(look)
    qtbot.addWidget(page)

    page.show_against(Against.OTHER, (), None)
    assert page.other.placeholderText() == "There is no other preset"
    assert not page.other.isEnabled()

    page.show_against(Against.OTHER, (Choice(text="Chat", value="chat"),), "chat")
    assert page.other.currentText() == "Chat"
    assert page.other.isEnabled()
