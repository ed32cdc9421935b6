"""How the service is kept, as people read it."""

import msgspec
import pytest

from studio.cli import service_text, service_words
from studio.domain.errors import ErrorInfo
from studio.domain.service import (
    AutostartInfo,
    AutostartState,
    RunsAs,
    SleepInfo,
    SleepPolicy,
    UnitInfo,
    UnitStart,
)

UNIT = UnitInfo(
    unit_file="/home/me/.config/systemd/user/weir-studio.service",
    is_installed=True,
    is_edited=False,
    is_outdated=False,
    enabled="enabled",
    active="active",
    restarts=2,
    has_linger=False,
    user="me",
    runs_as=RunsAs.UNIT,
    pid=42,
)
ERROR = ErrorInfo(code="plan-does-not-fit", message="It does not fit.", hint="Lower it.")


def text(unit: UnitInfo) -> str:
    """Return the pairs as lines."""
    return "\n".join(f"{label}: {value}" for label, value in service_text.unit_pairs(unit))


def test_all_of_it_is_said() -> None:
    """Where the file lies, who keeps the service, and until when it runs."""
    shown = text(UNIT)

    for part in ("weir-studio.service", "enabled, active · restarted 2 times", "process 42"):
        assert part in shown
    assert "while me is logged in" in shown


def test_a_problem_comes_with_its_way_out() -> None:
    """Nothing that cannot be known is shown beside it."""
    problem = ErrorInfo(code="no-systemd", message="No systemd.", hint="Do this.")
    shown = text(
        UnitInfo(unit_file="/x", is_installed=False, user="me", problem=problem, notes=("Note.",))
    )

    assert "Problem: No systemd." in shown
    assert "Problem: Do this." in shown
    assert "To note: Note." in shown
    assert "Linger" not in shown


@pytest.mark.parametrize("state", list(AutostartState))
def test_every_state_of_the_start_has_its_words(state: AutostartState) -> None:
    """A new state without words would show as nothing."""
    info = AutostartInfo(state=state, preset="p", overrides={"a": "b"}, attempts=3, next_at=0.0)

    (pair, *_rest) = service_text.autostart_pairs(info)

    assert "{" not in pair[1]
    assert ("`p` --set a=b" in pair[1]) is (state is not AutostartState.OFF)


def test_a_failed_start_says_why_and_what_to_do() -> None:
    """In both places where a person looks."""
    info = AutostartInfo(state=AutostartState.GAVE_UP, preset="p", error=ERROR)

    values = [value for _, value in service_text.news(info, SleepInfo())]

    assert values == ["`p`: given up", "It does not fit. (plan-does-not-fit)", "Lower it."]


def test_while_all_is_well_status_stays_short() -> None:
    """Good news belong into `weir service status`."""
    served = AutostartInfo(state=AutostartState.SERVED, preset="p")

    assert service_text.news(served, SleepInfo()) == []
    assert service_text.news(AutostartInfo(), SleepInfo()) == []


def test_a_sleep_is_told_with_its_times() -> None:
    """So that a gap in the chart explains itself."""
    slept = SleepInfo(slept_at=0.0, woke_at=3600.0, outcome="The engine answers.")

    ((label, value),) = service_text.news(AutostartInfo(), slept)

    assert label == service_words.SLEEP
    assert value.endswith("The engine answers.")
    assert len(service_text.sleep_pairs(slept)) == 2


@pytest.mark.parametrize("policy", list(SleepPolicy))
def test_every_policy_has_its_words(policy: SleepPolicy) -> None:
    """Both are shown."""
    assert service_text.sleep_pairs(SleepInfo(policy=policy))[0][1]


def test_an_edited_unit_is_marked() -> None:
    """It explains why it behaves otherwise."""
    assert "changed by hand" in text(msgspec.structs.replace(UNIT, is_edited=True))


def test_what_came_of_the_unit_is_one_sentence_and_the_way_out() -> None:
    """Whoever expected systemd to keep the service has to know why it does not."""
    problem = ErrorInfo(code="no-user-session", message="It cannot be reached.", hint="Log in.")

    assert "systemd keeps it" in service_text.unit_used(UnitStart(is_started=True))
    told = service_text.unit_used(UnitStart(is_started=False, problem=problem))
    assert told.endswith("without its systemd unit: It cannot be reached. Log in.")
