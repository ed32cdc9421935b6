"""A run beside published figures."""

import pytest

from studio.benchmark.against_published import with_published
from studio.domain.bench import BenchVerdict
from studio.domain.manifests import Expected
from tests.benchmark.samples import card, part, result

ROW = Expected(
    card="RTX 3090 at 250 W, Linux",
    pin="vLLM 0.27.1",
    decode_tokens_per_s=121.8,
    total_tokens_per_s=407.0,
    first_token_s=0.165,
    note="one stream at the model's own sampling; eight streams together",
    source="a table",
)
SAME = 0.05


def test_each_figure_is_beside_the_part_that_measures_it() -> None:
    """One stream beside one stream, eight beside eight."""
    here = result(
        part("decode-1", decode_tokens_per_s=120.0, ttft_p50_s=0.2),
        part("decode-8", total_tokens_per_s=330.0),
        cards=(card(power_limit_w=250.0),),
    )

    [found] = with_published(here, (ROW,), SAME)

    assert found.title == "published: RTX 3090 at 250 W, Linux · vLLM 0.27.1 (a table)"
    by_part = {(one.part, one.figure): one for one in found.differences}
    assert by_part["decode-1", "decode_tokens_per_s"].verdict is BenchVerdict.SAME
    eight = by_part["decode-8", "total_tokens_per_s"]
    assert eight.verdict is BenchVerdict.WORSE
    assert eight.sentence == (
        "Decode, 8 streams, all together: 330 tok/s, published 407 tok/s: 19 % less."
    )
    assert by_part["decode-1", "ttft_p50_s"].verdict is BenchVerdict.WORSE


def test_what_was_not_measured_is_told() -> None:
    """A published figure that goes missing looks like one that was met."""
    [found] = with_published(result(part("decode-1")), (ROW,), SAME)

    assert "Published for 8 requests at once: 407 tok/s, not measured in this run." in found.notes


def test_decoding_behind_a_long_prompt_is_not_compared_with_a_short_one() -> None:
    """It is slower by nature."""
    long_ = Expected(
        card="RTX 3090, Linux", decode_tokens_per_s=47.0, note="six tasks at 112k", source="s"
    )

    [found] = with_published(result(part("decode-1")), (long_,), SAME)

    assert not [one for one in found.differences if one.figure == "decode_tokens_per_s"]
    assert "Published for one answer at 112k: 47.0 tok/s, not measured in this run." in found.notes


@pytest.mark.parametrize(
    ("note", "name"), [("at 20k", "prefill-16k"), (None, "prefill-50k"), ("at 112k", None)]
)
def test_a_published_prefill_is_beside_the_prompt_nearest_to_it(
    note: str | None, name: str | None
) -> None:
    """Longer prompts are read more slowly, so the length has to be near."""
    published = Expected(
        card="RTX 3090, Linux", prefill_tokens_per_s=1_200.0, note=note, source="s"
    )
    here = result(*(part(f"prefill-{length}k", streams=1) for length in (1, 16, 50)))

    [found] = with_published(here, (published,), SAME)

    parts = [one.part for one in found.differences if one.figure == "prefill_tokens_per_s"]
    assert parts == ([name] if name else [])


def test_the_pool_is_compared_too() -> None:
    """A pool that is smaller than published is the first sign of a card that is shared."""
    published = Expected(card="RTX 3090, Linux", pool_tokens=80_000, source="s")

    [found] = with_published(result(), (published,), SAME)

    [pool] = found.differences
    assert pool.sentence == "The pool: 68,605 tokens, published 80,000 tokens: 14 % less."
