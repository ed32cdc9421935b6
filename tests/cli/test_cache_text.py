"""Findings in sentences: who, what, where, at what price, and what to do."""

import pytest

from studio.cli import cache_words
from studio.cli.cache_text import finding_text, report_text
from studio.domain.cache import CacheReport, ChangeKind, Place
from tests.cli.cache_samples import REPORT, finding


def test_the_known_case_is_told_to_the_end() -> None:
    """Place, price and remedy in one glance."""
    text = finding_text(finding())

    assert text.splitlines()[0] == (
        "claude-cli (key `laptop`, model qwen3.8-27b): the system prompt changes each turn, in line"
        " 1, at character 76 (Claude Code's attribution line)."
    )
    assert "18 of the last 20 turns" in text
    assert "31,680 tokens are read again each turn, 21.1 s at the 1,500 tok/s" in text
    assert "`weir gateway adjust attribution-line on`" in text
    assert "`--key laptop`" in text
    assert "CLAUDE_CODE_ATTRIBUTION_HEADER" in text


@pytest.mark.parametrize("kind", list(ChangeKind))
def test_every_kind_has_its_words_and_a_remedy(kind: ChangeKind) -> None:
    """Also where nothing is known of place and price."""
    place = Place(kind=kind, number=3, role="user")
    text = finding_text(finding(place=place, adjustment=None, lost_tokens=None, lost_s=None))

    assert "{" not in text
    assert cache_words.REMEDIES[kind] in text


def test_what_is_over_says_since_when() -> None:
    """And a place that is not exact says how wide it is."""
    place = Place(kind=ChangeKind.MESSAGE, number=1, role="user", line=2, characters=300, within=90)
    text = finding_text(finding(place=place, ended_at=1_796_002_000.0, adjustment=None,
                                is_between_conversations=True))  # fmt: skip

    assert text.startswith("Was so till ")
    assert (
        "message 1 (user), sent before, changes each turn, in line 2, within 90 characters from"
        in text
    )
    assert "where a new conversation begins" in text


def test_a_report_has_findings_first_and_all_clients() -> None:
    """What is not known is shown as unknown."""
    text = report_text(REPORT)

    assert text.index("attribution") < text.index("CLIENT")
    assert "(not said)" in text
    assert "2 requests were too large" in text


def test_nothing_to_tell_is_told() -> None:
    """With a service and without one."""
    assert "Nothing to report" in report_text(CacheReport(is_live=True))
    assert "No request has passed" in report_text(CacheReport(is_live=True))
    assert "No service runs" in report_text(CacheReport())
