"""The machine around the cards."""

from typing import Any

import pytest

from studio.doctor import report
from studio.domain.doctor import EVERYTHING, Check, Level
from studio.domain.hardware import UNLIMITED, ClockFacts, ContainerFacts, ProcessLimits
from tests.doctor.cases import CU13, GIB, MIB, SM70, all_said, host, said

CPU = ("cpu-vllm-0.31.0", "cpu-vllm-0.32.0")


def of(code: str, **changes: Any) -> Check:
    """Return the check of that code on a changed 3090 machine."""
    return said(host(**changes), code)


@pytest.mark.parametrize(
    ("system", "machine"), [("darwin", "aarch64"), ("windows", "x86_64"), ("linux", "aarch64")]
)
def test_a_platform_without_runtimes_stops_everything(system: str, machine: str) -> None:
    """And Windows is shown the way through WSL."""
    check = of("platform", system=system, machine=machine)

    assert check.level is Level.STOPS
    assert check.stops == (EVERYTHING,)
    assert ("weir wsl setup" in (check.advice or "")) is (system == "windows")


def test_a_catalogue_without_runtimes_names_no_platforms() -> None:
    """A list of nothing read as `for .`."""
    (check,) = (one for one in report.checks(host(), []) if one.code == "platform")

    assert check.level is Level.STOPS
    assert "holds no runtime" in (check.advice or "")


@pytest.mark.parametrize(
    ("glibc", "level"),
    [("2.31", Level.GOOD), ("2.39", Level.GOOD), ("2.28", Level.STOPS)],
)
def test_an_old_c_library_stops_what_is_built_for_a_newer(glibc: str, level: Level) -> None:
    """The install would fail after gigabytes."""
    check = of("glibc", glibc=glibc)

    assert check.level is level
    assert check.stops == ((EVERYTHING,) if level is Level.STOPS else ())


def test_a_system_without_glibc_is_not_judged() -> None:
    """musl has none; the platform's check speaks."""
    assert all_said(host(glibc=None), "glibc") == []


@pytest.mark.parametrize(
    ("flags", "level", "words"),
    [
        (("avx2", "avx512f"), Level.GOOD, "AVX-512"),
        (("avx2",), Level.GOOD, "AVX2"),
        (("avx",), Level.STOPS, "without AVX2"),
        (None, Level.GOOD, "threads"),
    ],
)
def test_the_processor_decides_about_runtimes_on_it(
    flags: tuple[str, ...] | None, level: Level, words: str
) -> None:
    """Virtual machines often hide AVX2; cards do not mind."""
    check = of("processor", cpu_flags=flags)

    assert check.level is level
    assert words in check.found
    assert check.stops == (CPU if level is Level.STOPS else ())


@pytest.mark.parametrize(
    ("memory", "free", "level", "stops"),
    [
        (64 * GIB, 60 * GIB, Level.GOOD, ()),
        (4 * GIB, 3 * GIB, Level.STOPS, CPU),
        (64 * GIB, 5 * GIB, Level.LOOK, ()),
        (None, None, Level.UNKNOWN, ()),
        (64 * GIB, None, Level.GOOD, ()),
    ],
)
def test_memory_is_measured_against_what_runtimes_need(
    memory: int | None, free: int | None, level: Level, stops: tuple[str, ...]
) -> None:
    """Five gigabytes for the small ones."""
    check = of("memory", memory_bytes=memory, memory_free_bytes=free)

    assert check.level is level
    assert check.stops == stops


def test_a_containers_limit_counts_and_not_the_machines_memory() -> None:
    """The kernel kills at the limit, whatever the machine has."""
    around = ContainerFacts(kind="docker", memory_limit_bytes=4 * GIB)

    check = of("memory", container=around)

    assert check.level is Level.STOPS
    assert "4.00 GiB by its control group" in check.found
    assert "container" in (check.advice or "")


def test_a_limit_that_is_none_changes_nothing() -> None:
    """`max` is a word for no limit."""
    around = ContainerFacts(kind="docker", memory_limit_bytes=UNLIMITED, cpu_limit=UNLIMITED)

    assert of("memory", container=around).level is Level.GOOD
    assert "without a limit" in of("container", container=around).found
    limited = ContainerFacts(kind="control-group", memory_limit_bytes=8 * GIB, cpu_limit=2.5)
    assert "8.00 GiB of memory and 2.5 processors" in of("container", container=limited).found


def test_swap_in_use_is_a_sign() -> None:
    """The machine is short of memory before anything is loaded."""
    assert of("swap", swap_free_bytes=GIB).level is Level.LOOK
    assert of("swap", swap_bytes=0, swap_free_bytes=0).level is Level.GOOD


@pytest.mark.parametrize(
    ("around", "words"), [(None, "remount"), (ContainerFacts(kind="docker"), "--ipc=host")]
)
def test_little_shared_memory_is_told_with_the_remedy_of_the_place(
    around: ContainerFacts | None, words: str
) -> None:
    """Docker gives 64 MB, with which several cards fail."""
    check = of("shared-memory", shm_bytes=64 * MIB, container=around)

    assert check.level is Level.LOOK
    assert words in (check.advice or "")


@pytest.mark.parametrize(
    ("hard", "level"), [(1024, Level.LOOK), (20_000, Level.GOOD), (UNLIMITED, Level.GOOD)]
)
def test_the_hard_limit_of_files_counts(hard: int, level: Level) -> None:
    """A program may raise the other one itself."""
    assert of("open-files", limits=ProcessLimits(open_files_hard=hard)).level is level


def test_the_usual_limit_of_files_is_said_where_it_is_raised() -> None:
    """Whoever looks with `ulimit -n` sees another number than the service has."""
    known = ProcessLimits(open_files=1024, open_files_hard=1_048_576)

    assert "raises the usual 1,024 by itself" in of("open-files", limits=known).found


@pytest.mark.parametrize(
    ("hard", "around", "cards", "is_told"),
    [
        (8 * MIB, ContainerFacts(kind="docker"), True, True),
        (8 * MIB, ContainerFacts(kind="docker"), False, False),
        (8 * MIB, ContainerFacts(kind="control-group"), True, False),
        (8 * MIB, None, True, False),
        (UNLIMITED, ContainerFacts(kind="docker"), True, False),
    ],
)
def test_locked_memory_is_told_of_where_it_hurts(
    hard: int, around: ContainerFacts | None, cards: bool, is_told: bool
) -> None:
    """A desktop's 8 MiB are usual, and the driver's own memory is not counted."""
    limits = ProcessLimits(locked_bytes_hard=hard)
    seen = host(limits=limits, container=around, **({} if cards else {"gpus": ()}))

    found = all_said(seen, "locked-memory")

    assert bool(found) is is_told


@pytest.mark.parametrize(
    ("core", "pattern", "is_told"),
    [
        (UNLIMITED, "core", True),
        (8 * GIB, "/var/crash/core.%p", True),
        (UNLIMITED, "|/usr/share/apport/apport %p", False),
        (0, "core", False),
        (UNLIMITED, None, False),
    ],
)
def test_core_dumps_are_told_of_where_they_fill_a_disk(
    core: int, pattern: str | None, is_told: bool
) -> None:
    """A crash of an engine would write its whole memory."""
    seen = host(limits=ProcessLimits(core_bytes=core, core_pattern=pattern))

    assert bool(all_said(seen, "core-dumps")) is is_told


@pytest.mark.parametrize(
    ("now", "level"),
    [
        ("2000-01-01T00:00:00Z", Level.LOOK),
        ("2026-11-29T12:00:00Z", Level.GOOD),
        ("nonsense", Level.UNKNOWN),
        ("2026-11-29T12:00:00", Level.GOOD),
    ],
)
def test_a_clock_before_the_programs_own_files_is_wrong(now: str, level: Level) -> None:
    """Then no certificate is valid, and every download fails with another message."""
    clock = ClockFacts(now=now, not_before="2026-11-01T00:00:00Z", is_synchronized=False)

    assert of("clock", clock=clock).level is level


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("C.UTF-8", Level.GOOD),
        ("de_DE.utf8@euro", Level.GOOD),
        ("C", Level.GOOD),
        ("zh_CN.GB18030", Level.LOOK),
    ],
)
def test_a_language_that_is_not_utf8_garbles(name: str, level: Level) -> None:
    """File names and chats."""
    assert of("locale", locale=name).level is level


def test_facts_that_are_missing_are_not_judged() -> None:
    """A host file may hold little."""
    bare = host("h200-linux")
    codes = ("swap", "shared-memory", "open-files", "clock", "locale", "container", "glibc")

    assert [check for code in codes for check in all_said(bare, code)] == []
    assert CU13
    assert SM70
