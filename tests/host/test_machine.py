"""Processor, limits, clock and language."""

import datetime
import os
from pathlib import Path

import pytest

from studio.host import machine


def cpuinfo(root: Path, text: str) -> Path:
    """Write what the kernel says of the processor."""
    (root / "proc").mkdir()
    (root / "proc/cpuinfo").write_text(text, encoding="utf-8")
    return root


def test_the_abilities_that_decide_are_kept(tmp_path: Path) -> None:
    """Hundreds are listed; a handful decide which kernels an engine has."""
    text = "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu avx avx2 sse4_2 rtm avx512f\n"
    root = cpuinfo(tmp_path, text)

    assert machine.cpu_name(root) == "AMD EPYC"
    assert machine.cpu_flags(root) == ("avx", "avx2", "avx512f", "sse4_2")


def test_an_arm_processor_lists_them_under_another_name(tmp_path: Path) -> None:
    """Grace and Graviton."""
    root = cpuinfo(tmp_path, "processor : 0\nFeatures : fp asimd sve bf16\n")

    assert machine.cpu_flags(root) == ("asimd", "bf16", "sve")


def test_abilities_that_are_not_listed_are_unknown(tmp_path: Path) -> None:
    """Unknown is not `has none`."""
    assert machine.cpu_flags(tmp_path) is None


def test_the_clock_is_not_before_the_programs_own_files() -> None:
    """A machine whose battery is empty wakes up in the year 2000."""
    found = machine.clock()

    now = datetime.datetime.fromisoformat(found.now)
    assert now.tzinfo is not None
    assert abs(now.timestamp() - datetime.datetime.now(datetime.UTC).timestamp()) < 60
    assert found.not_before is not None
    assert datetime.datetime.fromisoformat(found.not_before) <= now
    assert found.is_synchronized in (True, False, None)


def test_shared_memory_is_measured_where_it_is(tmp_path: Path) -> None:
    """And unknown where there is none."""
    sizes = os.statvfs(tmp_path)

    assert machine.shared_memory(tmp_path)[0] == sizes.f_blocks * sizes.f_frsize
    assert machine.shared_memory(tmp_path / "missing") == (None, None)


@pytest.mark.parametrize(
    ("variables", "name"),
    [
        ({"LC_ALL": "C.UTF-8", "LANG": "de_DE"}, "C.UTF-8"),
        ({"LC_ALL": "", "LC_CTYPE": "", "LANG": "de_DE.ISO-8859-1"}, "de_DE.ISO-8859-1"),
    ],
)
def test_the_language_is_the_one_that_counts(
    variables: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LC_ALL goes before the others, and an empty one is none."""
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)

    assert machine.locale_name() == name


def test_cores_and_threads_are_counted() -> None:
    """Threads by what this process may use, cores by what there is."""
    assert machine.cpu_count() == len(os.sched_getaffinity(0))
    assert machine.cpu_cores() is None or machine.cpu_cores() >= 1
