"""What diagnosis and boots say, as tables."""

import msgspec

from studio.domain.diagnosis import Diagnosis, RemedyList
from studio.ui.viewmodels.diagnosis import (
    boot_rows,
    boots_headline,
    failure_causes,
    file_causes,
    headline,
)
from studio.ui.viewmodels.words import Shape
from tests.ui.fake_records import BOOTS, MATCH, OFFERED

KNOWN = RemedyList(failure=MATCH, offered=OFFERED)


def test_what_the_studio_can_do_has_a_number_and_all_else_a_command() -> None:
    """A button for the one, a copy for the other."""
    (cause,) = failure_causes(KNOWN)

    assert [(one.number, one.command) for one in cause.remedies] == [(1, None), (None, "weir gpus")]
    assert cause.evidence.startswith(cause.first_line)
    assert failure_causes(None) == failure_causes(RemedyList()) == ()


def test_remedies_of_a_file_are_only_words() -> None:
    """Another machine's engine is not started from here."""
    found = Diagnosis(matches=(MATCH,), source="/a.zip", inside="engine.log", lines=3)

    (cause,) = file_causes(found)

    assert [one.number for one in cause.remedies] == [None, None]
    assert "/a.zip · engine.log" in headline(found, None, is_live=True)


def test_the_headline_says_the_next_step() -> None:
    """Also when nothing failed and when nothing is known."""
    nothing = Diagnosis(matches=(), source="/a", lines=7)
    assert "nothing in them that is known" in headline(nothing, KNOWN, is_live=True)
    assert "Drop a log" in headline(None, RemedyList(), is_live=True)
    assert headline(None, KNOWN, is_live=True) == "What failed last:"
    assert headline(None, None, is_live=True) == "Asking what failed last."
    assert "appears when the service" in headline(None, None, is_live=False)


def test_boots_come_newest_first_with_what_is_not_known_as_such() -> None:
    """A guess carries a question mark, an unknown a dash."""
    newest, failed, first = boot_rows(BOOTS)

    assert (newest.kind, failed.kind, first.kind) == ("warm?", "–", "cold")
    assert failed.outcome == "failed: engine-out-of-memory"
    assert failed.shape is Shape.CROSS
    assert (failed.seconds, failed.pool) == ("–", "–")
    assert "Compiling" not in newest.phases
    odd = msgspec.structs.replace(BOOTS.boots[0], at="long ago", phases_s={"new-phase": 3.0})
    (row,) = boot_rows(msgspec.structs.replace(BOOTS, boots=(odd,)))
    assert (row.at, row.phases) == ("long ago", "new-phase 3.0 s")
    assert boots_headline((), is_known=True, is_live=True) == "No engine was started here yet."
    assert boots_headline((row,), is_known=True, is_live=True) == ""


def test_boots_nobody_told_of_are_not_none() -> None:
    """A service that is away has said nothing of them; one that is slow will."""
    assert "appear when the service" in boots_headline((), is_known=False, is_live=False)
    assert boots_headline((), is_known=False, is_live=True) == "Asking for the boots."
