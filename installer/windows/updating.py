"""Updates by a signed feed, as a person on Windows gets them: part of the trial.

The newer versions are stand-ins of a few files: one whose window does not paint, one that is good,
and the same again, whose service does not come up. Each is fetched, proven, laid beside the
installed one by its own silent set-up while the window is open, and takes over by `weir update
apply`.
"""

import json
import os
import shutil
import time
from pathlib import Path

from installer import feed
from installer.windows import kills, setup
from installer.windows.tried import Trial, require, say
from installer.windows.wine import FAKES, Prefix
from studio import __version__
from studio.host import own_windows, signing

_SHOWN = "DisplayVersion"


def attempt(program: Path, folder: Path) -> None:
    """Install in a fresh Windows and try everything there. Raises: RuntimeError."""
    shutil.rmtree(folder, ignore_errors=True)
    prefix = Prefix(folder)
    try:
        trial = Trial(program, prefix, folder)
        require(trial.install().status == 0, "the installation failed")
        prefix.program("wsl.exe", FAKES / "windows/wsl.c")
        (prefix.drive / "wsl.txt").write_text("", encoding="ascii")
        try_updates(trial, folder / "updates")
    finally:
        prefix.end()
        shutil.rmtree(folder, ignore_errors=True)


def try_updates(trial: Trial, work: Path) -> None:
    """Try everything. Raises: RuntimeError."""
    work.mkdir()
    signing.own(work / "release.pem")
    announced = trial.version / "_internal/assets/release.toml"
    told = announced.read_bytes()
    os.environ[feed.KEY] = str(work / "release.pem")
    feed.tell(announced)
    try:
        _try_refused(trial, work)
        _try_taken_over(trial, work)
        _try_taken_back(trial, work)
    finally:
        del os.environ[feed.KEY]
        announced.write_bytes(told)
    shutil.rmtree(trial.prefix.drive / "published", ignore_errors=True)


def _try_refused(trial: Trial, work: Path) -> None:
    """A version whose window does not paint here, and one that nobody has signed."""
    before = _seen(trial)
    source = _published(trial, work, _newer(1), "-DBLIND")
    refused = trial.weir("update", "get", "--from", source, status=4)
    require("its window ends with status 1" in refused, f"a window that is blind: {refused}")
    proof = trial.prefix.drive / "published/feed.json.sig"
    proof.write_bytes(proof.read_bytes()[::-1])
    trial.weir("update", "get", "--from", source, status=4)
    require(_seen(trial) == before, f"a refused version left {sorted(_seen(trial) ^ before)[:9]}")
    say("  a newer version without a signature or a window is refused, and nothing is left of it")


def _try_taken_over(trial: Trial, work: Path) -> None:
    """One that is good: staged while the window is open, then used, then left again."""
    newer = _newer(2)
    source = _published(trial, work, newer)
    window = trial.prefix.start(trial.place / "weir-studio.exe", **trial.extra)
    try:
        found = json.loads(trial.weir("update", "get", "--from", source, "--json"))
        require(window.poll() is None, "the window has ended meanwhile")
    finally:
        trial.prefix.end()
        window.wait()
    require(found["state"] == "staged", f"fetched: {found}")
    require(_version(trial) == f"weir {__version__}", "a staged version runs")
    trial.weir("update", "apply", "--yes")
    require(_version(trial) == f"weir {newer}", f"after the update runs {_version(trial)}")
    trial.prefix.settle()
    require(any(newer in line for line in _shown(trial)), f"Apps shows {_shown(trial)}")
    _old(trial, "update", "rollback", "--yes")
    require(_version(trial) == f"weir {__version__}", f"after the way back: {_version(trial)}")
    say(f"  {newer} fetched, proven, staged beside an open window, used, left again")


def _try_taken_back(trial: Trial, work: Path) -> None:
    """One whose service does not come up inside the Linux: the version before is back."""
    known = trial.prefix.drive / "wsl.txt"
    was = known.read_bytes()
    newer = _newer(3)
    source = _published(trial, work, newer)
    trial.weir("update", "get", "--from", source)
    trial.weir("update", "apply", "--later")
    known.write_text("imported\n", encoding="ascii")
    trial.weir("up", "cpu-demo", status=4, within_s=900)  # its Linux has no program to start
    found = json.loads(trial.weir("update", "status", "--json"))
    require(_version(trial) == f"weir {__version__}", f"what is silent runs: {_version(trial)}")
    failed = found["failed"] or {}
    require(failed.get("code") == "update-failed", f"why it was taken back: {found}")
    known.write_bytes(was)
    say(f"  {newer}, whose service does not come up, is taken back: {failed['message']}")


def _newer(by: int) -> str:
    major, minor, _ = __version__.split(".")
    return f"{major}.{int(minor) + by}.0"


def _published(trial: Trial, work: Path, version: str, *defines: str) -> str:
    """Publish a set-up of a stand-in; return the folder as Windows calls it."""
    made = kills.version(work / f"version {version}", version, 13, *defines)
    scratch = work / f"of {version}"
    scratch.mkdir()
    place = trial.prefix.drive / "published"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    program = setup.build(made, scratch, place, version)
    # The second in which a feed was signed is its number: that of a newer version has to be higher.
    later = int(version.split(".")[1])
    feed.write(place, [program], version, now=time.time() + later * 10)
    return r"C:\published"


def _seen(trial: Trial) -> set[str]:
    return {path.relative_to(trial.place).as_posix() for path in trial.place.rglob("*")}


def _version(trial: Trial) -> str:
    return trial.weir("--version").splitlines()[-1].strip()


def _old(trial: Trial, *words: str) -> None:
    """Run the version that was installed, by its own file: the stand-in can do nothing."""
    folder = own_windows.folder(trial.place, __version__)
    require(folder is not None, "the version before is not kept")
    assert folder is not None
    done = trial.prefix.run(folder / own_windows.PROGRAM, *words, **trial.extra)
    require(done.status == 0, f"weir {' '.join(words)}: {done}")


def _shown(trial: Trial) -> list[str]:
    return [line for line in trial.prefix.registry() if _SHOWN in line and "WeirStudio" in line]
