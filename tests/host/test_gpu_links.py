"""The matrix of `nvidia-smi topo -m`; links by the library are tried in test_nvml.py."""

from pathlib import Path

import pytest

from studio.domain.hardware import LinkKind
from studio.host.gpu_links import links_of_matrix

RECORDED = Path(__file__).parents[1] / "data" / "smi" / "h200x2-topo.txt"


def test_the_recorded_matrix_of_two_cards() -> None:
    """Eighteen bonded links between two H200."""
    (link,) = links_of_matrix(RECORDED.read_text(encoding="utf-8"))

    assert (link.first, link.second) == (0, 1)
    assert (link.kind, link.nvlinks) == (LinkKind.NVLINK, 18)


def test_colours_and_network_cards_are_no_cards() -> None:
    """The header is underlined on a terminal, and InfiniBand has columns of its own."""
    text = (
        "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\x1b[0m\n"
        "GPU0\t X \tPHB\tSYS\t0-31\nGPU1\tPHB\t X \tSYS\t0-31\nNIC0\tSYS\tSYS\t X \t\n"
    )

    (link,) = links_of_matrix(text)

    assert (link.kind, link.nvlinks) == (LinkKind.HOST_BRIDGE, 0)


@pytest.mark.parametrize("text", ["", "No devices were found", "GPU0\t X", "GPU0\nGPU1\n"])
def test_what_is_not_understood_is_no_link(text: str) -> None:
    """Unknown is not PCIe."""
    assert links_of_matrix(text) == ()


def test_a_mesh_of_four_has_six_links() -> None:
    """Each pair once, with its own count."""
    rows = ["GPU0\t X \tNV1\tNV2\tSYS", "GPU1\tNV1\t X \tPIX\tNV1", "GPU2\tNV2\tPIX\t X \tPXB"]
    rows.append("GPU3\tSYS\tNV1\tPXB\t X ")

    found = {(one.first, one.second): one.kind for one in links_of_matrix("\n".join(rows))}

    assert len(found) == 6
    assert found[0, 3] is LinkKind.SYSTEM
    assert found[1, 2] is LinkKind.SWITCH
    assert found[2, 3] is LinkKind.SWITCHES
