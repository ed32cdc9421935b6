"""What counts as standing still: recorded figures, long prefills, pauses of the Studio itself."""

from pathlib import Path

import msgspec
import pytest

from studio.domain.metrics import EngineSample
from studio.serving import liveness
from studio.serving.liveness import Liveness, Pulse

STALL_S = 60.0
IDLE = EngineSample(running=0.0, waiting=0.0, generation_tokens_total=8.0, pool_used_share=0.0)
BUSY = EngineSample(running=1.0, waiting=2.0, generation_tokens_total=8.0, pool_used_share=0.1)
ENGINE = Path(__file__).resolve().parents[1] / "data" / "engine"


def after(seconds: int, sample: EngineSample | None, *, in_flight: int = 1) -> Liveness:
    """Return what a minute of the same reading comes to, one a second."""
    made = Liveness(STALL_S)
    for second in range(seconds + 1):
        made.read(float(second), sample, in_flight)
    return made


def test_requests_without_a_step_are_a_standstill_in_the_preset_s_time() -> None:
    """Not before: a kernel that is compiled on first use takes its time."""
    assert not after(59, BUSY).pulse.is_stalled
    assert after(59, BUSY).pulse.still_s == 59.0
    assert after(60, BUSY).pulse.is_stalled
    assert after(60, BUSY).requests == 3


def test_an_idle_engine_does_not_stand_still() -> None:
    """It has nothing to do, for a whole night."""
    assert after(4000, IDLE, in_flight=0).pulse.still_s == 0.0
    assert not after(4000, IDLE, in_flight=0).pulse.is_stalled


@pytest.mark.parametrize(
    "field", ["generation_tokens_total", "pool_used_share", "prompt_tokens_total", "running"]
)
def test_any_figure_that_changes_is_a_step(field: str) -> None:
    """A prefill of 256k tokens yields none for minutes, but its chunks fill the pool."""
    made = Liveness(STALL_S)
    for second in range(400):
        made.read(float(second), msgspec.structs.replace(BUSY, **{field: 1.0 + second // 50}), 1)
        assert not made.pulse.is_stalled
        assert made.pulse.still_s < 51


def test_an_engine_that_does_not_answer_stands_still() -> None:
    """A stopped API server answers nothing at all, and its processes live."""
    assert after(61, None).pulse.is_stalled


def test_answers_that_fail_now_and_then_are_no_standstill() -> None:
    """A busy event loop misses a reading; the figures after it have moved on."""
    made = Liveness(STALL_S)
    for second in range(300):
        sample = msgspec.structs.replace(BUSY, generation_tokens_total=float(second))
        made.read(float(second), None if second % 3 else sample, 1)

    assert made.pulse.still_s < 3


def test_a_pause_of_the_studio_is_not_the_engine_s() -> None:
    """After a suspend or a debugger, the clock has jumped and nothing was read meanwhile."""
    made = after(10, BUSY)

    made.read(10_000.0, BUSY, 1)

    assert made.pulse.still_s == 15.0
    assert not made.pulse.is_stalled


def test_it_goes_on_after_a_standstill() -> None:
    """One that waits for a slow disk moves again, and the note goes away."""
    made = after(100, BUSY)
    assert made.pulse.is_stalled

    made.read(101.0, msgspec.structs.replace(BUSY, generation_tokens_total=9.0), 1)

    assert made.pulse == Pulse()


def test_an_engine_that_hangs_in_its_first_step_is_found_out() -> None:
    """Its gauges are those of the last step: it says it has nothing, and nobody is answered."""
    made = after(5, IDLE)
    assert made.pulse.wants_probe

    made.probing()
    made.read(6.0, IDLE, 1)
    assert not made.pulse.wants_probe
    for second in range(7, 70):
        made.read(float(second), IDLE, 1)

    assert made.pulse.is_stalled


def test_a_probe_that_was_given_up_is_no_reason_for_ever() -> None:
    """The engine stood still for longer than the probe waited, then it went on."""
    made = after(5, IDLE)
    made.probing()
    made.read(70.0, IDLE, 0)

    made.gave_up()
    made.read(71.0, msgspec.structs.replace(IDLE, generation_tokens_total=9.0), 0)
    for second in range(72, 200):
        made.read(float(second), msgspec.structs.replace(IDLE, generation_tokens_total=9.0), 0)

    assert made.pulse == Pulse()


def test_a_client_that_reads_slowly_is_not_the_engine_s_fault() -> None:
    """The request is long done in the engine; asking again every few seconds would be noise."""
    made = after(5, IDLE)
    made.probing()
    made.moved()
    asked = 0
    for second in range(6, 306):
        made.read(float(second), IDLE, 1)
        if made.pulse.wants_probe:
            asked += 1
            made.probing()
            made.moved()

    assert asked <= 5
    assert not made.pulse.is_stalled


def test_an_idle_engine_is_asked_now_and_then() -> None:
    """A card may have died an hour ago, and the first to know should not be a person."""
    assert not after(299, IDLE, in_flight=0).pulse.wants_probe
    assert after(301, IDLE, in_flight=0).pulse.wants_probe


def test_a_preset_s_time_is_longer_than_what_the_studio_doubts_by() -> None:
    """Doubt leads to a question, never to an end."""
    assert liveness.SUSPICIOUS_S < liveness.TRUSTED_S < 180.0
    assert liveness.SHOWN_AFTER_S < 180.0
