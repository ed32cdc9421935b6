"""The speed in words."""

import msgspec

from studio.cli.speed_text import speed_text
from studio.domain.speed import SpeedReport, SpeedVerdict
from tests.cli.monitor_samples import SPEED


def test_everything_known_has_its_line() -> None:
    """The verdict first."""
    text = speed_text(SPEED, 80)

    assert text.lstrip().startswith("Verdict")
    assert "82.0 tok/s in all, 41.0 tok/s for each of 2 requests" in text
    assert "69.0 ms a step, 3.10 tokens each" in text
    assert "taken: 80 % · 60 % · 40 %" in text
    assert "170 ms for half of them, 1.20 s for 95 %" in text
    assert "52.0 tok/s: HyperQwen, speed" in text
    assert "laptop" in text


def test_a_long_verdict_is_wrapped() -> None:
    """At 80 columns as at 40."""
    for width in (60, 80):
        assert max(len(line) for line in speed_text(SPEED, width).splitlines()[:3]) <= width


def test_one_request_and_no_speculation_are_said_short() -> None:
    """Nothing is divided that is one."""
    alone = msgspec.structs.replace(SPEED, running=1, tokens_per_step=None, acceptance=None)
    text = speed_text(alone, 80)

    assert "in all" not in text
    assert "69.0 ms a step\n" in text
    assert "taken:" not in text


def test_no_engine_is_no_speed() -> None:
    """In one sentence."""
    assert speed_text(SpeedReport(at=1, verdict=SpeedVerdict(sentence="x")), 80).startswith("No ")
