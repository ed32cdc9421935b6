"""The control group that limits an engine, in both versions and at every height."""

from pathlib import Path

import pytest

from studio.domain.readings import GroupReading, Pressure
from studio.host.memory_group import of

PID = 42
NO_LIMIT = str((1 << 63) - 4096)


def write(folder: Path, **files: str) -> None:
    """Write a group's files; `_` stands for the dot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def process(root: Path, text: str) -> None:
    """Say in which groups the process lies."""
    write(root / "proc" / str(PID), cgroup=text)


def test_the_second_version_tells_everything(tmp_path: Path) -> None:
    """As in a container of today."""
    process(tmp_path, "0::/system.slice/weir.service\n")
    write(
        tmp_path / "sys/fs/cgroup/system.slice/weir.service",
        memory__max="17179869184\n",
        memory__current="9000000000\n",
        memory__stat="anon 1\ninactive_file 500000000\nactive_file 500000000\n"
        "workingset_refault_anon 5\nworkingset_refault_file 10\n",
        memory__events="low 0\nhigh 3\nmax 12\noom 1\noom_kill 1\n",
        memory__pressure="some avg10=20.00 avg60=0.00 avg300=0.00 total=1\n",
    )
    (tmp_path / "sys/fs/cgroup/system.slice/weir.service/memory.swap.current").write_text("4096\n")

    assert of(PID, tmp_path) == GroupReading(
        path="/system.slice/weir.service",
        limit_bytes=17_179_869_184,
        used_bytes=8_000_000_000,
        swap_bytes=4096,
        limit_hits=12,
        kills=1,
        refault_bytes=40_960,
        pressure=Pressure(some=0.2),
    )


def test_the_first_version_tells_most(tmp_path: Path) -> None:
    """As on machines that were set up years ago."""
    process(tmp_path, "4:memory:/docker/abc\n0::/\n")
    write(
        tmp_path / "sys/fs/cgroup/memory/docker/abc",
        memory__limit_in_bytes="1000000000\n",
        memory__usage_in_bytes="900000000\n",
        memory__stat="total_inactive_file 100000000\ntotal_active_file 0\ntotal_swap 0\n"
        "total_workingset_refault_file 3\n",
        memory__failcnt="7\n",
        memory__oom_control="oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
    )

    assert of(PID, tmp_path) == GroupReading(
        path="/docker/abc",
        limit_bytes=1_000_000_000,
        used_bytes=800_000_000,
        swap_bytes=0,
        limit_hits=7,
        kills=0,
        refault_bytes=12_288,
    )


@pytest.mark.parametrize(
    ("cgroup", "folder", "file"),
    [
        ("0::/\n", "sys/fs/cgroup", {"memory__max": "max\n"}),
        ("4:memory:/\n", "sys/fs/cgroup/memory", {"memory__limit_in_bytes": NO_LIMIT}),
        ("", "sys/fs/cgroup", {"memory__max": "1000\n"}),
        ("nonsense", "sys/fs/cgroup", {}),
    ],
)
def test_no_limit_is_none(tmp_path: Path, cgroup: str, folder: str, file: dict[str, str]) -> None:
    """Then nothing can be near it."""
    process(tmp_path, cgroup)
    write(tmp_path / folder, **file)

    assert of(PID, tmp_path) is None


def test_the_tightest_on_the_way_up_counts(tmp_path: Path) -> None:
    """A slice may allow less than the unit in it."""
    process(tmp_path, "0::/slice/unit\n")
    base = tmp_path / "sys/fs/cgroup"
    write(base / "slice/unit", memory__max="9000\n", memory__current="1000\n")
    write(base / "slice", memory__max="8000\n", memory__current="7500\n")

    found = of(PID, tmp_path)

    assert found is not None
    assert (found.path, found.limit_bytes) == ("/slice", 8000)


def test_a_path_of_the_host_is_looked_for_at_the_top(tmp_path: Path) -> None:
    """A container sees its own group as the root, and its path as the host's."""
    process(tmp_path, "0::/../../docker/abc\n")
    write(tmp_path / "sys/fs/cgroup", memory__max="5000\n", memory__current="10\n")

    found = of(PID, tmp_path)

    assert found is not None
    assert found.limit_bytes == 5000


def test_a_process_that_is_gone_has_none(tmp_path: Path) -> None:
    """It ended meanwhile."""
    assert of(PID, tmp_path) is None
