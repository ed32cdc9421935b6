"""The table of the cards, as text."""

import pytest

from studio.cli.gpu_text import gpus_text
from studio.domain.cards import CardSample, CardsReading
from studio.domain.hardware import GpuProcess

MIB = 1 << 20
H200 = CardSample(
    index=0,
    name="NVIDIA H200",
    memory_total_bytes=143771 * MIB,
    memory_used_bytes=86387 * MIB,
    utilisation_share=1.0,
    controller_share=0.87,
    power_w=573.4,
    power_limit_w=700.0,
    sm_clock_mhz=1980,
    temperature_c=47,
    throttle=("sw-power-cap",),
    pcie_rx_bytes_per_s=2_000_000.0,
    pcie_tx_bytes_per_s=512_000.0,
    ecc_uncorrected=0,
    processes=(GpuProcess(pid=825, name="VLLM::EngineCore", bytes=86362 * MIB),),
)


def test_a_card_at_work_is_a_row_and_what_is_to_say_about_it() -> None:
    """The recorded H200."""
    assert gpus_text(CardsReading(cards=(H200,)), None).split("\n") == [
        "#  Card  Memory                   Busy   Bus   Power         Heat   Clock",
        "0  H200  84.36 GiB of 140.40 GiB  100 %  87 %  573 of 700 W  47 °C  1980 MHz",
        "   slowed down: its power limit",
        "   over the link: 1.9 MiB/s in, 500.0 KiB/s out",
        "   825 VLLM::EngineCore: 84.34 GiB",
    ]


def test_what_is_not_known_is_a_dash() -> None:
    """Never a zero."""
    text = gpus_text(CardsReading(cards=(CardSample(index=3, name="NVIDIA card 3"),)), None)

    assert text.split("\n")[1].split() == [
        "3",
        "card",
        "3",
        "–",
        "of",
        "–",
        "–",
        "–",
        "–",
        "–",
        "–",
    ]
    assert "0" not in text.split("\n")[1]


def test_a_lost_card_says_so_with_the_drivers_words() -> None:
    """And nothing that hostile firmware writes moves the cursor."""
    lost = CardSample(index=1, name="NVIDIA \x1b[2JH200", faults=("GPU is lost",), is_lost=True)

    text = gpus_text(CardsReading(cards=(lost,), note="The driver."), None)

    assert "   lost: GPU is lost" in text
    assert text.endswith("The driver.")
    assert "\x1b" not in text


def test_reasons_of_one_kind_are_told_once_and_unknown_ones_by_name() -> None:
    """Two sensors, one heat."""
    hot = CardSample(index=0, name="x", throttle=("sw-thermal-slowdown", "new-reason"))

    assert "slowed down: heat, new-reason" in gpus_text(CardsReading(cards=(hot,)), None)


def test_many_processes_are_cut_with_their_count() -> None:
    """A desktop has dozens."""
    many = tuple(GpuProcess(pid=n, name=None, bytes=None, is_graphics=True) for n in range(12))

    text = gpus_text(CardsReading(cards=(CardSample(index=0, name="x", processes=many),)), None)

    assert "0 – (graphics): –" in text
    assert text.endswith("and 4 more")


@pytest.mark.parametrize(
    ("reading", "sentence"),
    [
        (CardsReading(cards=()), "There is no NVIDIA card on this machine."),
        (CardsReading(), "What the cards do is not known."),
        (CardsReading(note="No NVIDIA driver was found."), "No NVIDIA driver was found."),
    ],
)
def test_no_card_and_no_answer_are_told_apart(reading: CardsReading, sentence: str) -> None:
    """Nothing there, or nothing known."""
    assert sentence in gpus_text(reading, None)


def test_eight_cards_fit_a_terminal_of_80_columns() -> None:
    """Over SSH."""
    cards = tuple(
        CardSample(
            index=n,
            name="NVIDIA RTX PRO 6000 Blackwell Server Edition",
            memory_total_bytes=97887 * MIB,
            memory_used_bytes=97000 * MIB,
            utilisation_share=1.0,
            controller_share=1.0,
            power_w=600.0,
            power_limit_w=600.0,
            sm_clock_mhz=2430,
            temperature_c=80,
        )
        for n in range(8)
    )

    lines = gpus_text(CardsReading(cards=cards), 80).split("\n")

    assert len(lines) == 9
    assert all(len(line) <= 80 for line in lines)
