"""Guesses for prompts whose count never came."""

from studio.gateway.estimate import PromptRatio


def test_a_guess_follows_what_was_counted():
    """Chinese and English differ twofold; the requests of this machine say which it is."""
    ratio = PromptRatio()
    assert ratio.guess(4_000) == 1_000

    for _ in range(10):
        ratio.learn(3_000, 1_500)
    ratio.learn(0, 10)
    ratio.learn(10, None)

    assert ratio.guess(4_000) == 2_000


def test_old_requests_count_for_less():
    """Another model means another tokenizer."""
    ratio = PromptRatio()
    ratio.learn(40_000_000, 10_000_000)
    for _ in range(40):
        ratio.learn(10_000_000, 5_000_000)

    assert 1_900 < ratio.guess(4_000) <= 2_000
