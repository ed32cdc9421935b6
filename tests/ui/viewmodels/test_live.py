"""Requests, queue and alarms beside the weir."""

import msgspec

from studio.domain.demand import PresetQueue, Queue, QueuedRequest
from studio.domain.pool import Resident
from studio.ui.viewmodels.live import ROWS, notices, queue_line, requests_view
from studio.ui.viewmodels.problem import Remedy, problem_view
from tests.ui.fake_service import BOOT_FAILED
from tests.ui.fake_serving import BY_HAND, POOL_REPORT, SMALLER, SPILLS, offered


def test_an_estimate_is_marked_and_an_unknown_key_is_a_dash() -> None:
    """A guess must not look like a count."""
    rows = requests_view(POOL_REPORT, None, 0.0).rows

    assert rows[0] == ("Open WebUI", "chat", "18,420 tokens", "writing", "12.0 s")
    assert rows[1][:4] == ("–", "chat", "≈ 9,000 tokens", "reading")


def test_many_requests_are_counted_and_none_is_said() -> None:
    """Sixty-four seats must not push the charts off the page."""
    many = tuple(Resident(request_id=str(n), prompt_tokens=n) for n in range(64))
    full = requests_view(msgspec.structs.replace(POOL_REPORT, residents=many), None, 0.0)

    assert (len(full.rows), full.more) == (ROWS, f"and {64 - ROWS} more")
    assert requests_view(None, None, 0.0).empty != ""


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


def test_only_what_the_service_can_do_gets_a_button() -> None:
    """A button that ends in "only you can do this" is a lie."""
    ways = (offered(1, SPILLS.code, SMALLER), offered(2, SPILLS.code, BY_HAND))

    (card,) = notices((SPILLS,), ways, is_fixing=False)

    assert [(one.kind, one.what) for one in card.deeds] == [("fix", "1"), ("mute", SPILLS.code)]
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
    assert [one.primary for one in view.remedies] == [True, False, False]
    assert f"{BY_HAND.text} (nvidia-smi)" in view.hint
