"""What nvidia-smi tells of every second, recorded on real cards."""

from pathlib import Path

import pytest

from studio.host import card_smi
from studio.host.smi_xml import NotUnderstood

RECORDED = Path(__file__).parents[1] / "data" / "smi"
MIB = 1 << 20


def test_a_recorded_card_tells_what_its_sensors_said() -> None:
    """An H200 at rest, driver 580."""
    (card,) = card_smi.samples((RECORDED / "h200.xml").read_text(encoding="utf-8"))

    assert card.name == "NVIDIA H200"
    assert card.memory_total_bytes == 143771 * MIB
    assert (card.utilisation_share, card.controller_share) == (0.0, 0.0)
    assert (card.power_w, card.power_limit_w) == (78.09, 700.0)
    assert (card.sm_clock_mhz, card.memory_clock_mhz) == (345, 3201)
    assert (card.pcie_tx_bytes_per_s, card.pcie_rx_bytes_per_s) == (1044 * 1024, 601 * 1024)
    assert card.ecc_uncorrected == 0
    assert card.throttle == ()


def test_two_recorded_cards_are_two() -> None:
    """In the driver's order."""
    cards = card_smi.samples((RECORDED / "h200x2.xml").read_text(encoding="utf-8"))

    assert [one.index for one in cards] == [0, 1]
    assert len({one.uuid for one in cards}) == 2


@pytest.mark.parametrize(
    ("told", "count"),
    [
        ("<sram_uncorrectable>2</sram_uncorrectable><dram_uncorrectable>1</dram_uncorrectable>", 3),
        ("<sram_uncorrectable>2</sram_uncorrectable>", None),
        ("<double_bit><total>4</total></double_bit>", 4),
        ("<dram_uncorrectable>N/A</dram_uncorrectable>", None),
    ],
)
def test_memory_errors_are_summed_under_the_names_of_each_generation(
    told: str, count: int | None
) -> None:
    """Half a sum is a wrong number."""
    text = (
        '<?xml version="1.0"?><nvidia_smi_log><gpu id="0"><product_name>x</product_name>'
        f"<ecc_errors><volatile>{told}</volatile></ecc_errors></gpu></nvidia_smi_log>"
    )

    (card,) = card_smi.samples(text)

    assert card.ecc_uncorrected == count
    assert card.utilisation_share is None


@pytest.mark.parametrize("text", ["", "No devices were found", "<?xml version='1.0'?><x/>"])
def test_what_is_no_answer_is_refused(text: str) -> None:
    """Nothing is made up from it."""
    with pytest.raises(NotUnderstood):
        card_smi.samples(text)
