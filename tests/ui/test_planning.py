"""What is planned: after a rest, once, and never an answer to what is not wanted any more."""

from collections.abc import Callable

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from studio.domain.control import PresetInfo
from studio.domain.errors import ErrorInfo
from studio.domain.manifests import Origin
from studio.domain.presets import PresetDetail, PresetText
from studio.ui.bridge import Bridge
from studio.ui.planning import PlanningArea
from studio.ui.session import Session
from studio.ui.state import Link
from studio.ui.viewmodels.compare import Against
from tests.ui.fake_planning import CHAT, LONG, MINE, UPDATED, FakePlanning, recorded_detail
from tests.ui.fake_service import FakeService


@pytest.fixture
def fake(service: FakeService) -> FakePlanning:
    """Return the planner that is asked."""
    return FakePlanning(service)


@pytest.fixture
def area(qtbot: QtBot, fake: FakePlanning, session: Session, bridge: Bridge) -> PlanningArea:
    """Return an area on an open bridge, with a preset in front."""
    made = PlanningArea(bridge)
    session.begin()
    qtbot.waitUntil(lambda: session.known.link is Link.LIVE)
    made.choose(CHAT.id)
    qtbot.waitUntil(lambda: made.slots[0].plan is not None and made.detail is not None)
    return made


def test_typing_is_planned_once_when_it_rests(
    qtbot: QtBot, fake: FakePlanning, area: PlanningArea
) -> None:
    """Five keys are one question, and the last plan stays meanwhile."""
    asked = len(fake.requests)
    for text in ("3", "32", "327", "3276", "32768"):
        area.set_value("max_model_len", text, "65536")
        assert area.slots[0].plan == fake.untouched
    assert area.sides({}, "", "")[0].is_planning
    area.plan_now()

    qtbot.waitUntil(lambda: area.slots[0].plan == fake.changed)

    assert len(fake.requests) == asked + 1
    assert fake.requests[-1].overrides == {"max_model_len": "32768"}


def test_an_answer_to_what_is_not_wanted_any_more_is_dropped(
    qtbot: QtBot, fake: FakePlanning, area: PlanningArea
) -> None:
    """A slow planner and a quick hand."""
    fake.gate.clear()
    area.set_value("max_model_len", "abc", "65536")
    area.plan_now()
    qtbot.waitUntil(lambda: fake.requests[-1].overrides == {"max_model_len": "abc"})
    area.set_value("max_model_len", "32768", "65536")
    area.plan_now()
    seen = set()

    def is_there() -> bool:
        seen.add(area.slots[0].problem)
        return area.slots[0].plan == fake.changed and not area.pending

    fake.gate.set()

    qtbot.waitUntil(is_there)
    assert seen == {None}


def test_a_value_typed_back_is_no_change(area: PlanningArea) -> None:
    """An override that says the default is noise in every report."""
    area.set_value("max_num_seqs", "4", "8")
    area.set_value("max_num_seqs", " 8 ", "8")

    assert area.typed == {}


def test_another_preset_begins_untouched_and_another_machine_is_asked_about(
    qtbot: QtBot, fake: FakePlanning, area: PlanningArea
) -> None:
    """Values of one preset mean nothing in another."""
    area.set_value("max_num_seqs", "4", "8")
    area.choose(LONG.id)
    area.choose_host("v100-32x4-linux")

    qtbot.waitUntil(lambda: not area.pending and area.slots[0].plan == fake.plans[LONG.id])
    assert fake.requests[-1].host == "v100-32x4-linux"
    assert fake.requests[-1].overrides == {}


def test_two_are_compared_and_their_differences_asked_for(
    qtbot: QtBot, fake: FakePlanning, area: PlanningArea
) -> None:
    """Each side keeps its own answer."""
    area.hold_against(Against.OTHER, LONG.id)
    qtbot.waitUntil(lambda: area.diff is not None and area.slots[1].plan is not None)

    left, right = area.sides({CHAT.id: "A", LONG.id: "B"}, "Before", "After")
    assert (left.title, left.plan) == ("A", fake.untouched)
    assert (right.title, right.plan) == ("B", fake.plans[LONG.id])
    area.hold_against(Against.NOTHING)
    assert len(area.sides({}, "", "")) == 1
    assert area.diff is None


def test_a_copy_comes_to_the_front_and_a_removed_one_can_be_put_back(
    qtbot: QtBot, fake: FakePlanning, area: PlanningArea
) -> None:
    """One press undoes the removal, with the file as it was."""
    fake.add_mine()
    area.set_value("max_num_seqs", "4", "8")
    area.save_as("mine", "Mine")
    qtbot.waitUntil(lambda: area.preset == "mine" and not area.pending)
    assert area.typed == {}
    area.remove()
    qtbot.waitUntil(lambda: area.removed is not None)
    assert area.preset is None

    area.restore()

    qtbot.waitUntil(lambda: area.preset == "mine" and area.removed is None)
    verbs = [verb for verb, _ in fake.asked if verb != "plan"]
    assert verbs == ["copy", "remove", "import"]


def test_an_update_takes_what_was_chosen(
    qtbot: QtBot, fake: FakePlanning, area: PlanningArea
) -> None:
    """Name by name, as the dialog said it."""
    fake.add_mine()
    area.choose(MINE.id)
    qtbot.waitUntil(lambda: area.origin_diff is not None)

    area.update(("attention_backend",))

    qtbot.waitUntil(lambda: fake.asked[-1][0] == "plan" and area.done == f"saved {MINE.id}")
    update = next(request for verb, request in fake.asked if verb == "update")
    assert update.take == ("attention_backend",)


def test_without_a_preset_nothing_is_said_to_be_planned(bridge: Bridge) -> None:
    """With no preset at all, “Planning…” would stand there for ever."""
    area = PlanningArea(bridge)

    assert not any(side.is_planning for side in area.sides({}, "", ""))


class Slow:
    """A service whose answers come when the test says so, each to the question of a name."""

    def __init__(self, area: PlanningArea, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: dict[str, tuple[Callable[[object], None], Callable[[ErrorInfo], None]]] = {}
        ask = area.ask

        def kept(name: str, question: object, done: object, failed: object = None) -> bool:
            def put(_question: object, taken: object, refused: object) -> None:
                self.asked[name] = (taken, refused)

            return ask(name, question, done, failed, put)

        monkeypatch.setattr(area, "ask", kept)

    def answer(self, name: str, found: object) -> None:
        """Answer a question that was asked."""
        self.asked.pop(name)[0](found)

    def refuse(self, name: str) -> None:
        """Refuse one."""
        self.asked.pop(name)[1](ErrorInfo(code="preset-unknown", message="It is gone."))


def detail_of(preset: PresetInfo) -> PresetDetail:
    """Return a preset of the person's own, copied from one that came along."""
    whole = recorded_detail()
    origin = Origin(id=CHAT.id, digest="0" * 64)
    mine = msgspec.structs.replace(whole.preset, id=preset.id, is_own=True, origin=origin)
    return msgspec.structs.replace(whole, preset=mine)


OURS = msgspec.structs.replace(MINE, id="ours")


@pytest.fixture
def slow(area: PlanningArea, monkeypatch: pytest.MonkeyPatch) -> Slow:
    """Return the answers; a preset of the person's own is in front and asks for its original."""
    made = Slow(area, monkeypatch)
    area.choose(MINE.id)
    made.answer("detail", detail_of(MINE))
    assert "origin" in made.asked
    return made


@pytest.mark.parametrize("is_refused", [True, False])
def test_the_update_of_a_preset_is_found_whatever_becomes_of_the_question_before(
    area: PlanningArea, slow: Slow, is_refused: bool
) -> None:
    """A quick change of preset left “Update, N changes” away until the page was opened again."""
    area.choose(OURS.id)
    slow.answer("detail", detail_of(OURS))
    if is_refused:
        slow.refuse("origin")
    else:
        slow.answer("origin", UPDATED)
    assert area.origin_diff is None

    while not area.origin_diff and slow.asked.keys() & {"detail", "origin"}:
        if "detail" in slow.asked:
            slow.answer("detail", detail_of(OURS))
        if "origin" in slow.asked:
            slow.answer("origin", UPDATED)

    assert area.origin_diff == UPDATED


def test_what_was_read_before_a_change_is_not_what_holds_after_it(
    area: PlanningArea, slow: Slow
) -> None:
    """An update that was taken over would be offered once more."""
    area.update(("attention_backend",))
    slow.answer("update", PresetText(id=MINE.id, path="", is_own=True, text=""))
    slow.answer("origin", UPDATED)
    assert area.origin_diff is None

    slow.answer("detail", detail_of(MINE))
    none_left = msgspec.structs.replace(UPDATED, changes=())
    slow.answer("origin", none_left)

    assert area.origin_diff == none_left


def test_values_that_were_read_before_they_were_saved_are_read_again(
    area: PlanningArea, slow: Slow
) -> None:
    """The rows would show what the preset had before."""
    slow.answer("origin", UPDATED)
    area.refresh()
    area.save()
    slow.answer("save", PresetText(id=MINE.id, path="", is_own=True, text=""))
    slow.answer("detail", detail_of(MINE))
    assert area.detail is None

    after = detail_of(MINE)
    slow.answer("detail", after)

    assert area.detail is after


def test_two_that_are_not_compared_any_more_do_not_keep_the_next_two_from_it(
    area: PlanningArea, slow: Slow
) -> None:
    """Also where the first question is refused: one of the two was deleted meanwhile."""
    area.hold_against(Against.OTHER, OURS.id)
    assert "diff" in slow.asked
    area.hold_against(Against.OTHER, LONG.id)

    slow.refuse("diff")
    slow.answer("diff", UPDATED)

    assert area.diff == UPDATED
