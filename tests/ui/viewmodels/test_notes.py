"""What is worth a notification."""

import msgspec
import pytest

from studio.domain.alarms import Alarm, Severity
from studio.domain.events import AlarmChanged, KeysChanged
from studio.ui.state import Known, Link
from studio.ui.viewmodels.notes import alarm_notes, heard, notes, version_note
from tests.ui.fake_service import BOOT_FAILED, DEMO, READY, booting
from tests.ui.fake_serving import SPILLS

LIVE = Known(link=Link.LIVE, presets=(DEMO,))
BOOTING = msgspec.structs.replace(LIVE, engine=booting(3, elapsed_s=20.0))
SERVING = msgspec.structs.replace(LIVE, engine=READY)
FAILED = msgspec.structs.replace(LIVE, problem=BOOT_FAILED)
AWAY = msgspec.structs.replace(SERVING, link=Link.LOST)


def test_an_engine_that_became_ready_is_said_once() -> None:
    """Who started it went for a coffee."""
    (note,) = notes(BOOTING, SERVING)

    assert note.title == "Try it, on any machine is ready"
    assert note.text == "Booted in 49.8 s."
    assert notes(SERVING, SERVING) == ()


def test_a_failure_is_said_with_its_cause() -> None:
    """The cause is what decides whether to get up."""
    (note,) = notes(BOOTING, FAILED)

    assert note.is_harm
    assert note.text == BOOT_FAILED.message
    assert notes(FAILED, FAILED) == ()


@pytest.mark.parametrize(
    ("before", "after"), [(AWAY, SERVING), (Known(), SERVING), (SERVING, AWAY), (SERVING, LIVE)]
)
def test_what_only_came_into_view_is_no_news(before: Known, after: Known) -> None:
    """A window that opens, or finds its service again, does not greet with old news."""
    assert notes(before, after) == ()


def test_an_alarm_of_spill_is_said_once_as_long_as_it_holds() -> None:
    """It is announced again each time that it grows worse."""
    event = AlarmChanged(alarm=SPILLS)
    (note,) = alarm_notes((KeysChanged(), event), frozenset())
    assert note.title == SPILLS.title

    said = heard((event,), frozenset())
    assert alarm_notes((event,), said) == ()
    over = AlarmChanged(alarm=msgspec.structs.replace(SPILLS, ended_at=9.0))
    assert alarm_notes((over,), said) == ()
    assert heard((over,), said) == frozenset()


@pytest.mark.parametrize(
    ("alarm", "count"),
    [
        (msgspec.structs.replace(SPILLS, is_muted=True), 0),
        (msgspec.structs.replace(SPILLS, severity=Severity.WARNING), 1),
        (msgspec.structs.replace(SPILLS, code="throttled-heat", severity=Severity.WARNING), 0),
        (msgspec.structs.replace(SPILLS, code="card-lost"), 1),
    ],
)
def test_only_what_hurts_and_is_not_muted_is_said(alarm: Alarm, count: int) -> None:
    """Notifications that do not matter are switched off, with those that do."""
    assert len(alarm_notes((AlarmChanged(alarm=alarm),), frozenset())) == count


def test_a_newer_version_is_said_with_the_place_where_more_of_it_stands() -> None:
    """It is no harm, and nothing of it is here."""
    note = version_note("1.2.0")

    assert note.title == "Version 1.2.0 is there"
    assert "Updates" in note.text
    assert not note.is_harm
