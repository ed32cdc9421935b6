"""The cards by NVIDIA's library: the real pynvml over a stand-in at the C ABI."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from studio.host import nvml
from tests.fakes.nvml_stub import NvmlHost, nvml_host
from tests.fakes.waiting import until

MIB = 1 << 20
CARD: dict[str, Any] = {
    "name": "NVIDIA GeForce RTX 3090",
    "uuid": "GPU-11111111-0000-0000-0000-000000000001",
    "capability": "8.6",
    "total": 24576 * MIB,
    "reserved": 450 * MIB,
    "used": 10 * MIB,
    "bus": "00000000:0B:00.0",
    "generation": 1,
    "generation_max": 4,
    "width": 16,
    "width_max": 16,
    "power_mw": 250_000,
    "power_default_mw": 350_000,
    "power_max_mw": 400_000,
    "temperature": 54,
    "slowdown": 95,
    "reasons": 0x4 | 0x1,
    "memory_clock": 405,
    "memory_clock_max": 9751,
    "memory_bits": 384,
    "display_attached": True,
    "display_active": False,
    "compute_mode": 0,
    "mig": False,
}


def machine(*cards: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a machine with these cards and a driver."""
    return {"driver": "580.95.05", "cuda": 13000, "cards": list(cards), **more}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NvmlHost]:
    """A machine whose cards can be changed."""
    with nvml_host(tmp_path_factory.mktemp("nvml")) as made:
        yield made


def test_everything_that_the_library_tells_is_kept(host: NvmlHost) -> None:
    """The planner, the presets and the doctor decide by these facts."""
    report = host.report(machine(CARD))

    card = report["cards"][0]
    assert report["driver"] == "580.95.05"
    assert report["cuda_version"] == "13.0"
    assert report["source"] == "nvml"
    assert report["fault"] is None
    assert card["name"] == CARD["name"]
    assert card["uuid"] == CARD["uuid"]
    assert card["compute_capability"] == "8.6"
    assert card["total_bytes"] == 24576 * MIB
    assert card["reserved_bytes"] == 450 * MIB
    assert card["used_bytes"] == 10 * MIB
    assert card["free_bytes"] == (24576 - 450 - 10) * MIB
    assert card["pci_bus_id"] == "0000:0b:00.0"
    assert (card["pcie_generation"], card["pcie_generation_max"]) == (1, 4)
    assert (card["pcie_width"], card["pcie_width_max"]) == (16, 16)
    assert card["power_limit_w"] == 250.0
    assert card["power_default_w"] == 350.0
    assert card["power_max_w"] == 400.0
    assert (card["temperature_c"], card["slowdown_temperature_c"]) == (54, 95)
    assert card["throttle_reasons"] == ["sw-power-cap"]
    assert (card["memory_clock_mhz"], card["memory_clock_max_mhz"]) == (405, 9751)
    assert card["memory_bus_bits"] == 384
    assert card["display_attached"] is True
    assert card["display_active"] is False
    assert card["compute_mode"] == "default"
    assert card["mig_enabled"] is False
    assert card["is_integrated"] is False
    assert card["processes"] == []
    assert card["faults"] == []


def test_what_a_card_does_not_support_is_not_known(host: NvmlHost) -> None:
    """A zero would be taken for a fact: 0 W, 0 bytes, generation 0."""
    report = host.report(machine({"name": "NVIDIA Bare"}))

    card = report["cards"][0]
    known = {key for key, value in card.items() if value not in (None, [], "")}
    assert known == {"index", "name"}
    assert card["faults"] == []


def test_a_lost_card_is_listed_with_the_drivers_words(host: NvmlHost) -> None:
    """It fell off the bus: the other cards still serve, and the person learns which one."""
    lost = {"errors": {"nvmlDeviceGetHandleByIndex_v2": 15}}

    report = host.report(machine(CARD, lost))

    assert report["cards"][0]["faults"] == []
    assert report["cards"][1]["name"] == "NVIDIA card 1"
    assert report["cards"][1]["faults"] == ["GPU is lost"]


@pytest.mark.parametrize("code", [15, 999])
def test_a_question_that_fails_costs_only_its_answer(host: NvmlHost, code: int) -> None:
    """One broken sensor must not hide a card's memory."""
    broken = {**CARD, "errors": {"nvmlDeviceGetTemperature": code}}

    card = host.report(machine(broken))["cards"][0]

    assert card["temperature_c"] is None
    assert card["total_bytes"] == 24576 * MIB
    assert len(card["faults"]) == 1


def test_an_older_driver_without_the_second_memory_question_is_asked_the_first(
    host: NvmlHost,
) -> None:
    """Its used bytes hold the reserved part, so nothing may be subtracted twice."""
    old = {**CARD, "errors": {"nvmlDeviceGetMemoryInfo_v2": 13}}

    card = host.report(machine(old))["cards"][0]

    assert card["reserved_bytes"] is None
    assert card["free_bytes"] == (24576 - 450 - 10) * MIB


def test_who_holds_memory_is_named_largest_first(host: NvmlHost) -> None:
    """`Memory is held` alone does not say what to end."""
    holders = [
        {"pid": 1, "bytes": 50 * MIB, "draws": True},
        {"pid": host.pid, "bytes": 900 * MIB},
        {"pid": 4_000_000, "bytes": None},
    ]

    found = host.report(machine({**CARD, "processes": holders}))["cards"][0]["processes"]

    assert [one["bytes"] for one in found] == [900 * MIB, 50 * MIB, None]
    assert found[0]["name"] == nvml.process_name(host.pid)
    assert found[0]["is_graphics"] is False
    assert found[1]["is_graphics"] is True
    assert found[2]["name"] is None


def test_processes_are_unknown_where_the_driver_lists_none(host: NvmlHost) -> None:
    """Unknown is not nobody."""
    errors = {
        "nvmlDeviceGetComputeRunningProcesses_v3": 3,
        "nvmlDeviceGetGraphicsRunningProcesses_v3": 3,
    }

    card = host.report(machine({**CARD, "errors": errors}))["cards"][0]

    assert card["processes"] is None


def test_the_slices_of_a_split_card_are_listed(host: NvmlHost) -> None:
    """An engine that is given the whole card would find no memory on it."""
    split = {**CARD, "mig": True, "mig_most": 7, "mig_slices": 1}

    card = host.report(machine(split))["cards"][0]

    assert card["mig_enabled"] is True
    assert len(card["mig_devices"]) == 1
    assert card["faults"] == []


def test_an_integrated_chip_is_no_card(host: NvmlHost) -> None:
    """Its memory is the machine's: counted as VRAM it would be promised twice."""
    chip = {"name": "NVIDIA GB10", "capability": "12.1", "total": 128 << 30}

    report = host.report(machine(chip))

    assert report["cards"] == []
    assert report["fault"] == "no-card"
    assert report["integrated"][0]["name"] == "NVIDIA GB10"
    assert "no memory of its own" in report["note"]


@pytest.mark.parametrize(
    ("code", "fault"),
    [(9, "not-loaded"), (18, "version-mismatch"), (28, "no-card"), (999, "other"), (4, "other")],
)
def test_a_driver_that_refuses_is_told_apart(host: NvmlHost, code: int, fault: str) -> None:
    """Restart, install, look at the cable: each cause has another remedy."""
    report = host.report(machine(CARD, errors={"nvmlInitWithFlags": code}))

    assert report["cards"] == []
    assert report["fault"] == fault
    assert report["note"].endswith(".")


def test_a_driver_that_fails_while_it_counts_is_a_fault(host: NvmlHost) -> None:
    """An exception here would end the service."""
    report = host.report(machine(CARD, errors={"nvmlDeviceGetCount_v2": 999}))

    assert report["fault"] == "other"
    assert report["cards"] == []


def test_no_cards_at_all_comes_with_the_reason(host: NvmlHost) -> None:
    """A driver without a card: pulled out, or passed on to a virtual machine."""
    report = host.report(machine())

    assert report["fault"] == "no-card"
    assert report["driver"] == "580.95.05"


def test_names_that_are_not_utf8_do_not_end_the_look(host: NvmlHost) -> None:
    """Modified cards carry any bytes in their firmware."""
    host.put_in(machine(CARD))
    text = host.cards_file.read_bytes().replace(b"NVIDIA GeForce RTX 3090", b"RTX 3090 \xff\xfe")
    host.cards_file.write_bytes(text)

    card = host.ask("report")["cards"][0]

    assert card["name"] == "NVIDIA card 0"
    assert card["total_bytes"] == 24576 * MIB


def test_four_cards_meshed_by_nvlink_are_seen_as_such(host: NvmlHost) -> None:
    """Tensor parallelism over NVLink and over PCIe want different switches."""
    buses = [f"00000000:{place:02X}:00.0" for place in (0x15, 0x16, 0x3A, 0x3B)]
    cards = [
        {**CARD, "bus": bus, "nvlinks": [far for far in buses if far != bus for _ in range(2)]}
        for bus in buses
    ]
    links = {
        f"{a}-{b}": {"ancestor": 30, "peer": {"0": 0, "2": 0}}
        for a in range(4)
        for b in range(a + 1, 4)
    }

    found = host.report(machine(*cards, links=links))["links"]

    assert len(found) == 6
    assert {(one["kind"], one["nvlinks"], one["peer"]) for one in found} == {("nvlink", 2, True)}


def test_cards_behind_an_nvswitch_are_joined_by_nvlink(host: NvmlHost) -> None:
    """There the far end of a link is the switch and no card."""
    cards = [{**CARD, "bus": f"00000000:0{n}:00.0", "nvlinks": ["FF:0"] * 18} for n in (1, 2)]

    link = host.report(machine(*cards, links={"0-1": {"peer": {"0": 0, "2": 0}}}))["links"][0]

    assert link["kind"] == "nvlink"
    assert link["nvlinks"] is None


def test_cards_over_pcie_without_peer_access(host: NvmlHost) -> None:
    """Two gaming cards in one desktop board."""
    cards = [{**CARD, "bus": f"00000000:0{n}:00.0"} for n in (1, 2)]
    links = {"0-1": {"ancestor": 30, "peer": {"0": 5, "2": 5}}}

    link = host.report(machine(*cards, links=links))["links"][0]

    assert (link["kind"], link["nvlinks"], link["peer"]) == ("host-bridge", 0, False)


def test_a_driver_that_hangs_holds_nobody_up(host: NvmlHost) -> None:
    """A card in trouble blocks every call for minutes; the service has to go on answering."""
    host.put_in(machine(CARD, hangs=["nvmlDeviceGetMemoryInfo_v2"]))

    first, second = host.ask("bounded"), host.ask("bounded 600")

    assert first["overdue"] is True
    assert second["overdue"] is True
    assert second["seconds"] < 300  # it does not wait its time again

    host.put_in(machine(CARD))  # it comes back after all
    until(lambda: host.ask("bounded")["overdue"] is False, "an answer of the driver")


def test_a_process_with_a_hanging_call_still_ends(host: NvmlHost, tmp_path: Path) -> None:
    """A thread that cannot be joined must not keep `weir doctor` from returning."""
    host.put_in(machine(CARD, hangs=["nvmlInitWithFlags"]))
    program = (
        "from studio.host import nvml\n"
        "from studio.host.bounded import Bounded, Overdue\n"
        "try:\n    Bounded(nvml.read, name='n', within_s=0.1).call()\n"
        "except Overdue:\n    print('overdue')\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program],
        env=host.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.stdout.strip() == "overdue"
    assert done.returncode == 0


def test_the_library_that_windows_lends_goes_before_any_other(
    host: NvmlHost, tmp_path: Path
) -> None:
    """A distribution's own library inside WSL finds no driver (error 9)."""
    lent = tmp_path / "lent"
    lent.mkdir()
    (lent / "libnvidia-ml.so.1").write_bytes(
        (Path(host.environment["LD_LIBRARY_PATH"]) / "libnvidia-ml.so.1").read_bytes()
    )
    host.put_in(machine(CARD))
    program = (
        "import pathlib, sys, msgspec\n"
        "from studio.host import nvml\n"
        "nvml.WSL_LIBRARY = pathlib.Path(sys.argv[1])\n"
        "sys.stdout.buffer.write(msgspec.json.encode(nvml.read()))\n"
    )
    environment = {**host.environment, "LD_LIBRARY_PATH": ""}

    done = subprocess.run(
        [sys.executable, "-c", program, str(lent / "libnvidia-ml.so.1")],
        env=environment,
        capture_output=True,
        timeout=60,
    )

    report = msgspec.json.decode(done.stdout)
    assert report["cards"][0]["name"] == CARD["name"]


def test_a_machine_without_the_library_says_so(host: NvmlHost) -> None:
    """Most machines have none: that is no error, and nvidia-smi may still be asked."""
    environment = {**host.environment, "LD_LIBRARY_PATH": ""}
    program = (
        "import sys, msgspec\n"
        "from studio.host import nvml\n"
        "sys.stdout.buffer.write(msgspec.json.encode(nvml.read()))\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, timeout=60
    )

    report = msgspec.json.decode(done.stdout)
    if report["fault"] is None:
        pytest.skip("this machine has a card")
    assert report["fault"] in ("no-driver", "not-loaded")
    assert report["note"].endswith(".")


def test_lowered_clocks_are_named_and_rest_is_not() -> None:
    """An idle card is not a slow card."""
    assert nvml.throttle_reasons(0x40 | 0x1 | 0x2) == ("hw-thermal-slowdown",)
    assert nvml.throttle_reasons(0) == ()
