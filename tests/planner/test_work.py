"""Settings worked out: pool, ledger and reasons together."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.geometry import ModelGeometry
from studio.domain.plans import LedgerItem, LedgerPlace
from studio.domain.units import GIB
from studio.planner.budget import Budget
from studio.planner.card_ledger import Ground
from studio.planner.engine import engine
from studio.planner.outcome import Lack
from studio.planner.work import Attempt, Subject, work_out
from tests.planner.plan_samples import HYBRID, LLAMA, card, host, short

PINNED = {"kv_cache_memory_bytes": GIB, "max_model_len": 2048, "dtype": "float32"}


def subject(
    name: str = "cpu-vllm-0.32.0", target: ModelGeometry | None = LLAMA, **more: object
) -> Subject:
    """Return a model on an engine on a machine with one card."""
    fields: dict[str, object] = {
        "engine": engine(name),
        "ground": Ground(host=host(card())),
        "target": target,
        **more,
    }
    return Subject(**fields)


def attempt(
    settings: dict[str, object], kv_bytes: int | None, error: int | None = 0, **more: object
) -> Attempt:
    """Return settings with a budget of nothing but the pool."""
    budget = Budget(kv_bytes=kv_bytes, kv_error_bytes=error, kv_source="a test", error_bytes=error)
    return Attempt(settings=settings, budget=budget, **more)


def test_the_demo_s_pool_is_the_one_that_its_engine_prints() -> None:
    """23,296 tokens in 1 GiB: printed at every boot of cpu-demo."""
    found = work_out(subject(), attempt(PINNED, GIB))

    assert found.pool_tokens == 23_296
    assert found.pool_tokens_error == 0
    assert found.fits
    assert [item.place for item in found.ledger] == [LedgerPlace.MEMORY]


def test_a_pool_too_small_for_one_request_says_what_would_start() -> None:
    """The engine refuses after a minute; the plan says it at once, with the figure to type."""
    settings = {**PINNED, "max_model_len": 8192}

    found = work_out(subject(), attempt(settings, GIB // 8))

    assert [one.lack for one in found.shortfalls] == [Lack.POOL]
    assert "the longest that would start is" in found.shortfalls[0].sentence
    assert found.longest_context is not None
    again = work_out(
        subject(), attempt({**settings, "max_model_len": found.longest_context}, GIB // 8)
    )
    assert again.fits


def test_an_error_bar_on_the_bytes_becomes_one_on_the_tokens() -> None:
    """What is not pinned is never called exact."""
    found = work_out(subject(), attempt(PINNED, GIB, GIB // 100))

    assert found.pool_tokens_error is not None
    assert 0 < found.pool_tokens_error < 23_296 // 50


def test_a_refusal_within_the_error_bar_is_a_warning() -> None:
    """A little more than forecast, and it would start."""
    settings = {**PINNED, "max_model_len": 8192}
    needed = work_out(subject(), attempt(settings, GIB)).blocks_per_request
    assert needed is not None
    nearly = (needed - 1) * (GIB // 182)

    found = work_out(subject(), attempt(settings, nearly, GIB // 10))

    assert found.fits
    assert [one.is_certain for one in found.shortfalls] == [False]


def test_nothing_left_for_the_pool_is_a_card_too_small() -> None:
    """Weights alone may fill a card."""
    found = work_out(subject("vllm-0.32.0"), attempt({}, -GIB, 0, cards=(card(),)))

    assert found.pool_tokens is None
    assert Lack.CARD in {one.lack for one in found.certain}
    assert "1.00 GiB are missing before its first block" in found.certain[0].sentence


def test_a_model_whose_shape_is_unknown_has_no_verdict() -> None:
    """The preset ships none, and the model is not here yet."""
    found = work_out(subject(target=None), attempt({}, GIB))

    assert found.pool_tokens is None
    assert "shape of the model is not known" in found.unknown[0]


def test_a_host_without_cards_leaves_a_stock_engine_open() -> None:
    """The arithmetic holds all the same."""
    bare = subject("vllm-0.32.0", ground=Ground(host=host()))

    found = work_out(bare, attempt(PINNED, GIB))

    assert found.pool_tokens is not None
    assert found.unknown == ("No NVIDIA driver was found on this machine.",)


def test_three_cards_cannot_share_four_heads() -> None:
    """Asked for by a person: refused with the counts that work."""
    asked = subject("vllm-0.32.0", HYBRID, asked_for=frozenset({"tensor_parallel_size"}))
    settings = {"tensor_parallel_size": 3, "max_model_len": 4096}

    found = work_out(asked, attempt(settings, 4 * GIB, cards=(card(0), card(1), card(2))))

    assert Lack.RULE in {one.lack for one in found.certain}


def test_what_was_known_before_stays() -> None:
    """A refusal of the preset is a reason of the plan."""
    found = work_out(
        subject(), attempt(PINNED, GIB, shortfalls=(short(Lack.RULE),), warnings=("w",))
    )

    assert [one.lack for one in found.certain] == [Lack.RULE]
    assert found.warnings == ("w",)


@given(st.integers(1, 64), st.integers(1, 64))
def test_more_bytes_never_make_a_smaller_pool(less: int, more: int) -> None:
    """A larger pin that holds fewer tokens would be a mistake of ours."""
    small, large = sorted((less, more))

    first = work_out(subject(), attempt(PINNED, small * GIB // 8))
    second = work_out(subject(), attempt(PINNED, large * GIB // 8))

    assert (first.pool_tokens or 0) <= (second.pool_tokens or 0)


def test_a_context_longer_than_the_model_s_own_is_refused() -> None:
    """What fits the pool may be too long for the model; the engine says so after its imports."""
    found = work_out(subject(), attempt({**PINNED, "max_model_len": 9000}, GIB))

    assert [one.lack for one in found.certain] == [Lack.CONTEXT]
    assert "made for 8,192 tokens" in found.certain[0].sentence
    overridden = {**PINNED, "max_model_len": 9000, "hf_overrides": {"rope_scaling": {}}}
    assert work_out(subject(), attempt(overridden, GIB)).fits


def test_what_is_known_may_already_be_too_much() -> None:
    """A pool larger than the card does not fit, whatever the weights take."""
    items = (LedgerItem(name="weights", title="Weights", bytes=None, source="a test"),)
    budget = Budget(items=items, kv_bytes=99 * GIB, kv_error_bytes=0, error_bytes=0)

    found = work_out(
        subject("vllm-0.32.0"), Attempt(settings=PINNED, budget=budget, cards=(card(),))
    )

    assert Lack.CARD in {one.lack for one in found.certain}
    assert found.headroom_bytes is None


def test_the_blocks_of_a_request_are_told_by_kind() -> None:
    """Attention and recurrent states share one pool; a person sees what each takes."""
    settings = {"max_model_len": 65_536, "mamba_ssm_cache_dtype": "float16"}

    found = work_out(
        subject("vllm-0.26.0", HYBRID, ground=Ground(host=host())),
        attempt(settings, 5_583_457_484),
    )

    assert {one.kind: one.layers for one in found.parts} == {"full": 16, "linear": 48}
    assert sum(one.blocks_per_request for one in found.parts) == found.blocks_per_request


def test_states_alone_hold_a_request_of_any_length() -> None:
    """67,108,864 tokens is where the search stops, and no figure for a person."""
    states = msgspec.structs.replace(HYBRID, layers=HYBRID.layers[1:], context_tokens=None)

    found = work_out(subject("vllm-0.32.0", target=states), attempt({"max_model_len": 4_096}, GIB))

    assert found.longest_context is None
    assert found.pool_tokens
