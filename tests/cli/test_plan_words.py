"""Sentences with values in them."""

from studio.cli import plan_words


def test_sentences_carry_what_they_are_given() -> None:
    """And leave out what is not known."""
    assert plan_words.fits("`a`", None) == "`a` fits."
    assert plan_words.fits_not("`a`", None) == "`a` does not fit."
    assert plan_words.not_known("`a`", None, "the pool holds 5") == (
        "Whether `a` fits is not known. The arithmetic: the pool holds 5."
    )
    assert plan_words.pool_words("5 tokens", None, None, None) == "the pool holds 5 tokens"
    assert plan_words.seats_words("8", None) == "8 admitted"
    assert plan_words.boot_words(None, "5 s", None) == "later ones 5 s"
    assert plan_words.part_words("54", "linear", "48") == "54 blocks for 48 recurrent layers"
    assert plan_words.context_words("5 tokens", None) == "5 tokens"
