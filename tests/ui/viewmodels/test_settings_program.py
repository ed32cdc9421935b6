"""Versions of the Studio, as the service says them."""

import msgspec
import pytest

from studio.domain.errors import ErrorInfo
from studio.domain.self_update import Came, UpdateState
from studio.domain.settings import CareSettings
from studio.ui.viewmodels.settings import Machine, RowView
from studio.ui.viewmodels.settings_program import newer_version, program_card
from tests.ui.fake_demand import PROGRAM


def rows(**changes: object) -> dict[str, RowView]:
    """Return the card's settings by name."""
    status = msgspec.structs.replace(PROGRAM, **changes)
    card = program_card(Machine(program=status, care=CareSettings()))
    assert card is not None
    return {row.id: row for row in card.rows}


def test_what_is_not_known_has_no_card() -> None:
    """A version that nobody told is none."""
    assert program_card(Machine()) is None


@pytest.mark.parametrize(
    ("state", "deed"),
    [
        (UpdateState.NOT_CHECKED, None),
        (UpdateState.NEWEST, None),
        (UpdateState.OFFERED, "program.get"),
        (UpdateState.STAGED, "program.apply"),
        (UpdateState.WAITING, "program.cancel"),
        (UpdateState.TRIAL, None),
    ],
)
def test_each_state_offers_its_one_next_step(state: UpdateState, deed: str | None) -> None:
    """Nothing is skipped, and nothing is pressed twice."""
    found = rows(state=state, offered="1.1.0", waiting="1.1.0", bytes=5)

    steps = {"program.get", "program.apply", "program.cancel"} & set(found)
    assert steps == ({deed} if deed else set())


@pytest.mark.parametrize("state", list(UpdateState))
def test_a_version_is_news_until_somebody_chose_it(state: UpdateState) -> None:
    """Whoever told it to take over knows of it."""
    status = msgspec.structs.replace(PROGRAM, state=state, offered="1.1.0")

    is_news = state in (UpdateState.OFFERED, UpdateState.FETCHED, UpdateState.STAGED)
    assert newer_version(status) == ("1.1.0" if is_news else None)


def test_a_version_that_is_too_new_for_one_step_says_what_comes_first() -> None:
    """Fetching it would be of no use."""
    found = rows(state=UpdateState.OFFERED, offered="3.0.0", minimum_version="2.0.0")

    assert found["program.check"].value == "Version 3.0.0 is there; go to 2.0.0 first."
    assert "program.get" not in found


def test_who_is_updated_by_somebody_else_gets_the_command() -> None:
    """apt and git know how; the Studio does not do it behind their backs."""
    found = rows(state=UpdateState.FETCHED, command="sudo apt install ./weir.deb")

    assert found["program.command"].value == "sudo apt install ./weir.deb"


def test_a_build_without_a_place_cannot_look() -> None:
    """And says so, instead of failing at the press."""
    found = rows(feed=None)

    assert not found["program.check"].is_enabled
    assert "no place" in found["program.check"].about
    assert found["care.check-updates"].note == ""


def test_old_services_and_failures_are_told() -> None:
    """Both explain why the version is not the one that was expected."""
    error = ErrorInfo(code="update-trial-failed", message="Version 1.1.0 did not answer.")
    found = rows(service_version="0.9.0", failed=error, changes=tuple("abcdefgh"))

    assert "still 0.9.0" in found["program.version"].value
    assert found["program.failed"].value == "Version 1.1.0 did not answer."
    assert found["program.changes"].value.endswith("and 2 more")


def test_a_window_of_the_version_before_says_so() -> None:
    """On Windows it stays open while another version takes over, and knows nothing of its pages."""
    found = rows(came=Came.SETUP, version="1.0.0", used="1.1.0")["program.version"].value
    assert found == "1.1.0 is in use; this window is still 1.0.0: close it and open it again"

    assert (
        "installed" in rows(came=Came.SETUP, version="1.0.0", used="1.0.0")["program.version"].value
    )


def test_a_version_before_says_its_size_where_that_is_known() -> None:
    """A dash in the middle of a sentence says nothing."""
    known = rows(previous="0.9.4", previous_bytes=3 << 20)
    unknown = rows(previous="0.9.4", previous_bytes=None)

    assert known["program.rollback"].value == "Version 0.9.4 is kept, 3.0 MiB."
    assert unknown["program.rollback"].value == "Version 0.9.4 is kept."
