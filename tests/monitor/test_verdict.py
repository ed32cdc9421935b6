"""As fast as it should be? The drafter or the steps? Or nothing, and what is missing."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.speed import (
    PROCESSOR,
    SpeedCause,
    SpeedFigure,
    SpeedMeasured,
    SpeedSteps,
    SpeedVerdictKind,
)
from studio.monitor.verdict import SHORT_TOKENS, TOLERANCE, verdict

Kind = SpeedVerdictKind
FIGURE = SpeedFigure(
    decode_tokens_per_s=52.0,
    tokens_per_step=3.6,
    step_s=3.6 / 52.0,
    card="RTX 3090",
    power_w=350.0,
    source="somebody",
)


def seen(decode: float, tokens_per_step: float | None = 3.6, **more: object) -> SpeedMeasured:
    """Return a good minute of one request with a short conversation."""
    usual: dict[str, object] = {
        "seconds": 30.0,
        "requests": 1,
        "decode_tokens_per_s": decode,
        "tokens_per_step": tokens_per_step,
        "step_s": (tokens_per_step or 1.0) / decode,
        "context_tokens": 900,
    }
    return SpeedMeasured(**{**usual, **more})


def test_as_published_is_said_to_be() -> None:
    """Within what runs differ by."""
    found = verdict(seen(50.5), FIGURE)

    assert found.kind is Kind.AS_EXPECTED
    head = "50.5 tok/s, published 52.0 tok/s on this card at 350 W"
    assert found.sentence == f"{head}: as published."


def test_a_slow_drafter_is_told_from_slow_steps() -> None:
    """The case of the issue: steps as they should be, guesses taken less often."""
    found = verdict(seen(41.0, 3.1 * 41 / 44), FIGURE, drafts=7)

    assert found.cause is SpeedCause.DRAFTER
    assert found.sentence.startswith(
        "41.0 tok/s, published 52.0 tok/s on this card at 350 W: step time is as published, the"
        " drafter's guesses are taken less often (1.9 of 7 a step instead of 2.6)."
    )


def test_slow_steps_point_at_the_machine() -> None:
    """Spill leaves the drafter as it is: 146 ms a step against 69."""
    found = verdict(seen(3.6 / 0.146), FIGURE)

    assert found.cause is SpeedCause.STEP_TIME
    assert "steps take longer (146 ms instead of 69)" in found.sentence
    assert "Look for spill" in found.sentence


def test_both_are_named_when_both_are_slow() -> None:
    """One after the other would be mended in vain."""
    assert verdict(seen(20.0, 2.0), FIGURE).cause is SpeedCause.BOTH


def test_without_speculation_only_steps_can_be_slow() -> None:
    """One token a step, always."""
    plain = SpeedFigure(decode_tokens_per_s=50.0, card="x", source="y")

    found = verdict(seen(25.0, None), plain)

    assert found.cause is SpeedCause.STEP_TIME
    assert "(40 ms instead of 20)" in found.sentence
    assert "drafter" not in found.sentence


def test_a_figure_without_tokens_per_step_splits_nothing() -> None:
    """And says so instead of guessing."""
    bare = SpeedFigure(decode_tokens_per_s=52.0, card="x", source="y")

    found = verdict(seen(30.0), bare)

    assert (found.kind, found.cause) == (Kind.SLOWER, SpeedCause.UNKNOWN)
    assert "cannot be told" in found.sentence


def test_steps_that_nobody_published_are_held_against_the_past() -> None:
    """The speed against what was published, its two parts against what they were here."""
    mixed = msgspec.structs.replace(
        FIGURE, decode_tokens_per_s=60.0, steps_of=SpeedSteps.PAST, before_tokens_per_s=52.0
    )

    drafter = verdict(seen(36.0, 2.5), mixed, drafts=7)
    assert drafter.cause is SpeedCause.DRAFTER
    assert drafter.sentence.startswith(
        "36.0 tok/s, published 60.0 tok/s on this card at 350 W; 52.0 tok/s before on this machine:"
        " step time is as before,"
    )
    steps = verdict(seen(26.0, 3.6), mixed)
    assert steps.cause is SpeedCause.STEP_TIME
    always = msgspec.structs.replace(mixed, tokens_per_step=3.6, step_s=3.6 / 40)
    same = verdict(seen(40.0, 3.6), always)
    assert same.cause is SpeedCause.UNKNOWN
    assert "slower all along" in same.sentence


def test_this_machines_own_past_is_called_that() -> None:
    """Nobody published it."""
    own = SpeedFigure(
        decode_tokens_per_s=52.0, tokens_per_step=3.6, step_s=0.069, is_published=False,
        card="x", source="y",
    )  # fmt: skip

    assert verdict(seen(30.0), own).sentence.startswith("30.0 tok/s, 52.0 tok/s before on this")
    assert verdict(seen(70.0), own).sentence.endswith("35 % faster than before.")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"requests": 4}, "4 requests run"),
        ({"context_tokens": 20_000}, "about 20,000 tokens"),
        ({"context_tokens": None}, "is not known"),
        ({"seconds": 4.0}, "10 s of steady generating are needed, 4 s were seen"),
    ],
)
def test_another_load_is_not_judged_and_what_lacks_is_said(
    more: dict[str, object], says: str
) -> None:
    """However slow it is: four requests on one card are slower each, and healthy."""
    found = verdict(seen(5.0, **more), FIGURE)

    assert found.kind is Kind.NOT_COMPARABLE
    assert found.ratio is None
    assert says in found.sentence
    assert len(found.missing) == 1


def test_no_figure_is_said_to_be_none() -> None:
    """A card that nobody published anything for, on its first day."""
    found = verdict(SpeedMeasured(), None)

    assert found.kind is Kind.NOT_COMPARABLE
    assert len(found.missing) == 2
    assert "no figure is published" in found.sentence


RATES = st.floats(0.1, 10_000)
STEPS = st.one_of(st.none(), st.floats(1.0, 16.0))


@given(
    decode=st.one_of(st.none(), RATES),
    tokens_per_step=STEPS,
    seconds=st.floats(0, 60),
    requests=st.integers(0, 64),
    context=st.one_of(st.none(), st.integers(0, 300_000)),
    reference=st.one_of(st.none(), RATES),
    reference_steps=STEPS,
    is_published=st.booleans(),
)
def test_it_never_speaks_of_another_load_and_never_contradicts_itself(
    decode: float | None,
    tokens_per_step: float | None,
    seconds: float,
    requests: int,
    context: int | None,
    reference: float | None,
    reference_steps: float | None,
    is_published: bool,
) -> None:
    """Whatever is measured, and whatever it is held against."""
    step_s = None if not decode else (tokens_per_step or 1.0) / decode
    measured = SpeedMeasured(
        seconds=seconds, requests=requests, decode_tokens_per_s=decode,
        tokens_per_step=tokens_per_step, step_s=step_s, context_tokens=context,
    )  # fmt: skip
    figure = None
    if reference is not None:
        figure = SpeedFigure(
            decode_tokens_per_s=reference, tokens_per_step=reference_steps,
            step_s=None if reference_steps is None else reference_steps / reference,
            is_published=is_published, card="x", source="y",
        )  # fmt: skip

    found = verdict(measured, figure, 7)

    is_same_load = (
        decode is not None
        and seconds >= 10
        and requests == 1
        and context is not None
        and context <= SHORT_TOKENS
        and figure is not None
    )
    assert (found.kind is not Kind.NOT_COMPARABLE) == is_same_load
    assert bool(found.missing) != is_same_load
    assert (found.cause is not None) == (found.kind is Kind.SLOWER)
    assert found.sentence.endswith(".")
    if decode is None or reference is None or not is_same_load:
        return
    assert (found.kind is Kind.SLOWER) == (decode / reference < 1 - TOLERANCE)
    if tokens_per_step and reference_steps and found.cause is SpeedCause.DRAFTER:
        assert tokens_per_step < reference_steps
    if tokens_per_step and reference_steps and found.cause is SpeedCause.STEP_TIME:
        assert step_s is not None
        assert step_s > reference_steps / reference


def test_a_processor_is_not_called_a_card() -> None:
    """Nobody can raise the power limit of one that is not there."""
    figure = SpeedFigure(decode_tokens_per_s=18.0, card=PROCESSOR, source="somebody")
    found = verdict(seen(9.0, None), figure)

    assert found.cause is SpeedCause.STEP_TIME
    assert "on this processor: steps take longer" in found.sentence
    assert "card" not in found.sentence
