"""The script inside the .run, on a stand-in of the frozen folder: a shell script named `weir`."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from installer.deb import ICON, LINUX
from tests.fakes import small_disk
from tests.fakes.waiting import until

WEIR = '#!/bin/sh\n[ "$1" = --version ] && echo "weir {version}" || echo "runs {version}: $*"\n'


def unpacked(folder: Path, version: str, *, kilobytes: int = 10, says: str = "") -> Path:
    """Return a folder as the .run unpacks it."""
    payload = folder / f"unpacked-{version}"
    program = payload / "weir-studio"
    (program / "_internal/PySide6").mkdir(parents=True)
    (program / "_internal/PySide6/QtCore.so").write_bytes(b"qt")
    (program / "_internal/base.zip").write_bytes(b"rest")
    (program / "window.txt").write_text("_internal/PySide6\n", encoding="utf-8")
    (program / "weir").write_text(says or WEIR.format(version=version), encoding="utf-8")
    (program / "weir").chmod(0o755)
    names = sorted(str(path.relative_to(program)) for path in program.rglob("*") if path.is_file())
    (program / "files.txt").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    for source in (LINUX / "install.sh", LINUX / "weir-studio.desktop"):
        shutil.copy(source, payload)
    shutil.copyfile(ICON, payload / "weir-studio.svg")
    (payload / "VERSION").write_text(f"{version}\n", encoding="utf-8")
    (payload / "KILOBYTES").write_text(f"{kilobytes}\n", encoding="utf-8")
    return payload


def install(payload: Path, prefix: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Run the script."""
    return subprocess.run(
        ["sh", str(payload / "install.sh"), "--prefix", str(prefix), *more],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def started(prefix: Path) -> str:
    """Return what the installed command says."""
    command = [str(prefix / "bin/weir"), "up"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def versions(prefix: Path) -> list[str]:
    """Return the folders that lie there."""
    return sorted(path.name for path in (prefix / "opt/weir-studio").iterdir() if path.is_dir())


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """Return where to install: not an easy name."""
    return tmp_path / "Jörg's $HOME & 50%"


@pytest.mark.parametrize("mark", [".dropbox.cache", ".stfolder", ".sync_4e0f.db"])
def test_a_folder_that_is_copied_to_a_cloud_is_refused(
    tmp_path: Path, prefix: Path, mark: str
) -> None:
    """With the reason, and before anything is written."""
    prefix.mkdir()
    (prefix / mark).mkdir()

    done = install(unpacked(tmp_path, "1.0.0"), prefix / "programs of mine")

    assert done.returncode == 1
    assert f"{prefix} is copied by a sync service" in done.stderr
    assert [path.name for path in prefix.iterdir()] == [mark]


def test_a_disk_that_fills_up_leaves_the_version_before(tmp_path: Path) -> None:
    """Really full: the space was there when it was asked for, and somebody else took it."""
    with small_disk.mounted(tmp_path / "disk", 24 << 20) as disk:
        install(unpacked(tmp_path, "1.0.0"), disk)
        payload = unpacked(tmp_path, "1.1.0")
        (payload / "weir-studio/_internal/base.zip").write_bytes(b"x" * (30 << 20))

        done = install(payload, disk)

        assert done.returncode == 1
        assert "could not be copied" in done.stderr
        assert started(disk) == "runs 1.0.0: up"
        versions = {path.name for path in (disk / "opt/weir-studio").iterdir()}
        assert versions == {"1.0.0", "current", "installed"}


def test_a_person_gets_command_menu_entry_and_icon(tmp_path: Path, prefix: Path) -> None:
    """Also where the folder's name is full of signs that shells and menus care about."""
    done = install(unpacked(tmp_path, "1.0.0"), prefix)

    assert done.returncode == 0, done.stderr
    assert started(prefix) == "runs 1.0.0: up"
    entry = (prefix / "share/applications/weir-studio.desktop").read_text(encoding="utf-8")
    [line] = [line for line in entry.splitlines() if line.startswith("Exec=")]
    assert line.endswith('/opt/weir-studio/current/weir" ui')
    assert "\\\\$HOME & 50%%" in line
    assert (prefix / "share/icons/hicolor/scalable/apps/weir-studio.svg").is_file()
    listed = (prefix / "opt/weir-studio/installed").read_text(encoding="utf-8").splitlines()
    assert all(Path(line).exists() for line in listed)
    assert len(listed) == 3


def test_without_a_window_nothing_of_qt_comes_along(tmp_path: Path, prefix: Path) -> None:
    """A box without a screen needs no menu entry either."""
    install(unpacked(tmp_path, "1.0.0"), prefix, "--headless")

    assert started(prefix) == "runs 1.0.0: up"
    assert not (prefix / "opt/weir-studio/1.0.0/_internal/PySide6").exists()
    assert (prefix / "opt/weir-studio/1.0.0/_internal/base.zip").is_file()
    assert not (prefix / "share").exists()


def test_an_upgrade_keeps_the_version_before_and_drops_older_ones(
    tmp_path: Path, prefix: Path
) -> None:
    """There is a way back, and the disk does not fill."""
    for version in ("1.0.0", "1.1.0", "1.2.0"):
        install(unpacked(tmp_path, version), prefix)

    assert started(prefix) == "runs 1.2.0: up"
    kept = sorted(path.name for path in (prefix / "opt/weir-studio").iterdir() if path.is_dir())
    assert kept == ["1.1.0", "1.2.0", "current"]


def test_a_version_that_runs_is_not_taken_away(tmp_path: Path, prefix: Path) -> None:
    """The service of an old version serves on."""
    install(unpacked(tmp_path, "1.0.0"), prefix)
    sleeper = prefix / "opt/weir-studio/1.0.0/sleeper"
    shutil.copyfile("/bin/sleep", sleeper)
    sleeper.chmod(0o755)
    with subprocess.Popen([str(sleeper), "600"]) as running:
        try:
            until(lambda: Path(f"/proc/{running.pid}/exe").readlink() == sleeper, "the sleeper")
            for version in ("1.1.0", "1.2.0", "1.3.0"):
                install(unpacked(tmp_path, version), prefix)
            assert sleeper.is_file()
            assert not (prefix / "opt/weir-studio/1.1.0").exists()
        finally:
            running.kill()


def test_a_version_that_does_not_start_changes_nothing(tmp_path: Path, prefix: Path) -> None:
    """An old libc, a half file: what was installed stays in place and in use."""
    install(unpacked(tmp_path, "1.0.0"), prefix)

    broken = install(
        unpacked(tmp_path, "1.1.0", says="#!/bin/sh\necho 'GLIBC_2.99 not found'; exit 1\n"), prefix
    )

    assert broken.returncode == 1
    assert "GLIBC_2.99 not found" in broken.stderr
    assert "hint: " in broken.stderr
    assert started(prefix) == "runs 1.0.0: up"
    assert sorted(path.name for path in (prefix / "opt/weir-studio").iterdir()) == [
        "1.0.0", "current", "installed",
    ]  # fmt: skip


def test_a_wrong_version_behind_the_right_name_is_refused(tmp_path: Path, prefix: Path) -> None:
    """A mixed-up download."""
    done = install(unpacked(tmp_path, "1.1.0", says=WEIR.format(version="0.9")), prefix)

    assert done.returncode == 1
    assert "weir 0.9" in done.stderr
    assert not (prefix / "bin/weir").exists()


def test_a_command_of_somebody_else_stays(tmp_path: Path, prefix: Path) -> None:
    """Ours is named instead."""
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin/weir").write_text("theirs", encoding="utf-8")

    done = install(unpacked(tmp_path, "1.0.0"), prefix)

    assert (prefix / "bin/weir").read_text(encoding="utf-8") == "theirs"
    assert "is not ours" in done.stdout
    assert str(prefix / "bin/weir") not in (prefix / "opt/weir-studio/installed").read_text()


def test_a_full_disk_is_told_before_the_first_byte(tmp_path: Path, prefix: Path) -> None:
    """With what is needed and what is free."""
    done = install(unpacked(tmp_path, "1.0.0", kilobytes=10**12), prefix)

    assert done.returncode == 1
    assert "MB are needed" in done.stderr
    assert not (prefix / "bin").exists()


def test_what_a_person_put_beside_and_into_a_version_stays(tmp_path: Path, prefix: Path) -> None:
    """Also where the version itself goes."""
    install(unpacked(tmp_path, "1.0.0"), prefix)
    program = prefix / "opt/weir-studio"
    (program / "notes.txt").write_text("mine", encoding="utf-8")
    (program / "1.0.0/_internal/mine.txt").write_text("mine", encoding="utf-8")

    install(unpacked(tmp_path, "1.1.0"), prefix)
    done = install(unpacked(tmp_path, "1.2.0"), prefix)

    assert (program / "notes.txt").read_text(encoding="utf-8") == "mine"
    left = [path for path in (program / "1.0.0").rglob("*") if path.is_file()]
    assert [path.name for path in left] == ["mine.txt"]
    assert "1.0.0 holds files that are not ours" in done.stdout


def test_a_folder_of_somebody_else_under_a_versions_name_stops_the_installation(
    tmp_path: Path, prefix: Path
) -> None:
    """Nothing in it is touched."""
    theirs = prefix / "opt/weir-studio/1.0.0/theirs.txt"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("theirs", encoding="utf-8")

    done = install(unpacked(tmp_path, "1.0.0"), prefix)

    assert done.returncode == 1
    assert "is not ours" in done.stderr
    assert theirs.read_text(encoding="utf-8") == "theirs"
    assert not (prefix / "bin").exists()


def test_a_staged_version_lies_beside_and_is_not_used(tmp_path: Path, prefix: Path) -> None:
    """An update switches when its service has come up."""
    install(unpacked(tmp_path, "1.0.0"), prefix)

    done = install(unpacked(tmp_path, "1.1.0"), prefix, "--stage")

    assert done.returncode == 0, done.stderr
    assert started(prefix) == "runs 1.0.0: up"
    assert (prefix / "opt/weir-studio/1.1.0/weir").is_file()


def test_the_same_version_again_takes_the_place_of_the_files(tmp_path: Path, prefix: Path) -> None:
    """A repair; a file of a person's stays beside."""
    install(unpacked(tmp_path, "1.0.0"), prefix)
    version = prefix / "opt/weir-studio/1.0.0"
    (version / "_internal/base.zip").write_bytes(b"damaged")
    (version / "mine.txt").write_bytes(b"mine")

    done = install(tmp_path / "unpacked-1.0.0", prefix)

    assert (version / "_internal/base.zip").read_bytes() == b"rest"
    assert "1.0.0.old holds files that are not ours" in done.stdout
    assert (version.parent / "1.0.0.old/mine.txt").read_bytes() == b"mine"
    assert started(prefix) == "runs 1.0.0: up"


@pytest.mark.parametrize("in_use", ["1.1.0", "1.1.0.part", "1.1.0.new"])
def test_the_same_version_again_leaves_the_way_back(
    tmp_path: Path, prefix: Path, in_use: str
) -> None:
    """A second click on the same file; also after a power cut while it was installed again."""
    for version in ("1.0.0", "1.1.0"):
        install(unpacked(tmp_path, version), prefix)
    versions = prefix / "opt/weir-studio"
    if in_use != "1.1.0":
        shutil.copytree(versions / "1.1.0", versions / in_use)
        (versions / "current").unlink()
        (versions / "current").symlink_to(in_use)
        shutil.copytree(versions / "1.1.0", versions / "1.1.0.copy")

    done = install(tmp_path / "unpacked-1.1.0", prefix)

    assert (done.returncode, done.stderr) == (0, "")
    assert started(prefix) == "runs 1.1.0: up"
    kept = sorted(path.name for path in versions.iterdir() if path.is_dir())
    assert kept == ["1.0.0", "1.1.0", "current"]
    assert (versions / "1.0.0/weir").is_file()


@pytest.mark.parametrize("option", ["--wrong", "--prefix"])
def test_a_mistyped_option_installs_nothing(tmp_path: Path, prefix: Path, option: str) -> None:
    """With the options that there are."""
    done = install(unpacked(tmp_path, "1.0.0"), prefix, option)

    assert done.returncode == 1
    assert "--prefix" in done.stderr
    assert not (prefix / "bin").exists()


def kill_at(payload: Path, prefix: Path, delay: int) -> bool:
    """Run the script under a shell that kills it at its command `delay`; say if it did."""
    watched = payload / "killed.sh"
    text = (payload / "install.sh").read_text(encoding="utf-8")
    head, _, rest = text.partition("set -eu\n")
    trap = f"set -eu\nN=0\ntrap 'N=$((N + 1)); [ $N -lt {delay} ] || kill -9 $$' DEBUG\n"
    watched.write_text(head + trap + rest, encoding="utf-8")
    done = subprocess.run(
        ["bash", str(watched), "--prefix", str(prefix)],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode in (0, -signal.SIGKILL)
    return done.returncode != 0


@pytest.mark.parametrize("delay", [3, 12, 20, 26, 30, 34, 38, 42, 46, 52, 60, 70])
def test_a_power_cut_leaves_the_old_version_or_the_new_one(
    tmp_path: Path, prefix: Path, delay: int
) -> None:
    """And a second run completes it."""
    install(unpacked(tmp_path, "1.0.0"), prefix)
    payload = unpacked(tmp_path, "1.1.0")

    assert kill_at(payload, prefix, delay)

    assert started(prefix) in ("runs 1.0.0: up", "runs 1.1.0: up")
    assert install(payload, prefix).returncode == 0
    assert started(prefix) == "runs 1.1.0: up"


@pytest.mark.parametrize("delay", [20, 34, 44, 46, 48, 50, 52, 54, 56, 60])
def test_a_power_cut_while_the_same_version_is_installed_again(
    tmp_path: Path, prefix: Path, delay: int
) -> None:
    """A repair takes away neither what it repairs nor the way back."""
    for version in ("0.9.0", "1.0.0"):
        install(unpacked(tmp_path, version), prefix)
    payload = tmp_path / "unpacked-1.0.0"

    assert kill_at(payload, prefix, delay)

    assert started(prefix) == "runs 1.0.0: up"
    assert install(payload, prefix).returncode == 0
    assert started(prefix) == "runs 1.0.0: up"
    assert versions(prefix) == ["0.9.0", "1.0.0", "current"]


@pytest.mark.soak
@pytest.mark.parametrize("delay", range(1, 160))
def test_a_power_cut_at_every_command_of_a_repair(tmp_path: Path, prefix: Path, delay: int) -> None:
    """Each place at which the script can end."""
    for version in ("0.9.0", "1.0.0"):
        install(unpacked(tmp_path, version), prefix)
    payload = tmp_path / "unpacked-1.0.0"

    assert kill_at(payload, prefix, delay)

    assert started(prefix) == "runs 1.0.0: up"
    assert install(payload, prefix).returncode == 0
    assert versions(prefix) == ["0.9.0", "1.0.0", "current"]


@pytest.mark.soak
@pytest.mark.parametrize("delay", range(1, 75))
def test_a_power_cut_at_every_command(tmp_path: Path, prefix: Path, delay: int) -> None:
    """Each place at which the script can end."""
    install(unpacked(tmp_path, "1.0.0"), prefix)
    payload = unpacked(tmp_path, "1.1.0")

    assert kill_at(payload, prefix, delay)

    assert started(prefix) in ("runs 1.0.0: up", "runs 1.1.0: up")
    assert install(payload, prefix).returncode == 0
    assert started(prefix) == "runs 1.1.0: up"


def test_libraries_that_came_along_are_not_told_as_missing(
    tmp_path: Path, prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program finds those in its own folder; a person would install four packages in vain."""
    payload = unpacked(tmp_path, "1.0.0")
    (payload / "weir-studio/_internal/libxcb-icccm.so.4").write_bytes(b"ours")
    (tmp_path / "bin").mkdir()
    ldd = tmp_path / "bin/ldd"
    ldd.write_text(
        "#!/bin/sh\n"
        'printf "\\tlibGL.so.1 => not found\\n\\tlibc.so.6 => /lib/libc.so.6 (0x1)\\n"\n'
        '[ -f "$LD_LIBRARY_PATH/libxcb-icccm.so.4" ] || echo "libxcb-icccm.so.4 => not found"\n',
        encoding="ascii",
    )
    ldd.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")

    said = install(payload, prefix).stdout

    [note] = [line for line in said.splitlines() if line.startswith("note: The window")]
    assert note.startswith("note: The window needs libraries that are missing here: libGL.so.1. On")


@pytest.mark.parametrize("name", ["1.0.0.old", "0.9.0", "2.0.0.old"])
def test_a_version_whose_removal_was_cut_off_goes_with_the_next(
    tmp_path: Path, prefix: Path, name: str
) -> None:
    """A kill after its program was gone left the rest for good; seen as `0.2.0.old`."""
    versions = prefix / "opt/weir-studio"
    (versions / name / "_internal/PySide6").mkdir(parents=True)
    (versions / name / "_internal/PySide6/QtCore.so").write_bytes(b"qt")
    (versions / name / "files.txt").write_text(
        "_internal/PySide6/QtCore.so\nweir\n", encoding="utf-8"
    )
    (versions / "0.8.0").mkdir()
    (versions / "a person's").mkdir()
    (versions / "a person's/notes.txt").write_text("mine", encoding="utf-8")

    done = install(unpacked(tmp_path, "1.0.0"), prefix)

    assert done.returncode == 0
    left = {path.name for path in versions.iterdir() if path.is_dir()}
    assert left == {"1.0.0", "current", "a person's"}
    assert "note:" not in done.stdout


def test_two_at_once_do_not_mix_and_a_lock_without_an_installation_is_none(
    tmp_path: Path, prefix: Path
) -> None:
    """The second is told. A killed one may be a zombie, another program may have its number."""
    lock = prefix / "opt/weir-studio/.installing"
    command = ["sh", "-c", "exec 1>&-; read never", "install.sh"]
    with (
        subprocess.Popen(["sleep", "600"]) as other,
        subprocess.Popen(["sh", "install.sh", "of", "nothing"], stderr=subprocess.DEVNULL) as gone,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as at_work,
    ):
        try:
            assert at_work.stdout is not None
            assert at_work.stdout.read() == b""  # it has begun
            os.waitid(os.P_PID, gone.pid, os.WEXITED | os.WNOWAIT)
            lock.mkdir(parents=True)
            (lock / "pid").write_text(f"{at_work.pid}\n", encoding="ascii")
            refused = install(unpacked(tmp_path, "1.0.0"), prefix)
            done = []
            for owner in (f"{other.pid}\n", f"{gone.pid}\n", "4194999\n", ""):
                lock.mkdir(exist_ok=True)
                (lock / "pid").write_text(owner, encoding="ascii")
                shutil.rmtree(tmp_path / "unpacked-1.0.0", ignore_errors=True)
                done.append(install(unpacked(tmp_path, "1.0.0"), prefix))
        finally:
            other.kill()
            at_work.kill()

    assert f"Another installation is under way (process {at_work.pid})" in refused.stderr
    assert [(one.returncode, one.stderr) for one in done] == [(0, "")] * 4
    assert not lock.exists()
