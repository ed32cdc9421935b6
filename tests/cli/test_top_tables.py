"""Keys, requests and alarms as rows."""

import msgspec

from studio.cli.cells import Line, text_of, width_of
from studio.cli.top_state import State
from studio.cli.top_tables import (
    alarms_lines,
    alarms_page,
    keys_lines,
    requests_lines,
    residents_lines,
)
from tests.cli.top_samples import ALARM, NOTICE, NOW, POOL, keys, requests


def shown(lines: list[Line]) -> list[str]:
    """Return lines as text."""
    return [text_of(one) for one in lines]


def test_keys_are_cut_to_their_room_and_counted() -> None:
    """The rest of the screen is not theirs."""
    found = State(keys=keys(*"abcdefgh"))

    lines = shown(keys_lines(found, 80, 5, NOW))

    assert len(lines) == 5
    assert lines[-1] == "… and 5 more"
    assert keys_lines(found, 80, 2, NOW) == []
    assert "not asked yet" in shown(keys_lines(State(), 80, 5, NOW))[0]
    assert "weir keys create" in shown(keys_lines(State(keys=[]), 80, 5, NOW))[0]


def test_when_a_key_was_used_is_said_in_round_figures() -> None:
    """To the second only while that changes something."""
    moments = {
        "2025-11-29T11:59:50+00:00": "10 s ago",
        "2025-11-29T11:55:00+00:00": "5 min ago",
        "2025-11-29T06:00:00+00:00": "6 h ago",
        "2025-11-19T12:00:00+00:00": "10 days ago",
        "some day": "some day",
    }
    [key] = keys("k")
    for iso, words in moments.items():
        used = State(keys=[msgspec.structs.replace(key, last_used_at=iso)])
        assert shown(keys_lines(used, 100, 5, NOW))[1].endswith(words)
    assert shown(keys_lines(State(keys=[key]), 100, 5, NOW))[1].endswith("never")


def test_the_order_of_keys_is_named_where_there_is_room() -> None:
    """Else one does not know what `s` did."""
    assert "by last used" in shown(keys_lines(State(keys=keys("a")), 120, 5, NOW))[0]


def test_the_newest_request_stands_first_and_failures_are_marked() -> None:
    """One looks for what just happened."""
    lines = requests_lines(requests(12), 100, 4)

    assert len(lines) == 4
    assert "503 engine-cut-off" in text_of(lines[1])
    assert lines[1][0].style == "bad"
    assert "8,190" in text_of(lines[2])
    assert requests_lines(None, 100, 4) == []
    assert requests_lines(requests(2), 100, 1) == []
    assert "none yet" in shown(requests_lines([], 100, 4))[0]


def test_running_requests_are_shown_with_what_they_hold() -> None:
    """Who fills the pool is the first question when it is full."""
    lines = shown(residents_lines(POOL, 100, 5))

    assert "51b7d2" in lines[1]
    assert "writes" in lines[1]
    assert lines[1].endswith("~25,430")
    assert lines[2].endswith("–")
    assert residents_lines(None, 100, 5) == []
    assert residents_lines(POOL, 100, 1) == []
    assert residents_lines(msgspec.structs.replace(POOL, residents=()), 100, 5) == []
    many = msgspec.structs.replace(POOL, residents=POOL.residents * 9)
    assert shown(residents_lines(many, 100, 5))[-1] == "… and 15 more"


def test_alarms_are_cut_to_their_room() -> None:
    """The worst stays."""
    lines = shown(alarms_lines((NOTICE, ALARM, NOTICE, NOTICE), 100, 3))

    assert len(lines) == 3
    assert lines[0].startswith("Alarms   harm:")
    assert lines[2].strip() == "… and 2 more: a"
    assert "does not tell" in shown(alarms_lines(None, 80, 3))[0]
    assert shown(alarms_lines((), 80, 3)) == ["Alarms   none"]


def test_muted_alarms_come_last_and_say_so() -> None:
    """A person knows; the next one may not be known."""
    muted = msgspec.structs.replace(ALARM, is_muted=True)
    lines = alarms_lines((muted, NOTICE), 100, 3)

    assert shown(lines)[0].startswith("Alarms   notice: The disk fills up")
    assert "1.8 GiB in system memory (card 0), muted" in shown(lines)[1]
    assert lines[1][1].style == "quiet"


def test_alarms_that_are_over_are_on_their_page_only() -> None:
    """They are history."""
    over = msgspec.structs.replace(ALARM, ended_at=NOW)

    assert shown(alarms_lines((over,), 80, 3)) == ["Alarms   none"]
    assert "1.8 GiB in system memory" in shown(alarms_page((over,), 80))[0]
    assert alarms_page((over,), 80)[0][0].style == "quiet"
    assert "does not tell" in shown(alarms_page(None, 80))[0]
    assert shown(alarms_page((), 80)) == ["none"]
    assert max(width_of(one) for one in shown(alarms_page((ALARM,), 40))) <= 40
