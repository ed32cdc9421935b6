"""The cards once a second: the real pynvml, the real reader, machines from a scenario."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.domain.cards import CardSample, CardsReading
from studio.host.card_nvml import ANEW_S, SELDOM_S
from tests.fakes.nvml_machines import MIB, h200, machine, rtx_3090, rtx_4090_wsl2, uuid, v100
from tests.fakes.nvml_stub import NvmlHost, nvml_host
from tests.fakes.waiting import until


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NvmlHost]:
    """One process for all tests here."""
    with nvml_host(tmp_path_factory.mktemp("nvml")) as made:
        yield made


@pytest.fixture
def host(library: NvmlHost) -> NvmlHost:
    """A machine whose cards nobody has looked at yet."""
    library.put_in(machine())
    library.ask("fresh")
    return library


def only(reading: CardsReading) -> CardSample:
    """Return the one card of a reading."""
    assert reading.cards is not None
    (card,) = reading.cards
    return card


def test_a_card_at_work_tells_everything(host: NvmlHost) -> None:
    """The figures of the recorded H200: all that the monitor shows of a card."""
    document = machine(h200(reasons=0x4, pcie_rx=2_000, pcie_tx=500, ecc_uncorrected=3))

    host.live(document, later_s=100)
    card = only(host.live())

    assert card == CardSample(
        index=0,
        uuid=uuid(0),
        name="NVIDIA H200",
        memory_total_bytes=143771 * MIB,
        memory_used_bytes=86387 * MIB,
        utilisation_share=1.0,
        controller_share=0.87,
        power_w=573.0,
        power_limit_w=700.0,
        sm_clock_mhz=1980,
        memory_clock_mhz=3201,
        temperature_c=47,
        throttle=("sw-power-cap",),
        pcie_rx_bytes_per_s=2_000 * 1024.0,
        pcie_tx_bytes_per_s=500 * 1024.0,
        ecc_uncorrected=3,
        processes=card.processes,
    )
    assert card.processes is not None
    assert [(one.pid, one.bytes) for one in card.processes] == [(825, 86362 * MIB)]


def test_what_wsl_hides_is_not_known_and_no_fault(host: NvmlHost) -> None:
    """A zero would say: no process, nothing over the link, never throttled."""
    card = only(host.live(machine(rtx_4090_wsl2(used=20_000 * MIB)), later_s=100))

    assert card.memory_used_bytes == 20_000 * MIB
    assert (card.processes, card.throttle, card.ecc_uncorrected) == (None, None, None)
    assert (card.pcie_rx_bytes_per_s, card.pcie_tx_bytes_per_s) == (None, None)
    assert card.faults == ()
    assert not card.is_lost


def test_a_gaming_card_has_no_memory_errors_to_count(host: NvmlHost) -> None:
    """Unknown is not zero: nobody counts them there."""
    card = only(host.live(machine(rtx_3090(temperature=54)), later_s=100))

    assert (card.ecc_uncorrected, card.temperature_c) == (None, 54)


def test_memory_follows_the_card_from_second_to_second(host: NvmlHost) -> None:
    """A load of weights is a curve, not one value."""
    steps = [1024 * MIB, 8192 * MIB, 20_000 * MIB]
    host.put_in(machine(h200(used=steps)))

    seen = [only(host.live(later_s=100 if n == 0 else 1)).memory_used_bytes for n in range(4)]

    assert seen == [*steps, steps[-1]]


def test_four_cards_come_in_the_drivers_order(host: NvmlHost) -> None:
    """Four V100s, one of which does nothing: a part of a tensor-parallel engine that stands."""
    cards = [v100(n, gpu_util=0 if n == 2 else 99) for n in range(4)]

    found = host.live(machine(*cards), later_s=100).cards

    assert found is not None
    assert [one.index for one in found] == [0, 1, 2, 3]
    assert [one.utilisation_share for one in found] == [0.99, 0.99, 0.0, 0.99]


def test_each_of_eight_cards_has_its_turn_at_the_link(host: NvmlHost) -> None:
    """Each look holds the driver for 40 ms: not all cards in one second."""
    cards = [h200(n, pcie_rx=1000 + n) for n in range(8)]
    host.live(machine(*cards), later_s=100)

    first = host.live().cards
    for _ in range(7):
        last = host.live().cards

    assert first is not None
    assert last is not None
    assert sum(one.pcie_rx_bytes_per_s is not None for one in first) == 1
    assert [one.pcie_rx_bytes_per_s for one in last] == [(1000 + n) * 1024.0 for n in range(8)]


def test_all_links_at_once_for_a_single_look(host: NvmlHost) -> None:
    """`weir gpus` without a service has no eight seconds."""
    host.put_in(machine(*[h200(n, pcie_rx=1000 + n) for n in range(8)]))
    host.ask("live 1 20 links")

    cards = host.live(later_s=0.2).cards

    assert cards is not None
    assert [one.pcie_rx_bytes_per_s for one in cards] == [(1000 + n) * 1024.0 for n in range(8)]


def test_an_integrated_chip_is_no_card_here_either(host: NvmlHost) -> None:
    """As in `weir doctor`: the machine's own memory is not the card's."""
    chip = {"name": "NVIDIA GB10", "capability": "12.1"}

    found = host.live(machine(chip, rtx_3090()), later_s=100).cards

    assert found is not None
    assert [(one.index, one.name) for one in found] == [(1, "NVIDIA GeForce RTX 3090")]


def test_a_split_card_is_one_card_whose_load_is_not_known(host: NvmlHost) -> None:
    """Slices have no load of their own in the library; the card's memory is still told."""
    split = h200(mig=True, mig_most=7, mig_slices=2, errors={"nvmlDeviceGetUtilizationRates": 3})

    card = only(host.live(machine(split), later_s=100))

    assert card.utilisation_share is None
    assert card.memory_used_bytes == 86387 * MIB
    assert card.faults == ()


def test_a_driver_too_old_for_a_question_is_asked_the_older_one(host: NvmlHost) -> None:
    """Function not found (13) is how pynvml says that a library lacks a symbol."""
    old = {"nvmlDeviceGetMemoryInfo_v2": 13, "nvmlDeviceGetCurrentClocksEventReasons": 13}

    card = only(host.live(machine(h200(errors=old)), later_s=100))

    assert card.memory_used_bytes == (86387 + 616) * MIB
    assert card.throttle is None
    assert card.faults == ()


QUESTIONS = {
    "nvmlDeviceGetMemoryInfo_v2": "memory_used_bytes",
    "nvmlDeviceGetUtilizationRates": "utilisation_share",
    "nvmlDeviceGetPowerUsage": "power_w",
    "nvmlDeviceGetEnforcedPowerLimit": "power_limit_w",
    "nvmlDeviceGetClockInfo": "sm_clock_mhz",
    "nvmlDeviceGetTemperature": "temperature_c",
    "nvmlDeviceGetCurrentClocksEventReasons": "throttle",
    "nvmlDeviceGetTotalEccErrors": "ecc_uncorrected",
    "nvmlDeviceGetComputeRunningProcesses_v3": "processes",
}


@pytest.mark.parametrize("function", QUESTIONS)
@pytest.mark.parametrize("code", [3, 999], ids=["not-supported", "fails"])
def test_a_question_without_an_answer_costs_only_its_field(
    host: NvmlHost, function: str, code: int
) -> None:
    """Never zero, never the whole card; what is merely not supported is no fault."""
    errors = {function: code, "nvmlDeviceGetGraphicsRunningProcesses_v3": 3}
    if "Memory" in function:
        errors["nvmlDeviceGetMemoryInfo"] = code

    card = only(host.live(machine(h200(errors=errors)), later_s=100))
    known = {field for field in QUESTIONS.values() if getattr(card, field) is not None}

    assert known == set(QUESTIONS.values()) - {QUESTIONS[function]}
    assert len(card.faults) == (code == 999)
    assert not card.is_lost


def test_a_question_that_is_not_supported_is_asked_again_after_a_while(host: NvmlHost) -> None:
    """A driver that was updated, a card that woke up."""
    host.live(machine(h200(errors={"nvmlDeviceGetPowerUsage": 3})), later_s=100)

    soon = only(host.live(machine(h200())))
    later = only(host.live(later_s=100))

    assert soon.power_w is None
    assert later.power_w == 573.0


def test_a_question_that_failed_is_asked_again_at_once(host: NvmlHost) -> None:
    """Two that fail with the same words are both asked again."""
    broken = {"nvmlDeviceGetPowerUsage": 999, "nvmlDeviceGetTemperature": 999}
    host.live(machine(h200(errors=broken)), later_s=100)

    card = only(host.live(machine(h200())))

    assert (card.power_w, card.temperature_c, card.faults) == (573.0, 47, ())


def test_a_card_that_falls_off_the_bus_is_lost_and_comes_back(host: NvmlHost) -> None:
    """The others go on; the lost one keeps its name, and nothing of its last second."""
    both = machine(h200(0), h200(1))
    host.live(both, later_s=100)

    lost = host.live(machine(h200(0), h200(1, unplugged=True))).cards
    gone = host.live(later_s=100).cards
    back = host.live(both, later_s=1000).cards

    assert lost is not None
    assert gone is not None
    assert back is not None
    for cards in (lost, gone):
        assert cards[0].temperature_c == 47
        assert cards[1].is_lost
        assert (cards[1].name, cards[1].uuid) == ("NVIDIA H200", uuid(1))
        assert cards[1].memory_used_bytes is None
        assert cards[1].processes is None
        assert len(cards[1].faults) == 1
    assert [(one.is_lost, one.temperature_c) for one in back] == [(False, 47), (False, 47)]


@pytest.mark.parametrize("later_s", [SELDOM_S, ANEW_S])
def test_a_card_that_is_plugged_in_beside_another_is_seen(
    host: NvmlHost, tmp_path: Path, later_s: float
) -> None:
    """An external card, or one that was handed back by a virtual machine: no restart for it."""
    has_folders = later_s < ANEW_S  # WSL has none
    host.ask(f"folders {tmp_path}")
    assert len(host.live(machine(rtx_3090()), later_s=100).cards or ()) == 1

    if has_folders:
        (tmp_path / "0000:41:00.0").mkdir()
    again = host.live(machine(rtx_3090(), h200()), later_s=later_s)

    assert [card.name for card in again.cards or ()] == ["NVIDIA GeForce RTX 3090", "NVIDIA H200"]
    assert not any(card.is_lost for card in again.cards or ())


def test_a_driver_that_is_unloaded_loses_all_and_is_found_again(host: NvmlHost) -> None:
    """An update of the driver under a running service."""
    host.live(machine(h200()), later_s=100)
    host.put_in(machine(h200(), errors={"*": 9}))

    during = [host.live(), host.live(later_s=100)]
    after = host.live(machine(h200()), later_s=1000)

    for reading in during:
        assert only(reading).is_lost
        assert only(reading).memory_used_bytes is None
    assert during[1].note is not None
    assert only(after).memory_used_bytes == 86387 * MIB
    assert after.note is None


def test_a_machine_without_cards_is_told_apart_from_one_without_a_driver(host: NvmlHost) -> None:
    """Nothing there, and nothing known."""
    none = host.live(machine())
    unknown = host.live(machine(errors={"nvmlInitWithFlags": 9}), later_s=10_000)
    found = host.live(machine(h200()), later_s=10_000)

    assert (none.cards, unknown.cards) == ((), None)
    assert unknown.note is not None
    assert only(found).name == "NVIDIA H200"


def test_a_driver_that_is_missing_is_looked_for_seldom(host: NvmlHost) -> None:
    """A search for the library each second, for ever, on every machine without a card."""
    host.live(machine(errors={"nvmlInitWithFlags": 9}), later_s=10_000)

    soon = host.live(machine(h200()), later_s=5)
    later = host.live(later_s=60)

    assert soon.cards is None
    assert later.cards is not None


def test_a_driver_that_hangs_costs_its_cards_and_no_time(host: NvmlHost) -> None:
    """What was told before it hung stands; then every card is not known, until it comes back."""
    host.live(machine(h200(0), h200(1)), later_s=100)
    host.put_in(machine(h200(0), h200(1), hangs=["nvmlDeviceGetPowerUsage"]))

    first = host.live(within_s=0.2)
    told = host.ask("live 1 600")
    second = host.live(within_s=5)
    host.put_in(machine(h200(0), h200(1)))

    assert told["seconds"] < 300
    for reading in (first, second):
        assert reading.cards is not None
        assert [one.name for one in reading.cards] == ["NVIDIA H200"] * 2
        assert {one.power_w for one in reading.cards} == {None}
        assert reading.note is not None
        assert "has not answered" in reading.note
    until(lambda: host.live(later_s=0).note is None, "an answer of the driver")
    cards = host.live().cards
    assert cards is not None
    assert {one.power_w for one in cards} == {573.0}
