"""Requests, queue and alarms beside the weir."""

import msgspec

from studio.domain.demand import PresetQueue, Queue, QueuedRequest
from studio.domain.diagnosis import Match
from studio.domain.pool import Resident
from studio.ui.viewmodels.live import (
    ROWS,
    failure_notice,
    notices,
    queue_line,
    requests_view,
)
from studio.ui.viewmodels.problem import Remedy, problem_view
from tests.ui.fake_service import BOOT_FAILED
from tests.ui.fake_serving import BY_HAND, POOL_REPORT, SMALLER, SPILLS, offered


def test_an_estimate_is_marked_and_an_unknown_key_is_a_dash() -> None:
    """A guess must not look like a count."""
    rows = requests_view(POOL_REPORT, None, 0.0).rows

    assert rows[0] == ("Open WebUI", "chat", "18,420", "writing", "12.0 s")
    assert rows[1][:4] == ("–", "chat", "≈ 9,000", "reading")


def test_many_requests_are_counted_and_none_is_said() -> None:
    """Sixty-four seats must not push the charts off the page."""
    many = tuple(Resident(request_id=str(n), prompt_tokens=n) for n in range(64))
    full = requests_view(msgspec.structs.replace(POOL_REPORT, residents=many), None, 0.0)

    assert (len(full.rows), full.more) == (ROWS, f"and {64 - ROWS} more")
    none = msgspec.structs.replace(POOL_REPORT, residents=())
    assert requests_view(none, None, 0.0).empty.startswith("No request runs.")
    assert requests_view(None, None, 0.0).empty == "What runs is not known now."


def test_the_queue_says_who_waits_and_when_the_engine_stops() -> None:
    """An engine that goes away by itself without a word looks like a crash."""
    waiting = QueuedRequest(since=0.0, key="a", route="/v1/chat/completions", is_stream=True)
    queue = Queue(
        presets=(PresetQueue(preset="p", served_name="big", requests=(waiting, waiting)),),
        idle_stop_at=160.0,
    )

    words = queue_line(queue, 100.0)

    assert words.startswith("2 requests wait for big · stops in ")
    assert queue_line(Queue(), 0.0) == ""


def test_what_the_service_can_do_is_taken_and_what_only_hands_can_do_is_copied() -> None:
    """A button that ends in "only you can do this" is a lie; one that copies the command is not."""
    ways = (offered(1, SPILLS.code, SMALLER), offered(2, SPILLS.code, BY_HAND))

    (card,) = notices((SPILLS,), ways, is_fixing=False)

    assert [(one.kind, one.what) for one in card.deeds] == [
        ("fix", "1"),
        ("copy", "nvidia-smi"),
        ("mute", SPILLS.code),
    ]
    assert SMALLER.text in card.body


def test_a_muted_alarm_comes_last_and_can_be_heard_again() -> None:
    """It still holds; only the voice is off."""
    muted = msgspec.structs.replace(SPILLS, code="other", is_muted=True)

    cards = notices((muted, SPILLS), (), is_fixing=True)

    assert [card.code for card in cards] == [SPILLS.code, "other"]
    assert [deed.kind for deed in cards[1].deeds] == ["unmute"]
    assert not cards[0].enabled


def test_a_failure_offers_its_own_remedies_first_and_says_what_only_hands_can_do() -> None:
    """The best remedy is one press away; another failure's remedies stay away."""
    ways = (
        offered(1, BOOT_FAILED.code, SMALLER),
        offered(2, BOOT_FAILED.code, BY_HAND),
        offered(3, "other", SMALLER),
    )

    view = problem_view(BOOT_FAILED, offered=ways)

    assert [one.number for one in view.remedies if one.remedy is Remedy.FIX] == [1]
    assert [one.primary for one in view.remedies] == [True, False, False, False]
    assert [one.command for one in view.remedies if one.remedy is Remedy.COMMAND] == ["nvidia-smi"]
    assert f"{BY_HAND.text} (nvidia-smi)" in view.hint


def test_the_last_failure_is_told_until_something_serves() -> None:
    """Closing a card, or the service's end, must not hide that the last start failed."""
    match = Match(code="engine-out-of-memory", cause="1.84 GiB is free.", remedies=(SMALLER,))
    ways = (offered(1, match.code, SMALLER),)

    (card,) = failure_notice(match, ways, can_start=True, is_fixing=False)

    assert card.title == "The last start failed"
    assert [one.kind for one in card.deeds] == ["fix", "retry", "why"]
    assert SMALLER.text in card.body
    (busy,) = failure_notice(match, ways, can_start=False, is_fixing=True)
    assert [one.kind for one in busy.deeds] == ["fix", "why"]
    assert failure_notice(None, (), can_start=True, is_fixing=False) == ()
