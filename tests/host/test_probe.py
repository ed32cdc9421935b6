"""The machine as it is, with nothing invented."""

import asyncio
import os
import sys
import time
from pathlib import Path

import msgspec
import psutil
import pytest

from studio.domain.hardware import Gpu, GpuLink, GpuProcess, HostSnapshot
from studio.host import gpus, hosts, probe
from studio.host.gpu_report import GpuReport
from studio.host.paths import Paths, bundled_root


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> list[GpuReport]:
    """Say what the driver tells; at first what this machine's own does."""
    told: list[GpuReport] = [gpus.from_library()]
    monkeypatch.setattr(gpus, "from_library", lambda: told[-1])
    return told


def test_the_snapshot_tells_this_machine(tmp_path: Path) -> None:
    """Everything a person checks first."""
    host = probe.snapshot(tmp_path / "not made yet")

    assert host.platform == f"{sys.platform}-{os.uname().machine}"
    assert host.kernel == os.uname().release
    assert host.memory_bytes == psutil.virtual_memory().total
    assert host.cpu_count == len(os.sched_getaffinity(0))
    assert host.disk_free_bytes is not None
    assert host.disk_free_bytes > 0
    assert host.limits is not None
    assert host.clock is not None
    assert host.disks[0].holds == ("home",)


def test_no_card_comes_with_the_reason(tmp_path: Path) -> None:
    """An empty list alone would leave the person guessing: no card, or no driver?"""
    host = probe.snapshot(tmp_path)

    assert bool(host.gpus) != bool(host.gpu_note)
    assert bool(host.gpus) != bool(host.gpu_fault)


async def test_a_look_finds_programs_and_every_folders_disk(tmp_path: Path) -> None:
    """Models may lie on another disk than the rest."""
    (tmp_path / "home").mkdir()
    paths = Paths(home=tmp_path / "home", catalogue=bundled_root())

    host = await probe.look(paths)

    assert host.toolchain is not None
    assert {one for disk in host.disks for one in disk.holds} == {
        "home", "runtimes", "models", "cache",
    }  # fmt: skip


async def test_a_driver_that_is_slow_does_not_hold_up_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chat clients are answered on the same loop."""

    def slow() -> GpuReport:
        deadline = time.monotonic() + 0.5
        while time.monotonic() < deadline:
            psutil.pids()
        return GpuReport(fault="no-answer", note="It hangs.")

    monkeypatch.setattr(gpus, "from_library", slow)
    paths = Paths(home=tmp_path, catalogue=bundled_root())
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    async with asyncio.TaskGroup() as tasks:
        counting = tasks.create_task(tick())
        host = await probe.look(paths)
        counting.cancel()

    assert host.gpu_fault == "no-answer"
    assert ticks > 100


def test_cards_under_wsl_are_windows_to_manage(
    tmp_path: Path, cards: list[GpuReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There no process is ever listed, which does not mean that nobody is there."""
    monkeypatch.setenv("WSL_DISTRO_NAME", "Ubuntu")
    cards.append(GpuReport(source="nvml", cards=(Gpu(index=0, name="A", processes=()),)))

    host = probe.snapshot(tmp_path)

    assert host.is_wsl is True
    assert host.wsl is not None
    assert host.gpus[0].is_wddm is True
    assert host.gpus[0].processes is None


def test_what_the_driver_tells_is_in_the_snapshot(tmp_path: Path, cards: list[GpuReport]) -> None:
    """Nothing is lost between the report and the record."""
    pair = (Gpu(index=0, name="A"), Gpu(index=1, name="B"))
    link = GpuLink(first=0, second=1)
    cards.append(
        GpuReport(source="nvml", driver="580.1", cuda_version="13.0", cards=pair, links=(link,))
    )

    host = probe.snapshot(tmp_path)

    assert (host.driver, host.cuda_version, host.gpu_source) == ("580.1", "13.0", "nvml")
    assert host.gpus == pair
    assert host.link(1, 0) == link
    assert host.link(0, 2) is None


def test_names_of_any_bytes_become_text(tmp_path: Path, cards: list[GpuReport]) -> None:
    """Firmware and processes may be called anything; a capture has to be replayable."""
    wild = Gpu(index=0, name="A\x1b[31m\udcff", processes=(GpuProcess(pid=1, name="b\n"),))
    cards.append(GpuReport(source="nvml", cards=(wild,)))

    host = probe.snapshot(tmp_path)
    file = tmp_path / "host.json"
    file.write_bytes(msgspec.json.encode(host))

    assert host.gpus[0].name == "A?[31m?"
    assert hosts.read(file).host == host


def test_a_snapshot_survives_its_way_through_json(tmp_path: Path) -> None:
    """It travels over the control API and into host files."""
    host = probe.snapshot(tmp_path)

    assert msgspec.json.decode(msgspec.json.encode(host), type=HostSnapshot) == host
