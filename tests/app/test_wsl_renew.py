"""The program inside the Studio's Linux follows the one of Windows."""

import fcntl
import lzma
import os
import subprocess
import tarfile
from pathlib import Path

import psutil
import pytest

from studio.app import wsl_renew, wsl_rootfs
from studio.app.wsl_renew import Renewal
from studio.domain.errors import StudioError
from studio.host.wsl_exe import Answer, WslExe
from tests.fakes.waiting import until
from tests.fakes.wsl import FakeWsl

NEW = "2.0.0"


def renewal(tmp_path: Path, **inside: str) -> tuple[FakeWsl, Renewal, Path]:
    """Return a Linux in which commands answer, and a root file system that is no xz."""
    fake = FakeWsl.made(tmp_path / "windows", names=["weir-studio"], inside=inside)
    rootfs = tmp_path / "rootfs.tar"
    rootfs.write_bytes(b"tar")
    return fake, Renewal(WslExe(fake.environ), tmp_path / "home", NEW), rootfs


def scripts(fake: FakeWsl) -> list[list[str]]:
    """Return the calls that ran the script, as root."""
    return [call for call in fake.asked if "sh" in call]


@pytest.mark.parametrize(
    ("said", "is_renewed"),
    [("weir 1.9.0\n", True), (f"weir {NEW}\n", False), ("weir 2.0.1\n", False), (None, True)],
    ids=["older", "the same", "newer", "does not start"],
)
async def test_an_older_program_is_exchanged(
    tmp_path: Path, said: str | None, is_renewed: bool
) -> None:
    """A newer one stays: its databases may be newer, too."""
    known = {"/usr/bin/weir --version": said} if said is not None else {}
    fake, inside, rootfs = renewal(tmp_path, **known, sh=f"weir {NEW}\n")

    assert await inside.run(rootfs) is is_renewed

    assert len(scripts(fake)) == int(is_renewed)
    for call in scripts(fake):
        assert call[call.index("--user") + 1] == "root"
        assert call[-2:] == [str(rootfs), "/opt"]
    assert not (tmp_path / "home" / wsl_renew.SCRIPT_FILE).exists()


async def test_a_newer_program_that_windows_has_left_is_exchanged(tmp_path: Path) -> None:
    """Somebody went back there; another newer one was put inside by a person."""
    known = {"/usr/bin/weir --version": "weir 2.1.0\n", "sh": f"weir {NEW}\n"}
    fake, _inside, rootfs = renewal(tmp_path, **known)
    exe, home = WslExe(fake.environ), tmp_path / "home"

    assert not await Renewal(exe, home, NEW, frozenset({"2.2.0"})).run(rootfs)
    assert await Renewal(exe, home, NEW, frozenset({"2.1.0"})).run(rootfs)


async def test_what_still_starts_stays_when_it_cannot_be_exchanged(tmp_path: Path) -> None:
    """And where nothing starts, that is said instead of waiting for a service."""
    known = {"/usr/bin/weir --version": "weir 1.0.0\n"}
    _fake, inside, rootfs = renewal(tmp_path, **known)
    assert await inside.run(rootfs) is False

    _fake, broken, rootfs = renewal(tmp_path / "second")
    with pytest.raises(StudioError) as caught:
        await broken.run(rootfs)
    assert caught.value.code == "wsl-not-renewed"
    assert await broken.run(tmp_path / "none.tar") is False


class Slow(WslExe):
    """A machine on which everything inside takes too long; keeps what was asked."""

    def __init__(self) -> None:
        super().__init__({})
        self.asked: list[tuple[str, ...]] = []

    async def inside(
        self, _name: str, *argv: str, user: str | None = None, within_s: float = 30.0
    ) -> Answer:
        """Take too long."""
        self.asked.append((*argv, user or "", f"{within_s:.0f}"))
        return Answer(status=None, text="")


async def test_a_machine_too_slow_to_answer_keeps_its_program(tmp_path: Path) -> None:
    """It may be a newer one, whose databases an older one cannot read."""
    rootfs = tmp_path / "rootfs.tar"
    rootfs.write_bytes(b"tar")
    slow = Slow()

    assert await Renewal(slow, tmp_path / "home", NEW).run(rootfs) is False

    assert [words[0] for words in slow.asked] == ["/usr/bin/weir"]


def command(tmp_path: Path, program: str) -> list[str]:
    """Return the script's call for a root file system with that program, in paths with blanks."""
    made = tmp_path / "root/opt/weir-studio"
    made.mkdir(parents=True)
    (made / "weir").write_text(program, encoding="ascii")
    (made / "weir").chmod(0o755)
    archive = tmp_path / "root fs.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(tmp_path / "root", arcname=".")
    script = tmp_path / "renew it.sh"
    script.write_bytes(wsl_renew.SCRIPT)
    return ["sh", str(script), str(archive), str(tmp_path / "öpt here")]


def exchanged(tmp_path: Path, program: str) -> "subprocess.CompletedProcess[str]":
    """Run the script on a root file system with that program."""
    return subprocess.run(command(tmp_path, program), capture_output=True, text=True, check=False)


@pytest.mark.parametrize("before", ["old", "nothing"])
def test_the_script_puts_the_new_program_there(tmp_path: Path, before: str) -> None:
    """Also after a kill between its two renames, and nothing else stays."""
    place = tmp_path / "öpt here"
    (place / ".weir-studio.old").mkdir(parents=True)
    if before == "old":
        (place / "weir-studio").mkdir()
        (place / "weir-studio/old").touch()

    done = exchanged(tmp_path, f"#!/bin/sh\necho weir {NEW}\n")

    assert (done.returncode, done.stdout) == (0, f"weir {NEW}\n"), done.stderr
    assert [path.name for path in place.iterdir()] == ["weir-studio"]
    assert [path.name for path in (place / "weir-studio").iterdir()] == ["weir"]


def test_a_program_that_does_not_start_changes_nothing(tmp_path: Path) -> None:
    """It is tried where it lies beside."""
    place = tmp_path / "öpt here"
    (place / "weir-studio").mkdir(parents=True)
    (place / "weir-studio/old").touch()

    assert exchanged(tmp_path, "#!/bin/sh\nexit 3\n").returncode == 3

    assert (place / "weir-studio/old").exists()


def test_after_a_kill_between_the_renames_the_older_one_is_back_first(tmp_path: Path) -> None:
    """Else a new one that does not start, or a full disk, would leave none."""
    old = tmp_path / "öpt here/.weir-studio.old"
    old.mkdir(parents=True)
    (old / "old").touch()

    assert exchanged(tmp_path, "#!/bin/sh\nexit 3\n").returncode == 3

    assert (old.parent / "weir-studio/old").exists()


def test_two_at_once_take_turns(tmp_path: Path) -> None:
    """A window and a terminal after an update: one would empty the folder that the other fills."""
    place = tmp_path / "öpt here"
    (place / ".weir-studio.new").mkdir(parents=True)
    (place / ".weir-studio.new/of another").touch()
    words = command(tmp_path, "#!/bin/sh\n")
    held = os.open(place, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)

    with subprocess.Popen(words) as running:
        shell = psutil.Process(running.pid)
        until(lambda: [one.name() for one in shell.children()] == ["flock"], "it waits")
        assert (place / ".weir-studio.new/of another").exists()
        os.close(held)

    assert running.returncode == 0
    assert [path.name for path in place.iterdir()] == ["weir-studio"]


async def test_a_file_that_a_scanner_holds_back_is_no_failure(tmp_path: Path) -> None:
    """The Linux is as it should be; the next exchange writes over what stayed."""
    (tmp_path / "wsl").mkdir()
    packed = tmp_path / "rootfs.tar.xz"
    packed.write_bytes(lzma.compress(b"tar"))

    async with wsl_rootfs.plain(packed, tmp_path / "wsl") as archive:
        archive.unlink()
        archive.mkdir()

    assert archive.is_dir()
