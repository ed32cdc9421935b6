"""Figures from answers and counters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.benchmark import figures
from studio.benchmark.answer import Answer
from studio.benchmark.load import Step
from studio.domain.bench import BenchKind
from studio.domain.metrics import EngineSample
from tests.benchmark.samples import answer

DECODE = Step(name="decode-2", kind=BenchKind.DECODE, streams=2, answer_tokens=11)
PREFILL = Step(name="prefill-1k", kind=BenchKind.PREFILL, answer_tokens=1)


def counters(**values: float) -> EngineSample:
    """Return a sample with these counters."""
    return EngineSample(**values)


def test_a_speed_counts_tokens_after_the_first() -> None:
    """The first token is what prefill ends with; its time is not decoding."""
    assert figures.decode_rate(answer(tokens=11, gap_s=0.1)) == pytest.approx(10.0)


def test_under_speculation_the_engines_count_is_what_counts() -> None:
    """One piece of an answer may hold several tokens."""
    found = figures.decode_rate(answer(tokens=31, tokens_per_piece=3, gap_s=0.1))

    assert found == pytest.approx(30.0)


def test_tokens_that_are_no_text_take_time_too() -> None:
    """An end of answer that is passed over has no text; the last piece is not the last token."""
    found = Answer(
        sent_s=0.0,
        pieces_s=(1.0, 1.1),
        last_s=2.0,
        prompt_tokens=10,
        cached_tokens=None,
        generated_tokens=11,
    )

    assert figures.decode_rate(found) == pytest.approx(10.0)


def test_what_cannot_be_known_is_not_made_up() -> None:
    """A division by nothing would be a record."""
    single = answer(tokens=1)
    without = Answer(
        sent_s=0.0,
        pieces_s=(1.0, 2.0),
        last_s=2.0,
        prompt_tokens=None,
        cached_tokens=None,
        generated_tokens=None,
    )

    assert figures.decode_rate(single) is None
    assert figures.decode_rate(without) is None
    assert figures.prefill_rate(without) is None
    assert figures.prefill_rate(answer(prompt_tokens=100, cached_tokens=100)) is None
    assert figures.quantile([], 0.5) is None


def test_cached_tokens_are_no_prefill() -> None:
    """A cache that answers is not a fast card."""
    found = figures.prefill_rate(answer(ttft_s=2.0, prompt_tokens=1_000, cached_tokens=600))

    assert found == pytest.approx(200.0)


def test_a_single_token_without_text_still_has_its_time() -> None:
    """The one token of a prefill may be the end of the answer."""
    silent = Answer(
        sent_s=1.0,
        pieces_s=(),
        last_s=3.0,
        prompt_tokens=800,
        cached_tokens=0,
        generated_tokens=1,
    )

    assert silent.ttft_s == 2.0
    assert figures.prefill_rate(silent) == pytest.approx(400.0)
    assert silent.decoding_s is None


def test_steps_come_from_the_engines_counters() -> None:
    """Drafter and step time are two causes of one speed."""
    before = counters(
        drafts_total=100, accepted_total=100, itl_sum_s=5, itl_count=50, generation_tokens_total=0
    )
    after = counters(
        drafts_total=110, accepted_total=125, itl_sum_s=5.4, itl_count=60, generation_tokens_total=9
    )

    assert figures.tokens_per_step(before, after) == pytest.approx(3.5)
    assert figures.step_time(before, after) == pytest.approx(0.04)


def test_an_engine_that_drafts_nothing_brings_one_token_a_step() -> None:
    """It has no such counters, which is not unknown."""
    plain = counters(generation_tokens_total=5)

    assert figures.tokens_per_step(plain, plain) == 1.0
    assert figures.tokens_per_step(None, plain) is None
    assert figures.tokens_per_step(counters(), counters()) is None


def test_counters_that_fell_say_nothing() -> None:
    """Only another engine's begin anew."""
    before = counters(itl_sum_s=5, itl_count=50, drafts_total=9, accepted_total=9)
    after = counters(itl_sum_s=1, itl_count=60, drafts_total=1, accepted_total=1)

    assert figures.step_time(before, after) is None
    assert figures.tokens_per_step(before, after) is None


def test_an_answer_that_came_in_one_piece_has_the_speed_of_its_steps() -> None:
    """A model of random weights may say no readable letter before the end."""
    silent = Answer(
        sent_s=0.0,
        pieces_s=(),
        last_s=None,
        prompt_tokens=10,
        cached_tokens=None,
        generated_tokens=11,
    )
    before = counters(itl_sum_s=1, itl_count=50, generation_tokens_total=5)
    after = counters(itl_sum_s=2, itl_count=60, generation_tokens_total=16)

    found = figures.part(DECODE, [silent], name="decode-1", took_s=1.0, before=before, after=after)

    assert found.decode_tokens_per_s == pytest.approx(10.0)
    assert found.note is not None
    assert "steps" in found.note


def test_all_together_is_from_the_first_token_to_the_last() -> None:
    """Two streams at the same time bring twice as much."""
    found = figures.part(DECODE, [answer(0.0), answer(0.1)], name="decode-2", took_s=2.0)

    assert found.decode_tokens_per_s == pytest.approx(10.0)
    assert found.total_tokens_per_s == pytest.approx(20 / 1.1)
    assert found.ttft_p50_s == pytest.approx(0.5)
    assert found.itl_p50_s == pytest.approx(0.1)
    assert found.generated_tokens == 22
    assert found.prompt_tokens == 100
    assert found.prefill_tokens_per_s is None


def test_a_prefill_has_no_speed_of_answers() -> None:
    """One token is no answer."""
    found = figures.part(PREFILL, [answer(tokens=1)], name="prefill-1k", took_s=1.0)

    assert found.decode_tokens_per_s is None
    assert found.total_tokens_per_s is None
    assert found.tokens_per_step is None
    assert found.prefill_tokens_per_s == pytest.approx(200.0)


def test_tokens_of_others_are_noticed() -> None:
    """A client of an adopted engine passes no gateway of ours."""
    before, after = counters(generation_tokens_total=0), counters(generation_tokens_total=80)
    own = counters(generation_tokens_total=23)

    disturbed = figures.part(
        DECODE, [answer(), answer()], name="decode-2", took_s=1, before=before, after=after
    )
    alone = figures.part(
        DECODE, [answer(), answer()], name="decode-2", took_s=1, before=before, after=own
    )

    assert disturbed.is_disturbed
    assert not alone.is_disturbed


def test_a_cache_that_lies_is_told() -> None:
    """Half a prompt from the cache makes any card look twice as fast."""
    hit = [answer(prompt_tokens=1_000, cached_tokens=500, tokens=1)]
    none = [answer(prompt_tokens=1_000, cached_tokens=0, tokens=1)]

    lying = figures.part(PREFILL, hit, name="prefill-1k", took_s=1)
    turns = figures.part(PREFILL, hit, name="turns-later", took_s=1)
    useless = figures.part(PREFILL, none, name="turns-later", took_s=1)

    assert "was in the prefix cache" in (lying.note or "")
    assert turns.note is None
    assert "gave nothing back" in (useless.note or "")


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50), st.floats(0, 1))
def test_a_quantile_lies_between_the_smallest_and_the_largest(
    values: list[float], share: float
) -> None:
    """Whatever the values are."""
    found = figures.quantile(values, share)

    assert found is not None
    assert min(values) - 1e-9 <= found <= max(values) + 1e-9
    assert figures.quantile(values, 0.0) == min(values)
    assert figures.quantile(values, 1.0) == max(values)
