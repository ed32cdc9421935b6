"""WSL: its version, its limits, its traps."""

from typing import Any

import msgspec
import pytest

from studio.domain.doctor import Check, Level
from studio.domain.hardware import WslFacts
from tests.doctor.cases import all_said, host, said


def of(code: str, **changes: Any) -> Check:
    """Return the check of that code on a changed WSL."""
    before = host("rtx4090-wsl2")
    assert before.wsl is not None
    return said(host("rtx4090-wsl2", wsl=msgspec.structs.replace(before.wsl, **changes)), code)


def test_elsewhere_nothing_is_said_of_it() -> None:
    """Most machines are no WSL."""
    codes = ("wsl", "wsl-memory", "wsl-config", "wsl-driver", "wsl-network", "wsl-spill")

    assert [check for code in codes for check in all_said(host(), code)] == []


def test_version_one_stops_what_needs_a_card() -> None:
    """It has none, whatever the PC has."""
    check = of("wsl", version=1)

    assert check.level is Level.STOPS
    assert "wsl --set-version Ubuntu-24.04 2" in (check.advice or "")
    assert check.stops


@pytest.mark.parametrize(
    ("changes", "level"),
    [
        ({}, Level.GOOD),
        ({"config_memory_bytes": None}, Level.LOOK),
        ({"config_memory_bytes": None, "has_config": False}, Level.LOOK),
    ],
)
def test_its_memory_is_half_of_the_pcs_unless_said(changes: dict[str, Any], level: Level) -> None:
    """The cause of models that load slowly, with a message about something else."""
    assert of("wsl-memory", **changes).level is level


def test_a_configuration_that_cannot_be_found_is_not_judged() -> None:
    """`There is none` would be a guess."""
    facts = WslFacts(version=2)

    assert all_said(host("rtx4090-wsl2", wsl=facts), "wsl-memory") == []
    assert said(host("rtx4090-wsl2", wsl=None), "wsl").level is Level.GOOD


def test_lines_without_meaning_are_quoted() -> None:
    """WSL ignores them without a word."""
    check = of("wsl-config", config_faults=("memory 20GB",))

    assert "`memory 20GB`" in check.found
    assert check.level is Level.LOOK


def test_a_linux_driver_inside_is_a_trap() -> None:
    """It hides the one that Windows lends."""
    assert "sudo apt purge" in (of("wsl-driver", has_linux_driver=True).advice or "")


def test_what_wants_root_in_the_studios_own_linux_goes_by_windows() -> None:
    """There is no `sudo` in it."""
    facts = WslFacts(version=2, distribution="weir-studio", has_linux_driver=True)
    own = host("rtx4090-wsl2", wsl=facts, shm_bytes=1 << 20)

    for code, what in (("wsl-driver", "apt-get purge"), ("shared-memory", "mount -o")):
        advice = said(own, code).advice or ""
        assert "wsl -d weir-studio -u root" in advice
        assert what in advice
        assert "sudo" not in advice


@pytest.mark.parametrize(
    ("mode", "level", "words"),
    [
        ("nat", Level.GOOD, "other machines do not"),
        ("mirrored", Level.GOOD, "at localhost"),
        ("none", Level.LOOK, "nothing can be downloaded"),
    ],
)
def test_who_reaches_it_is_said(mode: str, level: Level, words: str) -> None:
    """Chat clients of the phone do not get through NAT."""
    check = of("wsl-network", networking_mode=mode)

    assert check.level is level
    assert words in check.found


def test_what_wsl_says_itself_goes_before_its_configuration() -> None:
    """Windows 10 falls back to NAT whatever is configured."""
    check = of("wsl-network", networking_mode="nat", config_networking_mode="mirrored")

    assert "Mode nat" in check.found
