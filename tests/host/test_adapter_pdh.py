"""Windows' counters read by ourselves: real calls, against a library that answers from a file."""

import asyncio
import ctypes
from pathlib import Path

import pytest

from studio.host import adapter_pdh, pdh
from tests.fakes import counters as fakes
from tests.fakes.waiting import until_async

CARD = "luid_0x00000000_0x0000D3F5_phys_0"
CHIP = "luid_0x00000000_0x0000A001_phys_0"
WHOLE = f"""\
{adapter_pdh.SHARED}|{CARD}|1886000000
{adapter_pdh.SHARED}|{CHIP}|52000000
{adapter_pdh.DEDICATED}|{CARD}|22000000000
{adapter_pdh.PROCESSES}|pid_4242_{CARD}|1800000000
{adapter_pdh.PROCESSES}|pid_900_{CHIP}|50000000
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Return the stand-in."""
    return fakes.built(tmp_path_factory.mktemp("pdh"))


@pytest.fixture
def counters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of counters that Windows knows."""
    file = tmp_path / "cöunters.txt"
    file.write_text(WHOLE, encoding="utf-8")
    monkeypatch.setenv("FAKE_PDH", str(file))
    return file


@pytest.mark.usefixtures("counters")
def test_adapters_and_the_heaviest_programs_are_read(library: ctypes.CDLL) -> None:
    """The same figures that the PowerShell in WSL reads, so the same alarms."""
    found = adapter_pdh.look(lambda: library)

    by_luid = {one.luid: one for one in found.adapters}
    card = by_luid["0x00000000_0x0000d3f5"]
    assert card.shared_bytes == 1_886_000_000
    assert card.dedicated_bytes == 22_000_000_000
    chip = by_luid["0x00000000_0x0000a001"]
    assert chip.dedicated_bytes is None
    assert found.heaviest == ((4242, 1_800_000_000), (900, 50_000_000))
    assert found.note is None


def test_a_counter_that_windows_does_not_know_is_said_with_its_number(
    library: ctypes.CDLL, counters: Path
) -> None:
    """Old drivers and servers have none: not known, never zero."""
    counters.write_text(f"{adapter_pdh.SHARED}|{CARD}|1\n", encoding="utf-8")

    found = adapter_pdh.look(lambda: library)

    assert found.adapters == ()
    assert "0xc0000bb9" in str(found.note)


def test_a_value_that_is_not_valid_is_left_out(library: ctypes.CDLL, counters: Path) -> None:
    """PDH says so beside each value; a zero in its place would read as "no spill"."""
    counters.write_text(WHOLE.replace("|1886000000", "|-1"), encoding="utf-8")

    found = adapter_pdh.look(lambda: library)

    assert [one.luid for one in found.adapters] == ["0x00000000_0x0000a001"]


def test_a_system_without_the_library_says_so() -> None:
    """Nothing is loaded where there is no Windows."""
    assert pdh.library() is None
    assert "no counters" in str(adapter_pdh.look().note)


async def test_the_watch_reads_again_and_again(library: ctypes.CDLL, counters: Path) -> None:
    """What it told last is what is known now."""
    watch = adapter_pdh.PdhWatch(load=lambda: library, every_s=0.02)
    assert watch.now.note is not None
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(watch.run())
        await until_async(lambda: bool(watch.now.adapters), "a reading")
        await asyncio.to_thread(counters.write_text, WHOLE.replace("1886000000", "7"))
        await until_async(
            lambda: 7 in [one.shared_bytes for one in watch.now.adapters], "the next reading"
        )
        task.cancel()
