"""Clearing roots in which this machine's /dev may still be mounted."""

import re
import shutil
import signal
import subprocess
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
def jail(tmp_path: Path) -> roots.Root:
    """A folder in which one program runs as in a root: a copy of `sleep` and its libraries."""
    folder = tmp_path / "Jörg's root"
    sleep = shutil.which("sleep")
    assert sleep is not None
    told = subprocess.run(["ldd", sleep], capture_output=True, text=True, check=True).stdout
    for name in (sleep, *re.findall(r"/\S+", told)):
        (folder / name[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, folder / name[1:])
    made = roots.Root(folder)
    if made.run("sleep", "0", check=False):
        pytest.skip("nobody may change the root here")
    return made


def test_what_a_killed_trial_left_is_taken_off(jail: roots.Root) -> None:
    """Its engine runs on and its folders are mounted; the next trial shall not need a person."""
    with jail.start("sleep", "120") as left:
        inside = Path(f"/proc/{left.pid}/root")
        until(lambda: inside.readlink() == jail.folder, "the process to be in its root")

        with small_disk.mounted(jail.folder / "dev", 1 << 20) as disk:
            (disk / "null").touch()

            roots.release(jail.folder)

            assert left.wait(30) == -signal.SIGKILL
            roots.require_nothing_mounted(jail.folder)
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
