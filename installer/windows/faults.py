"""What the setup program refuses, and what it leaves where it cannot go on: part of the trial."""

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from installer import freeze
from installer.windows.tried import Trial, require, say, where

_CLOUD = r"C:\zoë\OneDrive"
_NOT_WRITTEN, _BUSY, _REFUSED = 2, 3, 4
"""Exit statuses of a silent run (weir-studio.nsi)."""
_DRIVE = "w:"


def try_all(trial: Trial) -> None:
    """Try everything. Raises: RuntimeError."""
    try_damaged(trial)
    try_synced(trial)
    try_two(trial)
    try_full(trial)


def try_damaged(trial: Trial) -> None:
    """Half a download, and one in which a byte is another, write nothing."""
    before = {path: path.stat().st_mtime_ns for path in trial.place.rglob("*")}
    whole = trial.setup.read_bytes()
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    for name, data in (("half", whole[:middle]), ("changed", changed)):
        damaged = trial.prefix.drive / f"{name}-setup.exe"
        damaged.write_bytes(data)
        done = trial.prefix.run(damaged, *where(), within_s=600, **trial.extra)
        trial.prefix.settle()
        damaged.unlink()
        require(done.status != 0, f"a {name} setup program ran")
    after = {path: path.stat().st_mtime_ns for path in trial.place.rglob("*")}
    require(before == after, "a damaged setup program wrote something")
    say("  a damaged setup program is refused")


def try_synced(trial: Trial) -> None:
    """A folder that OneDrive copies is refused; one whose name only begins like it is not."""
    trial.prefix.set_variable("OneDrive", _CLOUD)
    for place in (_CLOUD, rf"{_CLOUD}\Weir Studio", _CLOUD.upper()):
        done = trial.install(place)
        require(done.status == _REFUSED, f"{place}: status {done.status}")
    root = trial.prefix.drive / "zoë"
    require(not root.exists(), f"written there: {root}")
    trial.prefix.set_variable("OneDrive", "C:\\Prögramme für")
    require(trial.install().status == 0, "a folder beside OneDrive's was refused")
    say("  OneDrive's folder is refused, its neighbour is not")


def try_two(trial: Trial) -> None:
    """A second set-up is refused before it looks at its folder, which it would refuse, too."""
    trial.prefix.set_variable("OneDrive", _CLOUD)
    first = trial.started()
    try:
        while len(list(trial.place.glob("app-*/weir.exe"))) < 2 and first.poll() is None:
            time.sleep(0.01)  # until it writes
        status = trial.prefix.run(trial.setup, *where(_CLOUD), **trial.extra).status
        require(status == _BUSY, f"two at once: status {status}")
    finally:
        first.wait()
    trial.prefix.set_variable("OneDrive", "")
    trial.prefix.settle()
    require(trial.weir("--version").startswith("weir "), "no program after two at once")
    say("  two set-ups at once: the second is refused")


def try_full(trial: Trial) -> None:
    """A disk that fills up leaves nothing of a first installation, and the version before."""
    needed = freeze.size(trial.version)
    wanted = rf"{_DRIVE}\Wéir Studio"
    with _disk(trial, needed // 2) as disk:
        status = trial.install(wanted).status
        left = sorted(path.name for path in disk.rglob("*"))
        require(status == _NOT_WRITTEN and not left, f"full: status {status}, left {left}")
    with _disk(trial, needed + needed // 2) as disk:
        require(trial.install(wanted).status == 0, "the drive takes no installation")
        place = disk / "Wéir Studio"
        before = {path for path in place.rglob("*") if path.is_file()}
        status = trial.install(wanted).status
        after = {path for path in place.rglob("*") if path.is_file()}
        require(status == _NOT_WRITTEN, f"full while updating: status {status}")
        require(before == after, f"changed: {sorted(before ^ after)[:9]}")
        done = trial.prefix.run(place / "weir.exe", "--version", **trial.extra)
        require(done.text.startswith("weir "), f"the version before does not start: {done}")
        trial.prefix.run(place / "Uninstall.exe", "/S", **trial.extra)
        trial.prefix.settle()
        require(not place.exists(), "left on the drive")
    # The removal over there took the entries of this one along; one more set-up writes them again.
    require(trial.install().status == 0, "the installation after a full disk failed")
    say("  disk full: nothing left of a new installation, an older version stays whole")


@contextmanager
def _disk(trial: Trial, size_bytes: int) -> Iterator[Path]:
    """Have a small drive of its own in that Windows."""
    link = trial.prefix.folder / "dosdevices" / _DRIVE
    with tempfile.TemporaryDirectory(prefix="weir-drive-") as folder:
        size = f"size={size_bytes},mode=700"
        subprocess.run(["mount", "-t", "tmpfs", "-o", size, "weir-trial", folder], check=True)
        link.symlink_to(folder)
        try:
            yield Path(folder)
        finally:
            link.unlink()
            trial.prefix.end()
            subprocess.run(["umount", folder], check=True)
