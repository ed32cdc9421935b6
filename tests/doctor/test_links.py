"""Between the cards: NVLink, PCIe, nothing at all."""

from studio.domain.doctor import Level
from studio.domain.hardware import GpuLink, LinkKind
from tests.doctor.cases import all_said, host, said


def test_one_card_has_no_ways() -> None:
    """Nothing to say, nothing shown."""
    assert all_said(host(), "gpu-links") == []


def test_a_mesh_of_nvlink_is_good() -> None:
    """Four V100-SXM2, as the published figures had them."""
    check = said(host("v100-16x4-linux"), "gpu-links")

    assert check.level is Level.GOOD
    assert "all 4 cards" in check.found


def test_pcie_only_is_told_as_slower() -> None:
    """And what follows: the engine's own all-reduce is off."""
    check = said(host("rtx3090x2-linux"), "gpu-links")

    assert check.level is Level.LOOK
    assert "PCIe" in check.found
    assert "all-reduce" in (check.advice or "")
    assert "0–1" in said(host("rtx3090x2-linux"), "gpu-peer").found


def test_the_farthest_pair_decides() -> None:
    """One slow pair slows all of tensor parallelism."""
    links = list(host("v100-16x4-linux").gpu_links)
    links[0] = GpuLink(first=0, second=1, kind=LinkKind.SYSTEM, peer=True)

    check = said(host("v100-16x4-linux", gpu_links=tuple(links)), "gpu-links")

    assert check.level is Level.LOOK
    assert check.found.startswith("Some reach each other only")
    assert "between processors" in check.found


def test_unknown_ways_are_unknown() -> None:
    """A driver under WSL does not say."""
    assert said(host("rtx3090x2-linux", gpu_links=()), "gpu-links").level is Level.UNKNOWN
    half = (GpuLink(first=0, second=1),)
    assert said(host("rtx3090x2-linux", gpu_links=half), "gpu-links").level is Level.UNKNOWN
