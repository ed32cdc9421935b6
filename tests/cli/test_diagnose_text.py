"""Diagnoses and remedies in words."""

import msgspec

from studio.cli.diagnose_text import diagnosis_text, remedies_text
from studio.domain.diagnosis import Offered
from studio.domain.remedies import Remedy, RemedyKind
from tests.cli.remedy_samples import DIAGNOSIS, OFFERED


def test_the_cause_stands_first_and_what_follows_last() -> None:
    """Who reads one line reads the right one."""
    lines = diagnosis_text(DIAGNOSIS, 100).splitlines()

    assert lines[0].startswith("A request of 32,768 tokens")
    assert lines[1] == "  | ValueError: To serve at least one request[31m"
    assert "  1. Lower max_model_len to 16256 or less." in lines
    assert "     by hand: --set max_model_len=16256" in lines
    assert "     by hand: sudo apt install build-essential" in lines
    assert "code: kv-cache-too-small" in lines
    assert lines[-1] == "  - The engine failed while starting. (engine-start-failed)"


def test_remedies_say_who_can_do_them() -> None:
    """A number is a promise."""
    text = remedies_text(OFFERED, 100)

    assert "`weir fix 1` does it: weir up cpu-demo --set max_model_len=16256" in text
    assert "     by hand: sudo apt install build-essential" in text
    assert "About a slow path (eager-mode):" in text
    assert "`weir fix 3` does it" in text


def test_advice_is_no_numbered_remedy() -> None:
    """It cannot be taken."""
    advice = Offered(
        number=None,
        about="kv-cache-too-small",
        remedy=Remedy(kind=RemedyKind.ADVICE, text="Wait a while."),
    )

    text = remedies_text(msgspec.structs.replace(OFFERED, offered=(advice,)), 100)

    assert "What to do:\n  - Wait a while." in text
    assert "by hand" not in text


def test_a_failure_without_a_remedy_is_not_left_alone() -> None:
    """It says where to look."""
    text = remedies_text(msgspec.structs.replace(OFFERED, offered=()), 60)

    assert "No remedy is known" in text
    assert all(len(line) <= 60 for line in text.splitlines() if "|" not in line)
