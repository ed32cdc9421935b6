"""Cards here, chips there, addresses in one spelling."""

import pytest

from studio.domain.hardware import Gpu, GpuLink
from studio.host.gpu_report import short_bus_id, sorted_out


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("00000000:0B:00.0", "0000:0b:00.0"),
        ("0000:0B:00.0", "0000:0b:00.0"),
        ("", None),
        (None, None),
    ],
)
def test_addresses_are_spelled_as_linux_does(told: str | None, kept: str | None) -> None:
    """Otherwise a card would be listed again as something else that draws."""
    assert short_bus_id(told) == kept


def test_links_of_an_integrated_chip_go_with_it() -> None:
    """A link to a card that is not listed would break every reader."""
    cards = (
        Gpu(index=0, name="NVIDIA Orin", compute_capability="8.7"),
        Gpu(index=1, name="NVIDIA RTX A4000", compute_capability="8.6"),
    )

    report = sorted_out(
        cards, source="nvml", driver="1", cuda_version=None, links=(GpuLink(first=0, second=1),)
    )

    assert [card.index for card in report.cards] == [1]
    assert report.links == ()
    assert report.fault is None
    assert report.integrated[0].is_integrated is True
