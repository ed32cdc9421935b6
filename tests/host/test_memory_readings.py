"""Memory as the kernel counts it: of this very process, and of files that say odd things."""

import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

from studio.host import memory_readings as readings

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")


def test_this_machine_tells() -> None:
    """Not one field is made up, and none that Linux has is missing."""
    now = readings.host()

    assert now.available_bytes is not None
    assert now.available_bytes > 0
    assert now.swapped_in_bytes is not None
    assert now.refault_bytes is not None
    assert now.swap_bytes is not None


def test_a_process_and_its_children_are_one_engine() -> None:
    """A vLLM is an API server, a core and workers."""
    child = subprocess.Popen(["sleep", "60"])
    try:
        family = readings.family(os.getpid())
    finally:
        child.kill()
        child.wait()

    assert {os.getpid(), child.pid} <= family


def test_shared_memory_of_this_process_is_seen() -> None:
    """The arena of experts is one."""
    before = readings.engine({os.getpid()}, os.getpid()).shared_bytes
    size = 8 << 20
    with mmap.mmap(-1, size) as arena:
        arena.write(b"x" * size)
        after = readings.engine({os.getpid()}, os.getpid()).shared_bytes

    assert before is not None
    assert after is not None
    assert after - before >= size


def test_faults_and_reads_of_this_process_are_known() -> None:
    """Counters, since it began."""
    now = readings.engine({os.getpid()}, os.getpid())

    assert now.swap_bytes is not None
    assert now.major_faults is not None
    assert now.disk_read_bytes is not None


def test_a_process_that_is_gone_is_left_out(tmp_path: Path) -> None:
    """And one that never was makes everything unknown."""
    gone = readings.engine({1_000_000_000}, 1_000_000_000)

    assert readings.family(1_000_000_000) == frozenset()
    assert (gone.swap_bytes, gone.shared_bytes, gone.major_faults) == (None, None, None)


def test_a_name_with_brackets_does_not_shift_the_fields(tmp_path: Path) -> None:
    """`comm` is whatever a program calls itself."""
    folder = tmp_path / "proc" / "9"
    folder.mkdir(parents=True)
    (folder / "stat").write_text("9 (VLLM::Core) R 1) S 1 9 9 0 -1 0 500 0 77 0 1 2 3\n")
    (folder / "status").write_text("Name:\tx\nVmSwap:\t 10 kB\n")

    seen = readings.engine({9}, 9, tmp_path)

    assert (seen.major_faults, seen.swap_bytes, seen.disk_read_bytes) == (77, 10_240, None)


def test_old_kernels_have_one_word_for_refaults(tmp_path: Path) -> None:
    """Before 5.9."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/vmstat").write_text("pswpin 1\npswpout 2\nworkingset_refault 3\n")

    seen = readings.host(tmp_path)

    assert (seen.swapped_in_bytes, seen.swapped_out_bytes, seen.refault_bytes) == (
        4096,
        8192,
        12_288,
    )
    assert seen.pressure is None
    assert seen.available_bytes is None
