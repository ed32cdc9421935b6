"""The driver: there or not, new enough or not, for which runtimes."""

import pytest

from studio.domain.doctor import Level
from studio.domain.hardware import Adapter, ContainerFacts
from tests.doctor.cases import CU13, SM70, all_said, host, said


@pytest.mark.parametrize(
    ("name", "driver", "level"),
    [
        ("rtx3090-linux", "580.65.06", Level.GOOD),
        ("rtx3090-linux", "610.57", Level.GOOD),
        ("rtx3090-linux", "579.99", Level.STOPS),
        ("rtx3090-linux", "535.274.02", Level.STOPS),
        ("v100-16x4-linux", "550.163.01", Level.GOOD),
        ("v100-16x4-linux", "535.54.03", Level.STOPS),
        ("v100-16x4-linux", "595.71.03", Level.LOOK),
        ("v100-16x4-linux", "580.173.02", Level.GOOD),
    ],
)
def test_the_floor_is_that_of_the_runtimes_for_these_cards(
    name: str, driver: str, level: Level
) -> None:
    """580 for CUDA 13; 550 for V100, where a branch after 580 may not know the card at all."""
    check = said(host(name, driver=driver), "driver")

    assert check.level is level
    assert driver in check.found
    if level is Level.STOPS:
        assert check.stops == (CU13 if name.startswith("rtx") else SM70)
        assert "Update" in (check.advice or "")


def test_an_unknown_driver_counts_against_nobody() -> None:
    """Unknown is shown as unknown."""
    assert said(host(driver=None), "driver").level is Level.UNKNOWN
    assert said(host(driver="N/A"), "driver").level is Level.UNKNOWN
    assert all_said(host(cuda_version="N/A"), "cuda") == []


@pytest.mark.parametrize(
    ("cuda", "level"),
    [("13.0", Level.GOOD), ("13.3", Level.GOOD), ("12.8", Level.STOPS)],
)
def test_cuda_goes_by_its_major_version(cuda: str, level: Level) -> None:
    """Within one, an older driver runs what a newer CUDA built."""
    check = said(host(cuda_version=cuda), "cuda")

    assert check.level is level
    assert check.stops == (CU13 if level is Level.STOPS else ())


def test_an_older_minor_version_of_cuda_is_enough_for_the_v100() -> None:
    """Driver 550 speaks 12.4 and runs what was built for 12.8."""
    assert said(host("v100-16x4-linux", cuda_version="12.4"), "cuda").level is Level.GOOD


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("not-loaded", "modprobe"),
        ("version-mismatch", "restart"),
        ("no-answer", "Xid"),
        ("other", "Xid"),
        ("no-sense", "nvidia-smi"),
    ],
)
def test_each_failure_has_its_own_remedy(fault: str, words: str) -> None:
    """`Install the driver` is wrong for four of five."""
    broken = host("none-linux", gpu_note="It does not answer.", gpu_fault=fault)

    check = said(broken, "driver")

    assert check.level is Level.STOPS
    assert check.found == "It does not answer."
    assert words in (check.advice or "")
    assert set(check.stops) == {*CU13, *SM70}


def test_a_card_without_its_driver_is_not_called_no_card() -> None:
    """The bus shows it; only the driver is missing."""
    seen = Adapter(name="NVIDIA display adapter 2204", vendor="nvidia", pci_bus_id="0000:01:00.0")

    check = said(host("none-linux", adapters=(seen,)), "driver")

    assert check.level is Level.STOPS
    assert "0000:01:00.0" in check.found
    assert "install" in (check.advice or "").lower()


def test_no_card_at_all_stops_nothing() -> None:
    """The processor serves too, slowly."""
    check = said(host("none-linux"), "driver")

    assert check.level is Level.LOOK
    assert check.stops == ()
    assert "slow" in check.found


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"is_wsl": True}, "in Windows"),
        ({"container": ContainerFacts(kind="docker")}, "--gpus all"),
        ({}, "install its driver"),
    ],
)
def test_where_a_card_may_hide_is_said(changes: dict[str, object], words: str) -> None:
    """In WSL the driver belongs into Windows, in a container the card has to be handed in."""
    assert words in (said(host("none-linux", **changes), "driver").advice or "")


def test_cuda_is_not_spoken_of_without_cards() -> None:
    """Nothing would follow from it."""
    assert all_said(host("none-linux"), "cuda") == []
