"""`weir models` and `weir downloads`: what is refused unasked, and what is said."""

from collections.abc import Callable

import pytest

from tests.cli.typed import Ran

Weir = Callable[..., Ran]
SECRET = "hf_a_token_that_nobody_else_may_see"


def test_a_token_on_the_command_line_is_refused_and_not_repeated(weir: Weir) -> None:
    """Other programs can read it there."""
    ran = weir("models", "login", "--token", SECRET)

    assert ran.status == 2
    assert SECRET not in ran.out + ran.err


@pytest.mark.parametrize("words", [("pause",), ("limit",), ("limit", "fast"), ("limit", "nan")])
def test_a_line_that_is_incomplete_is_a_usage_error(weir: Weir, words: tuple[str, ...]) -> None:
    """Before anything is changed."""
    assert weir("downloads", *words).status == 2
