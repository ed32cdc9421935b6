"""`weir models` and `weir downloads`: what is refused unasked, and what is said."""

from collections.abc import Callable

import pytest

from studio.cli.hub import line, list_text
from studio.domain.downloads import DownloadInfo, DownloadKind, DownloadList, DownloadState
from tests.cli.conftest import Ran

Weir = Callable[..., Ran]
SECRET = "hf_a_token_that_nobody_else_may_see"
INFO = DownloadInfo(id="1a", kind=DownloadKind.MODEL, title="a/b", state=DownloadState.RUNNING)


def test_a_token_on_the_command_line_is_refused_and_not_repeated(weir: Weir) -> None:
    """Other programs can read it there."""
    ran = weir("models", "login", "--token", SECRET)

    assert ran.status == 2
    assert SECRET not in ran.out + ran.err


@pytest.mark.parametrize("words", [("pause",), ("limit",), ("limit", "fast"), ("limit", "nan")])
def test_a_line_that_is_incomplete_is_a_usage_error(weir: Weir, words: tuple[str, ...]) -> None:
    """Before anything is changed."""
    assert weir("downloads", *words).status == 2


def test_what_is_not_known_is_said_to_be_unknown() -> None:
    """And never as 0 of 0."""
    assert "of unknown size" in line(INFO)
    assert "left" not in line(INFO)


def test_the_list_says_limit_and_hold_or_that_there_is_nothing() -> None:
    """Both explain why it is slow."""
    text = list_text(DownloadList(downloads=(INFO,), limit_bytes_per_s=1_000_000, is_held=True))

    assert len(text.splitlines()) == 3
    assert text.startswith("1a  running")
    assert list_text(DownloadList()) == "Nothing is being fetched."
