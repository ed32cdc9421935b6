"""A run in one line."""

from studio.benchmark.summary import summary
from tests.benchmark.samples import part, result


def test_the_figures_people_ask_for_are_shown() -> None:
    """One stream, as many as there were, and the longest prompt."""
    found = summary(
        result(
            part("decode-1", decode_tokens_per_s=1.0),
            part("decode-8", total_tokens_per_s=8.0, is_disturbed=True),
            part("decode-4", total_tokens_per_s=4.0),
            part("prefill-16k", prefill_tokens_per_s=16.0),
            part("prefill-2k", prefill_tokens_per_s=2.0),
            partial="It was stopped.",
        )
    )

    assert found.decode_tokens_per_s == 1.0
    assert found.total_tokens_per_s == 8.0
    assert found.prefill_tokens_per_s == 16.0
    assert found.is_partial
    assert found.is_disturbed


def test_what_was_not_measured_is_unknown() -> None:
    """A run that was stopped early has little to say."""
    found = summary(result())

    assert found.decode_tokens_per_s is None
    assert found.total_tokens_per_s is None
    assert not found.is_partial
