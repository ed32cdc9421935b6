"""What must give, in order: data in, a short list out."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.units import GIB
from studio.host.documents import read_toml
from studio.planner.outcome import Lack, Outcome
from studio.planner.reductions import Ladder, Step, StepKind, Unit, find, shown
from tests.planner.plan_samples import outcome, short

ROOT = Path(__file__).resolve().parents[2]

CONTEXT = Step(
    knob="max_model_len",
    kind=StepKind.FIT,
    against=(Lack.POOL,),
    unit=Unit.TOKENS,
    step=256,
    floor=1024,
    title="Shorter context: {value}",
    costs="Longer requests are refused.",
    source="a test",
)
VISION = Step(
    knob="vision",
    kind=StepKind.SET,
    presence=("true",),
    value="false",
    against=(Lack.CARD, Lack.POOL),
    title="No images",
    costs="Images are refused.",
    source="a test",
)
SEATS = Step(
    knob="max_num_seqs",
    kind=StepKind.HALVE,
    against=(Lack.CARD,),
    floor=1,
    title="Fewer seats: {value}",
    costs="More wait.",
    source="a test",
)


def pool_of(tokens: int, texts: Mapping[str, str], context: int = 65_536) -> Outcome:
    """Return what a pool of so many tokens comes to with these overrides."""
    length = int(texts.get("max_model_len", context))
    lacks = () if length <= tokens else (short(Lack.POOL, length - tokens),)
    return outcome({"max_model_len": length}, *lacks, pool_tokens=tokens, max_model_len=length)


@given(tokens=st.integers(1024, 200_000), context=st.integers(1025, 262_144))
def test_a_fitted_context_is_the_longest_multiple_that_fits(tokens: int, context: int) -> None:
    """A shorter one would take from the person what the pool could give."""
    start = pool_of(tokens, {}, context)

    found = find(start, lambda texts: pool_of(tokens, texts, context), {}, [CONTEXT])

    if start.fits:
        assert found == ()
        return
    assert [one.is_enough for one in found] == [True]
    value = int(found[0].value)
    assert value <= tokens
    assert value % 256 == 0
    assert value + 256 > tokens or value + 256 > context


def test_the_list_ends_with_the_first_step_that_is_enough() -> None:
    """Giving up more than needed is no plan."""

    def evaluate(texts: Mapping[str, str]) -> Outcome:
        missing = (
            3 * GIB
            - (GIB if "vision" in texts else 0)
            - (2 * GIB if "max_num_seqs" in texts else 0)
        )
        lacks = (short(Lack.CARD, missing),) if missing > 0 else ()
        return outcome(
            {"vision": "vision" not in texts, "max_num_seqs": 8, "max_model_len": 9}, *lacks
        )

    found = find(evaluate({}), evaluate, {}, [VISION, SEATS, CONTEXT])

    assert [(one.knob, one.value, one.is_enough) for one in found] == [
        ("vision", "false", False),
        ("max_num_seqs", "4", True),
    ]


def test_what_turns_out_to_be_needless_is_taken_back() -> None:
    """Two things given up where the second alone would do is one too many."""

    def evaluate(texts: Mapping[str, str]) -> Outcome:
        missing = 10 - (1 if "vision" in texts else 0) - (10 if "max_num_seqs" in texts else 0)
        lacks = (short(Lack.CARD, missing),) if missing > 0 else ()
        return outcome({"vision": "vision" not in texts, "max_num_seqs": 8}, *lacks)

    found = find(evaluate({}), evaluate, {}, [VISION, SEATS])

    assert [one.knob for one in found] == ["max_num_seqs"]


def test_a_step_is_passed_over_beside_what_excludes_it() -> None:
    """8 bits beside an attention backend that has none would not start."""
    step = msgspec.structs.replace(VISION, unless=("attention_backend",))
    start = outcome({"vision": True, "attention_backend": "FLASH_ATTN"}, short(Lack.CARD))

    assert find(start, lambda _texts: outcome({"vision": False}), {}, [step]) == ()


def test_less_pool_is_fitted_between_too_much_for_the_card_and_too_little_for_a_request() -> None:
    """The smallest pool of all holds no request: the search must not end there."""
    step = msgspec.structs.replace(
        CONTEXT, knob="kv", against=(Lack.LINE,), step=1, floor=1, unit=Unit.PLAIN
    )

    def evaluate(texts: Mapping[str, str]) -> Outcome:
        size = int(texts.get("kv", "100"))
        over = (short(Lack.LINE, size - 60),) if size > 60 else ()
        under = (short(Lack.POOL, 40 - size),) if size < 40 else ()
        return outcome({"kv": size}, *over, *under)

    (one,) = find(evaluate({}), evaluate, {}, [step])

    assert (one.value, one.is_enough) == ("60", True)


def test_a_step_that_makes_something_else_worse_is_passed_over() -> None:
    """Moving bytes from the card into memory that is not there helps nobody."""

    def evaluate(texts: Mapping[str, str]) -> Outcome:
        if "vision" in texts:
            return outcome({"vision": False}, short(Lack.MEMORY))
        return outcome({"vision": True}, short(Lack.CARD))

    assert find(evaluate({}), evaluate, {}, [VISION]) == ()


def test_a_step_that_the_preset_refuses_is_passed_over() -> None:
    """A reduction that `weir up` would refuse is no advice."""
    start = outcome({"vision": True}, short(Lack.CARD))

    assert find(start, lambda _texts: None, {}, [VISION]) == ()


def test_steps_that_are_not_enough_are_still_told() -> None:
    """The person sees how far they would get."""

    def evaluate(texts: Mapping[str, str]) -> Outcome:
        return outcome({"vision": "vision" not in texts}, short(Lack.CARD, 5 - len(texts)))

    found = find(evaluate({}), evaluate, {}, [VISION])

    assert [one.is_enough for one in found] == [False]


def test_costs_name_the_pool_before_and_after() -> None:
    """ "Smaller" without a figure is no cost that one can weigh."""

    def evaluate(texts: Mapping[str, str]) -> Outcome:
        tokens = 50_000 if texts else 40_000
        lacks = () if texts else (short(Lack.POOL),)
        return outcome({"vision": not texts}, *lacks, pool_tokens=tokens, seats=8)

    (one,) = find(evaluate({}), evaluate, {}, [VISION])

    assert one.costs == "Images are refused. The pool then holds 50,000 tokens, before 40,000."


def test_halving_goes_on_until_it_is_enough() -> None:
    """8 seats to 4 may not do where 2 would."""

    def evaluate(texts: Mapping[str, str]) -> Outcome:
        seats = int(texts.get("max_num_seqs", "8"))
        lacks = (short(Lack.CARD, seats),) if seats > 2 else ()
        return outcome({"max_num_seqs": seats}, *lacks, seats=seats)

    (one,) = find(evaluate({}), evaluate, {}, [SEATS])

    assert (one.value, one.seats, one.is_enough) == ("2", 2, True)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        ("5583457484", Unit.BYTES, "5.20 GiB"),
        ("49152", Unit.TOKENS, "49,152 tokens"),
        ("0.9", Unit.SHARE, "90 %"),
        ("4", Unit.REQUESTS, "4"),
    ],
)
def test_values_are_written_for_people(value: str, unit: Unit, text: str) -> None:
    """Ten digits of bytes say nothing to anybody."""
    assert shown(value, unit) == text


def test_the_ladder_of_the_catalogue_can_be_read() -> None:
    """A step with a misspelt key would be a plan without it."""
    ladder = read_toml(ROOT / "presets" / "planner" / "reductions.toml", Ladder)

    assert len(ladder.steps) > 5
    for step in ladder.steps:
        assert step.kind is not StepKind.SET or step.value is not None
        assert step.source


def test_a_preset_s_own_minimum_is_respected() -> None:
    """The step's floor may lie below what the preset takes."""

    def evaluate(texts: Mapping[str, str]) -> Outcome | None:
        length = int(texts.get("max_model_len", "65536"))
        return None if length < 4096 else pool_of(40_000, texts)

    (one,) = find(pool_of(40_000, {}), evaluate, {}, [CONTEXT])

    assert one.is_enough
    assert int(one.value) == 39_936


@given(line=st.integers(55, 97), left_for_pool=st.integers(10, 54))
def test_the_share_offered_is_the_largest_below_the_line(line: int, left_for_pool: int) -> None:
    """At the smallest share nothing is left for the pool; that is no reason to offer it."""
    ladder = read_toml(ROOT / "presets" / "planner" / "reductions.toml", Ladder)
    share = next(step for step in ladder.steps if step.knob == "gpu_memory_utilization")

    def evaluate(texts: Mapping[str, str]) -> Outcome:
        now = float(texts.get("gpu_memory_utilization", "0.98"))
        lacks = [short(Lack.LINE, now - line / 100)] if now > line / 100 else []
        kv_bytes = round((now - left_for_pool / 100) * GIB)
        starved = [short(Lack.CARD, -kv_bytes)] if kv_bytes <= 0 else []
        return outcome({"gpu_memory_utilization": now}, *lacks, *starved, kv_bytes=kv_bytes)

    found = find(evaluate({}), evaluate, {}, [share])

    assert [(one.value, one.is_enough) for one in found] == [(f"{line / 100:.4g}", True)]
