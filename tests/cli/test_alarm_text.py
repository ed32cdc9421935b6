"""Alarms as text."""

from studio.cli.alarm_text import alarm_lines, head, list_text, over_line, status_pairs
from studio.domain.alarms import AlarmList
from tests.cli.alarm_samples import ALARMS, OVER, SPILL, WAITING


def test_an_alarm_is_told_with_cause_evidence_and_remedy() -> None:
    """All that a person needs, within the width."""
    lines = alarm_lines(SPILL, 60)

    text = "\n".join(lines)
    assert lines[0] == "Harm: 1.68 GiB of the card's memory in system memory (spill-wddm)"
    assert "| card 0: 99 % used, its memory 2 %" in text
    assert "To do: Lower the KV pin to 3.32 GiB and restart." in text
    assert max(len(line) for line in lines[1:]) <= 60


def test_no_control_character_reaches_the_terminal() -> None:
    """Names of programs and paths are anybody's."""
    assert "\x1b" not in "\n".join(alarm_lines(SPILL, 80))


def test_the_list_has_what_holds_what_is_over_and_what_is_muted() -> None:
    """In this order."""
    text = list_text(ALARMS, 80)

    assert text.index("spill-wddm") < text.index("Over:") < text.index("Muted:")
    assert "Notice, muted: Three requests waiting" in text
    assert "To do: Look. `weir requests`" in text
    assert "lasted 1 min 05 s" in text
    assert "requests-waiting: until it is unmuted" in text
    assert "spill-swap: until it is over" in text
    assert "`weir fix` lists" in text


def test_nothing_wrong_and_nothing_watched_are_not_the_same() -> None:
    """Silence without a monitor says nothing."""
    assert list_text(AlarmList(is_watched=True), 80).startswith("Nothing is wrong")
    assert list_text(AlarmList(), 80).startswith("No service runs")


def test_one_line_for_what_is_over() -> None:
    """For streams."""
    assert over_line(OVER).startswith("Over at ")
    assert head(WAITING) == "Notice, muted: Three requests waiting (requests-waiting)"


def test_the_status_names_each_and_points_to_more() -> None:
    """And has no row where nothing is wrong."""
    assert status_pairs(()) == []
    pairs = status_pairs((SPILL, WAITING))
    assert [label for label, _ in pairs] == ["Alarms", "Alarms", ""]
    assert "weir alarms" in pairs[-1][1]
