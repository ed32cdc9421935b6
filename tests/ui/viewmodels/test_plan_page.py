"""What the plan page's head says, and which buttons may be pressed."""

import msgspec
import pytest

from studio.domain.control import PresetInfo
from studio.ui.state import Known, Link
from studio.ui.viewmodels.plan_page import (
    HeadView,
    change_views,
    head_view,
    host_choices,
    new_id,
    preset_choices,
    update_count,
)
from tests.ui.fake_planning import CHAT, HOSTS, MINE, UPDATED, recorded_detail, recorded_diff
from tests.ui.fake_service import READY

LIVE = Known(link=Link.LIVE, presets=(CHAT, MINE))


def head(known: Known = LIVE, preset: PresetInfo | None = CHAT, **fields: object) -> HeadView:
    """Return a head of nothing special."""
    given: dict[str, object] = {
        "detail": None, "hosts": HOSTS, "host": "", "changed": 0, "diff": None,
        "is_saving": False, "has_problem": False, **fields,
    }  # fmt: skip
    return head_view(known, preset, **given)


def test_a_bundled_preset_can_be_copied_and_nothing_else() -> None:
    """It is the Studio's; changing it makes a copy."""
    view = head(changed=2)

    assert view.origin == "Came with the Studio"
    shown = (view.save, view.rename, view.remove, view.update)
    assert not any(one.visible for one in shown)
    assert view.save_as.enabled
    assert view.reset.visible


def test_ones_own_can_be_saved_renamed_deleted_and_updated() -> None:
    """Save rests while nothing was changed."""
    view = head(preset=MINE, diff=UPDATED)

    assert view.update.text == "Update, 2 changes…"
    assert view.update.visible
    assert view.rename.visible
    assert view.remove.visible
    assert not view.save.enabled
    assert head(preset=MINE, changed=1).save.enabled


@pytest.mark.parametrize(
    ("known", "fields", "why"),
    [
        (Known(link=Link.LOST), {}, "The service does not answer yet."),
        (LIVE, {"preset": None}, "Choose a preset first."),
        (LIVE, {"host": "v100"}, "This plan is for another machine."),
        (LIVE, {"has_problem": True}, "Mend what is red first."),
        (
            msgspec.structs.replace(LIVE, engine=READY),
            {"preset": msgspec.structs.replace(CHAT, id="cpu-demo")},
            "This preset runs now.",
        ),
    ],
)
def test_start_rests_with_its_reason(known: Known, fields: dict[str, object], why: str) -> None:
    """A grey button without a word is a riddle."""
    view = head(known, **fields)

    assert not view.start.enabled
    assert view.start.tooltip == why


def test_what_runs_may_be_switched_to_with_other_values() -> None:
    """The same preset with a change is another start."""
    known = msgspec.structs.replace(LIVE, engine=msgspec.structs.replace(READY, preset=CHAT.id))

    assert not head(known).start.enabled
    assert head(known, changed=1).start.enabled
    assert head(known).start.text == "Switch to this"


def test_the_persons_own_presets_are_marked_and_broken_ones_left_out() -> None:
    """A broken one cannot be planned; the serve page says why."""
    broken = msgspec.structs.replace(MINE, id="bad", is_broken=True)

    words = [one.text for one in preset_choices([CHAT, MINE, broken])]

    assert words == ["Chat, fast  (27b-dflash2)", "For the reading group · yours  (my-27b-dflash2)"]


def test_this_machine_stands_before_the_hosts_of_the_catalogue() -> None:
    """It is what most people ask about."""
    assert [one.value for one in host_choices(HOSTS)] == ["", "rtx4090-linux", "v100-32x4-linux"]


def test_what_can_be_taken_over_stands_first_and_is_ticked_where_nobody_objects() -> None:
    """A conflict is the person's to decide."""
    views = change_views(UPDATED)

    assert [one.name for one in views] == [
        "attention_backend", "max_num_seqs", "max_model_len", "tools",
    ]  # fmt: skip
    assert [one.takes for one in views] == [True, False, False, False]
    assert views[2].mine == "32,768"
    assert update_count(UPDATED) == 2
    assert update_count(recorded_diff()) == 0


def test_a_free_name_is_proposed_for_a_copy() -> None:
    """Pressing Enter twice must not end in “you have one already”."""
    assert new_id(CHAT, [CHAT]) == "my-27b-dflash2"
    assert new_id(CHAT, [CHAT, MINE]) == "my-27b-dflash2-2"
    assert new_id(MINE, [CHAT, MINE]) == "my-27b-dflash2-2"


def test_a_copy_says_what_it_came_from() -> None:
    """Months later that is the question."""
    detail = recorded_detail()

    assert head(preset=MINE, detail=detail).origin == "Yours"
