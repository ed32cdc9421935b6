"""Errors as cards."""

import msgspec
import pytest

from studio.domain.errors import ErrorInfo, HostLacks, NeedsConsent
from studio.ui.viewmodels.problem import Remedy, fault_info, free_port, problem_view
from tests.ui.fake_service import BOOT_FAILED, CONSENT, PORT_TAKEN


def remedies(info: ErrorInfo, *, can_retry: bool = True) -> list[Remedy]:
    """Return what the card offers, in order."""
    return [item.remedy for item in problem_view(info, can_retry=can_retry).remedies]


def test_a_taken_port_offers_the_free_one_first() -> None:
    """The remedy that works comes first, and is the only strong button."""
    view = problem_view(PORT_TAKEN)

    assert remedies(PORT_TAKEN) == [Remedy.TAKE_PORT, Remedy.RETRY, Remedy.COPY]
    assert [item.primary for item in view.remedies] == [True, False, False]
    assert view.remedies[0].text == "Use port 18021"


@pytest.mark.parametrize("value", [None, "18021", True, 18021.5])
def test_a_port_that_is_no_port_is_not_offered(value: str | float | bool | None) -> None:
    """What comes over the wire is not believed."""
    odd = msgspec.structs.replace(PORT_TAKEN, data={"free_port": value})

    assert free_port(odd) is None
    assert Remedy.TAKE_PORT not in remedies(odd)


def test_consent_is_a_question_whatever_its_code() -> None:
    """`NeedsConsent` travels as a plain record: its data tells it from a full disk."""
    sizes = {"download_bytes": 5 << 30, "disk_bytes": 9 << 30}
    asked = NeedsConsent("large-download", "Needs 5.00 GiB.", data=dict(sizes)).info
    full = HostLacks("disk-space", "Full.", data={"needed_bytes": 1, "free_bytes": 0}).info

    assert problem_view(asked).is_question
    assert remedies(asked) == [Remedy.CONSENT]
    assert problem_view(asked).remedies[0].text == "Yes, download 5.00 GiB"
    assert problem_view(CONSENT).is_question
    assert not problem_view(full).is_question


def test_evidence_is_folded_behind_its_count_and_goes_into_the_report() -> None:
    """Who reports needs all of it, who reads needs to know it is there."""
    view = problem_view(BOOT_FAILED)

    assert view.evidence_button == "4 lines that prove it"
    assert view.report.splitlines()[0] == f"engine-out-of-memory: {BOOT_FAILED.message}"
    assert view.report.splitlines()[-1] == BOOT_FAILED.evidence[-1]
    assert problem_view(ErrorInfo(code="a", message="b")).evidence == ""


def test_where_nothing_can_be_tried_again_the_report_remains() -> None:
    """A key that could not be made is asked for again in its own field."""
    assert remedies(PORT_TAKEN, can_retry=False) == [Remedy.COPY]


def test_a_fault_shows_the_number_under_which_it_was_logged() -> None:
    """The number joins card and log."""
    info = fault_info("ab12cd34", "KeyError")

    assert "ab12cd34" in info.message
    assert info.code == "unexpected"
