"""The machine as it is, with nothing invented."""

import os
import sys
from pathlib import Path

import psutil

from studio.host import probe


def test_the_snapshot_tells_this_machine(tmp_path: Path) -> None:
    """Everything a person checks first."""
    host = probe.snapshot(tmp_path / "not made yet")

    assert host.platform == f"{sys.platform}-{os.uname().machine}"
    assert host.memory_bytes == psutil.virtual_memory().total
    assert host.cpu_count == len(os.sched_getaffinity(0))
    assert host.disk_free_bytes is not None
    assert host.disk_free_bytes > 0


def test_no_card_comes_with_the_reason(tmp_path: Path) -> None:
    """An empty list alone would leave the person guessing: no card, or no driver?"""
    host = probe.snapshot(tmp_path)

    assert bool(host.gpus) != bool(host.gpu_note)
