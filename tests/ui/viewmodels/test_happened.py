"""Events and alarms that are over."""

from studio.domain.alarms import AlarmList
from studio.domain.history import HistoryEvent, HistoryEventKind
from studio.ui.viewmodels import happened
from studio.ui.viewmodels.words import Role
from tests.ui.fake_monitor import ENDED
from tests.ui.fake_serving import SPILLS


def event(at: float, kind: HistoryEventKind, name: str = "cpu-demo") -> HistoryEvent:
    """Return one event."""
    return HistoryEvent(at=at, kind=kind, name=name, detail="It was so.")


def test_every_kind_of_event_has_words() -> None:
    """A new kind of the history must not be a crash here."""
    marks = happened.marks_of([event(1.0, kind) for kind in HistoryEventKind])

    assert all(mark.words.endswith(": cpu-demo. It was so.") for mark in marks)


def test_a_mark_is_found_near_the_crosshair_and_nowhere_else() -> None:
    """Colour is not its only sign: the words say what it is."""
    death = event(100.0, HistoryEventKind.DEATH)
    marks = happened.marks_of([death, event(130.0, HistoryEventKind.BOOT)])

    near = happened.mark_near(marks, 104.0, 5.0)
    assert near is not None
    assert (near.role, near.words) == (Role.HARM, "Engine died: cpu-demo. It was so.")
    assert happened.mark_near(marks, 115.0, 5.0) is None
    assert happened.mark_near((), 115.0, 5.0) is None


def test_the_newest_event_comes_first_and_two_of_one_moment_are_two_rows() -> None:
    """Rows are told apart by their ids."""
    kinds = (HistoryEventKind.SERVICE_STARTED, HistoryEventKind.BOOT)
    lines = happened.event_lines(
        [event(5.0, kinds[0], "service"), event(9.0, kinds[1]), event(9.0, kinds[1])]
    )

    assert [line.kind for line in lines] == ["Ready", "Ready", "Service started"]
    assert lines[2].name == ""
    assert len({line.id for line in lines}) == 3


def test_an_alarm_that_is_over_says_how_long_it_lasted_and_where() -> None:
    """From its first second, not from when it was said."""
    (line,) = happened.ended_lines(AlarmList(ended=(ENDED,)))

    assert (line.lasted, line.severity) == ("3 min 10 s", "Warning")
    assert line.title == "Card 0 slowed down by its heat (card 0)"
    assert happened.ended_lines(None) == ()


def test_how_it_stands_is_one_line() -> None:
    """Nothing to warn of is good news, and not an empty page."""
    assert "All is well" in happened.alarms_words(AlarmList(is_watched=True))
    assert "no service runs" in happened.alarms_words(AlarmList())
    assert happened.alarms_words(AlarmList(is_watched=True, active=(SPILLS,))) == "1 alarm holds."
    assert "when it answers" in happened.alarms_words(None)
