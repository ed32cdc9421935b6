"""Plans side by side: every figure is the service's, and what differs is marked."""

from studio.ui.viewmodels.compare import Side, compare_view
from tests.ui.fake_planning import NO_NUMBER
from tests.ui.fake_serving import recorded_plan

BEFORE = recorded_plan("card-wsl2")
AFTER = recorded_plan("changed-wsl2")


def test_one_plan_has_no_titles_and_nothing_that_differs() -> None:
    """A table with one column compares nothing."""
    view = compare_view([Side(title="x", plan=BEFORE)])

    assert view.sides[0].title == ""
    assert not any(line.differs for line in (*view.figures, *view.parts))
    figures = {line.name: line.values[0].text for line in view.figures}
    assert figures["Pool, tokens"] == "68,605"
    assert figures["First start"] == "3 min 54 s"
    assert figures["Left on the card"] == "148.2 MiB"


def test_two_plans_stand_in_one_table_and_what_differs_is_marked() -> None:
    """The eye goes where something changed; equal lines stay quiet."""
    view = compare_view([Side(title="Before", plan=BEFORE), Side(title="After", plan=AFTER)])

    lines = {line.name: line for line in view.figures}
    assert [one.text for one in lines["Pool, tokens"].values] == ["68,605", "55,864"]
    assert lines["Pool, tokens"].differs
    assert not lines["Download"].differs
    assert [side.title for side in view.sides] == ["Before", "After"]


def test_a_part_that_only_one_has_is_a_dash_at_the_other() -> None:
    """A preset without a drafter has no bytes for one: not zero, not known to be there."""
    view = compare_view(
        [Side(title="a", plan=BEFORE), Side(title="b", plan=recorded_plan("mtp-wsl2"))]
    )

    drafter = next(line for line in view.parts if line.segment and line.segment.name == "drafter")
    assert [one.text for one in drafter.values] == ["1.11 GiB", "–"]
    assert not drafter.differs, "what is not known differs from nothing"


def test_a_refusal_is_told_in_the_place_of_the_plan() -> None:
    """Message and way out, as the service said them."""
    view = compare_view([Side(title="a", problem=NO_NUMBER)])

    assert view.sides[0].verdict == "There is no plan"
    assert view.sides[0].notes == (NO_NUMBER.message, NO_NUMBER.hint)
    assert view.figures == ()


def test_while_it_is_planned_the_last_plan_stays_and_it_is_said() -> None:
    """A card that goes blank at every key flickers."""
    view = compare_view([Side(title="a", plan=BEFORE, is_planning=True)])

    assert view.busy == "Planning…"
    assert view.figures != ()
