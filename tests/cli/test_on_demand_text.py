"""What requests may start and who waits, in words."""

import pytest

from studio.cli.on_demand_text import queue_pairs, queue_text, report_text
from studio.domain.demand import (
    DemandPreset,
    DemandReport,
    DemandSettings,
    FailedStart,
    NextStep,
    PresetQueue,
    Queue,
    QueuedRequest,
    Reason,
)
from studio.domain.errors import ErrorInfo

NOW = 10_000.0
WHY = ErrorInfo(code="kv-cache-no-room", message="There is no room.", hint=None, exit_status=6)
WAITING = tuple(
    QueuedRequest(since=NOW - age, key=key, route="/v1/chat/completions", is_stream=True)
    for age, key in ((42, "laptop"), (3, "phone"))
)
QUEUE = Queue(
    presets=(PresetQueue(preset="b", served_name="big", requests=WAITING),),
    waiting=2,
    next=NextStep(preset="b", reason=Reason.RESIDENCE, at=NOW + 18),
    failed=(FailedStart(preset="c", error=WHY, failures=2, until=NOW + 120),),
)


def test_the_queue_names_keys_and_what_comes_next() -> None:
    """So that nobody wonders why an answer does not come."""
    text = queue_text(QUEUE, NOW)

    assert "laptop" in text
    assert "chat/completions" in text
    assert "42.0 s" in text
    assert "b is next in 18.0 s" in text
    assert "There is no room. (kv-cache-no-room); tried again in 2 min" in text
    assert queue_text(Queue(), NOW) == "Nobody waits."


def test_a_list_without_presets_starts_nothing_and_says_so() -> None:
    """`on` alone would promise that a request starts something."""
    text = report_text(DemandReport(settings=DemandSettings()), NOW)

    assert "off until a preset is listed: requests start nothing" in text


def test_status_has_a_line_for_each_model_that_is_waited_for() -> None:
    """And none while nobody waits."""
    pairs = dict(queue_pairs(QUEUE, NOW))

    assert pairs["Queue"] == "big: 2 requests, the first since 42.0 s (laptop, phone)"
    assert queue_pairs(Queue(), NOW) == []


def test_status_says_when_an_idle_engine_stops() -> None:
    """In time left, or in time after the last request while it is used."""
    idle = queue_pairs(Queue(idle_stop_at=NOW + 90, idle_ttl_s=600), NOW)
    busy = queue_pairs(Queue(idle_ttl_s=600), NOW)

    assert idle == [("Idle stop", "stops in 1 min 30 s when nobody uses it")]
    assert busy == [("Idle stop", "stops 10 min 00 s after its last request")]
    assert "held" in dict(queue_pairs(Queue(held_since=NOW), NOW))["On demand"]


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_has_a_sentence(reason: Reason) -> None:
    """A new one must not end in a traceback."""
    step = NextStep(preset="b", reason=reason, at=NOW + 5)

    assert "Next" in queue_text(Queue(next=step), NOW)


def test_a_report_says_what_each_preset_is_called_and_why_one_cannot_start() -> None:
    """And that presets take turns."""
    text = report_text(
        DemandReport(
            settings=DemandSettings(ttl_s=0.0, wait_s=9.0, residence_s=7.0),
            presets=(
                DemandPreset(preset="a", ttl_s=0, names=("big", "a"), max_model_len=2048),
                DemandPreset(preset="b", ttl_s=60, problem=WHY, overrides={"x": "1"}),
            ),
            queue=Queue(held_since=NOW),
        ),
        NOW,
    )

    for part in (
        "asked for as big, a",
        "never stops",
        "There is no room.",
        "--set x=1",
        "take turns",
    ):
        assert part in text
    assert "held since" in text
