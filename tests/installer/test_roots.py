"""Clearing roots in which this machine's /dev may still be mounted."""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from installer import roots
from tests.fakes import small_disk
from tests.fakes.waiting import until


def test_a_root_with_something_mounted_is_not_removed(tmp_path: Path) -> None:
    """A trial that was cut off leaves /dev of the whole machine in it."""
    root = tmp_path / "Jörg's root"
    with small_disk.mounted(root / "dev", 1 << 20) as disk:
        (disk / "null").touch()

        with pytest.raises(RuntimeError, match="is mounted"):
            roots.clear(root)

        assert (disk / "null").exists()
    roots.clear(root)
    assert not root.exists()


@pytest.fixture
def jail(tmp_path: Path) -> Iterator[roots.Root]:
    """A folder with this machine's programs, in which commands run as in a root."""
    folder = tmp_path / "Jörg's root"
    for name in ("usr", "bin", "lib", "lib64", "dev"):
        (folder / name).mkdir(parents=True)
    mounted = []
    try:
        for name in ("usr", "bin", "lib", "lib64"):
            command = ["mount", "--bind", f"/{name}", str(folder / name)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
            mounted.append(folder / name)
        yield roots.Root(folder)
    finally:
        for place in mounted:
            subprocess.run(["umount", "--lazy", str(place)], check=False, capture_output=True)


def test_what_a_killed_trial_left_is_taken_off(jail: roots.Root) -> None:
    """Its engine runs on and its folders are mounted; the next trial shall not need a person."""
    command = ["mount", "-t", "tmpfs", "weir-test", str(jail.folder / "dev")]
    with jail.start("sleep", "60") as left:
        subprocess.run(command, check=True)
        inside = Path(f"/proc/{left.pid}/root")
        until(lambda: inside.readlink() == jail.folder, "the process to be in its root")

        roots.release(jail.folder)

        assert left.wait(30) == -signal.SIGKILL
    assert Path("/usr/bin/env").exists()
    roots.clear(jail.folder)
    assert not jail.folder.exists()


def test_a_command_that_hangs_is_ended_and_told(jail: roots.Root) -> None:
    """A trial in the night shall end, and say where it stood."""
    with pytest.raises(RuntimeError, match=r"sleep 600: not done after 0 s"):
        jail.run("sleep", "600", within_s=0.1)


def test_names_are_found_also_where_every_package_changes_things(tmp_path: Path) -> None:
    """What dpkg keeps of a package after its removal shall not be overlooked."""
    noted = tmp_path / "var/lib/dpkg/info/weir-studio.list"
    noted.parent.mkdir(parents=True)
    noted.write_text("/.\n/bin\n/bin/weir\n/usr/bin/weir\n", encoding="utf-8")
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/weir").touch()
    made = roots.Root(tmp_path)

    assert made.named("weir") == {"/var/lib/dpkg/info/weir-studio.list"}
    assert made.files() == set()
    assert {"usr/bin/weir", "bin"} <= made.owned()
