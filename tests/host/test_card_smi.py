"""What nvidia-smi tells of every second, recorded on real cards."""

import os
from pathlib import Path

import pytest

from studio.host import card_smi
from studio.host.smi_xml import NotUnderstood
from tests.fakes.waiting import until

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


def test_a_program_in_the_path_is_asked_seldom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real process: each answer costs it half a second of a core on a real machine."""
    asked = tmp_path / "asked"
    program = tmp_path / "nvidia-smi"
    recorded = RECORDED / "h200.xml"
    program.write_text(f'#!/bin/sh\necho "$@" >> "{asked}"\ncat "{recorded}"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    now = [0.0]
    stand_in = card_smi.Program(clock=lambda: now[0])

    for later_s in (0.0, 5.0, 6.0):
        now[0] += later_s
        stand_in.refresh("no-driver")
        until(lambda: not stand_in.is_under_way, "its answer")

    found = stand_in.reading("no-driver")
    assert found is not None
    assert [card.temperature_c for card in found] == [33]
    assert asked.read_text(encoding="utf-8").splitlines() == ["-q -x"] * 2


@pytest.mark.parametrize("fault", [None, "no-card", "not-loaded", "other"])
def test_where_the_library_answers_nobody_else_is_asked(fault: str | None) -> None:
    """nvidia-smi stands on the same library and would say the same, later."""
    asked: list[int] = []
    stand_in = card_smi.Program(lambda: asked.append(1))

    stand_in.refresh(fault)

    assert not stand_in.is_under_way
    assert (asked, stand_in.reading(fault)) == ([], None)


def test_a_program_that_is_missing_is_looked_for_once_a_minute() -> None:
    """On a machine without a card that goes on for ever."""
    now, asked = [0.0], []
    stand_in = card_smi.Program(lambda: asked.append(now[0]), clock=lambda: now[0])

    for second in range(0, 130, 10):
        now[0] = float(second)
        stand_in.refresh("version-mismatch")
        until(lambda: not stand_in.is_under_way, "its answer")

    assert asked == [0.0, 60.0, 120.0]
