"""The cards by nvidia-smi: recorded output, other drivers' output, nonsense and hangs."""

import os
import re
import stat
import time
from pathlib import Path

import pytest

from studio.host import smi

DATA = Path(__file__).parents[1] / "data" / "smi"
MIB = 1 << 20
POWER_OF_525 = """<power_readings><enforced_power_limit>700.00 W</enforced_power_limit>
<default_power_limit>700.00 W</default_power_limit></power_readings>"""


def recording(name: str) -> str:
    """Return one recording."""
    return (DATA / name).read_text(encoding="utf-8")


def program(folder: Path, body: str) -> str:
    """Write a program that stands for nvidia-smi; return its path."""
    path = folder / "nvidia-smi"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def recorded_program(folder: Path) -> str:
    """Return a program that answers as two H200 did."""
    return program(
        folder,
        f"""case "$1" in
-q) cat '{DATA}/h200x2.xml';;
topo) cat '{DATA}/h200x2-topo.txt';;
*) echo '00000000:00:06.0, 9.0'; echo '00000000:00:07.0, 9.0';;
esac""",
    )


def test_a_recorded_card_is_read_in_full() -> None:
    """The same facts as the library would give."""
    report = smi.parse(recording("h200.xml"), "00000000:00:06.0, 9.0\n")

    (card,) = report.cards
    assert report.source == "nvidia-smi"
    assert (report.driver, report.cuda_version) == ("580.159.04", "13.0")
    assert card.name == "NVIDIA H200"
    assert card.uuid == "GPU-8a70ca12-18af-0f83-08bf-b1d1e02bacc3"
    assert card.compute_capability == "9.0"
    assert card.total_bytes == 143_771 * MIB
    assert card.reserved_bytes == 616 * MIB
    assert card.free_bytes == 143_156 * MIB
    assert card.pci_bus_id == "0000:00:06.0"
    assert (card.pcie_generation, card.pcie_width) == (5, 16)
    assert (card.power_limit_w, card.power_max_w) == (700.0, 700.0)
    assert card.temperature_c == 33
    assert card.throttle_reasons == ()
    assert (card.memory_clock_mhz, card.memory_clock_max_mhz) == (3201, 3201)
    assert card.display_active is False
    assert card.ecc_enabled is True
    assert card.mig_enabled is False
    assert card.processes == ()
    assert card.is_wddm is None
    assert card.compute_mode == "default"


def test_the_usable_memory_is_the_total_that_the_engine_prints() -> None:
    """vLLM's log of the same card says 139.8 GiB; the planner counts from there."""
    (card,) = smi.parse(recording("h200.xml")).cards

    assert card.usable_bytes is not None
    assert round(card.usable_bytes / (1 << 30), 2) == 139.8


def test_without_the_short_answers_their_facts_are_unknown() -> None:
    """An older nvidia-smi knows neither; a capability is never guessed from a name."""
    report = smi.parse(recording("h200x2.xml"))

    assert [card.compute_capability for card in report.cards] == [None, None]
    assert report.links == ()


async def test_two_recorded_cards_with_their_nvlink(tmp_path: Path) -> None:
    """All three questions together, through a real process."""
    report = await smi.read(recorded_program(tmp_path))

    assert [card.compute_capability for card in report.cards] == ["9.0", "9.0"]
    assert [card.index for card in report.cards] == [0, 1]
    (link,) = report.links
    assert (link.kind, link.nvlinks, link.peer) == ("nvlink", 18, None)


def test_newer_drivers_name_their_versions_otherwise() -> None:
    """From 595 on the kernel driver and the CUDA library have versions of their own."""
    text = recording("h200.xml").replace("driver_version>", "kmd_version>")
    text = text.replace("cuda_version>", "cuda_umd_version>")

    report = smi.parse(text)

    assert (report.driver, report.cuda_version) == ("580.159.04", "13.0")


def test_older_drivers_name_power_and_clocks_otherwise() -> None:
    """Up to 525 the groups had other names."""
    text = recording("h200.xml").replace("clocks_event_reason", "clocks_throttle_reason")
    text = re.sub(
        r"<gpu_power_readings>.*?</gpu_power_readings>", POWER_OF_525, text, flags=re.DOTALL
    )
    slowed = "<clocks_throttle_reason_hw_slowdown>Not Active"
    text = text.replace(slowed, slowed.replace("Not ", ""))

    (card,) = smi.parse(text).cards

    assert card.power_limit_w == 700.0
    assert card.throttle_reasons == ("hw-slowdown",)


def test_who_holds_the_memory_is_read() -> None:
    """Name without its folder, bytes, and whether it draws."""
    holders = """<processes>
      <process_info><pid>1352</pid><type>C</type><process_name>/usr/bin/python3</process_name>
        <used_memory>34614 MiB</used_memory></process_info>
      <process_info><pid>812</pid><type>G</type><process_name>/usr/lib/xorg/Xorg</process_name>
        <used_memory>45 MiB</used_memory></process_info>
      <process_info><pid>N/A</pid></process_info></processes>"""
    text = re.sub(r"<processes>.*?</processes>", holders, recording("h200.xml"), flags=re.DOTALL)

    (card,) = smi.parse(text).cards

    assert card.processes is not None
    assert [(one.pid, one.name, one.is_graphics) for one in card.processes] == [
        (1352, "python3", False),
        (812, "Xorg", True),
    ]
    assert card.processes[0].bytes == 34_614 * MIB


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("Failed to initialize NVML: Driver/library version mismatch", "version mismatch"),
        ("", "nothing"),
        ("<?xml version='1.0'?><nvidia_smi_log><gpu>", "no element found"),
        ("<?xml version='1.0'?><html></html>", "no log"),
        ("<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>", "declares entities"),
        ("\x00\x01\x02 \x1b[31mgarbage", "garbage"),
    ],
)
async def test_nonsense_is_quoted_and_not_believed(tmp_path: Path, printed: str, said: str) -> None:
    """What it printed is the best hint at what is wrong."""
    output = tmp_path / "output"
    output.write_text(printed, encoding="utf-8")

    report = await smi.read(program(tmp_path, f"cat '{output}'"))

    assert report.cards == ()
    assert report.fault == "no-sense"
    assert report.note is not None
    assert said in report.note
    assert "\x1b" not in report.note


async def test_output_without_end_is_cut(tmp_path: Path) -> None:
    """A program that prints for ever must not fill our memory."""
    path = program(tmp_path, "yes '<?xml version=\"1.0\"?>'")

    report = await smi.read(path, within_s=1.0)

    assert report.fault == "no-answer"


async def test_a_hang_ends_with_a_reason(tmp_path: Path) -> None:
    """A driver in trouble blocks nvidia-smi for minutes."""
    started = time.monotonic()

    report = await smi.read(program(tmp_path, "exec sleep 600"), within_s=0.3)

    assert time.monotonic() - started < 20
    assert report.fault == "no-answer"
    assert report.note is not None


async def test_a_file_that_is_no_program_is_no_answer(tmp_path: Path) -> None:
    """A copy of another platform's nvidia-smi on the PATH."""
    path = tmp_path / "nvidia-smi"
    path.write_bytes(b"MZ\x90\x00 not for this system")
    path.chmod(0o755)

    report = await smi.read(str(path))

    assert report.cards == ()
    assert report.fault == "no-sense"


def test_the_program_of_wsl_goes_before_the_path(tmp_path: Path) -> None:
    """A distribution's own nvidia-smi does not work inside WSL."""
    own, lent = tmp_path / "own", tmp_path / "lent"
    for folder in (own, lent):
        folder.mkdir()
        program(folder, "exit 0")
    environ = {"PATH": str(own)}

    assert smi.find(environ, lent / "nvidia-smi") == str(lent / "nvidia-smi")
    assert smi.find(environ, tmp_path / "none") == str(own / "nvidia-smi")
    assert smi.find({"PATH": str(tmp_path / "none")}, tmp_path / "none") is None
    assert os.access(smi.WSL_PROGRAM, os.X_OK) in (True, False)
