"""Tries the packages in clean roots: `make packages-test`, by hand and as root.

    python -m installer.trial DIST [--suite bookworm] [--only deb] [--home SEED]
                                   [--newer DIST --key PEM] [--again]

For each Debian, made once by debootstrap, every trial gets a copy of its own, one at a time: an
engine is large. *deb*: installed by apt without what it recommends, the command line as a person
without root in a home with a blank, the window under Xvfb and a headless Weston, installed over a
service that runs, upgraded and gone back from by apt, removed, purged, all files compared with
those before. *run*: for one person. *update*: on disks that are too small, and over a service that
runs, by its feed. *appimage*. *offline*: from a stick, without a network. And under wine *setup*.

Results are kept in `--work` and shown as a table. A run that was cut off goes on with what has not
passed; `--again` tries everything anew, and so do other packages. What failed leaves its root.

`--home` seeds the home with models and runtimes: then a model is served and asked. `--share` is a
folder that such a runtime needs at its place (its interpreter). `--newer` is a folder of the next
version with its feed (`make packages-newer`). `--key` is the key that both were built with: with it
a release that is broken is published as well, and has to be taken back.
"""

import argparse
import fcntl
import functools
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from installer import (
    roots,
    served,
    trial_appimage,
    trial_deb,
    trial_offline,
    trial_results,
    trial_update,
)
from installer.feed import KEY
from installer.roots import (
    BORROWED,
    HOME,
    MIRROR,
    SUITES,
    Root,
    clear,
    over,
    refusal,
    require_sentences,
    say,
    screen,
)
from installer.trial_results import FAILED, LeftOut, Results, Trial
from installer.windows import wine

NAMES = {"bookworm": "Debian 12", "trixie": "Debian 13"}
WINE = "wine"
_FOR_ALL = ("appimage", "broken", "stick")
_SCREEN = "xvfb xauth libxcb-cursor0"


class Wanted(NamedTuple):
    """What is tried, and with what."""

    dist: Path
    deb: Path
    run: Path
    work: Path
    mirror: str
    seed: Path | None
    newer: Path | None
    share: Path | None
    has_key: bool
    keeps: bool

    @property
    def inputs(self) -> str:
        """Return what stands for all of it: with another, results do not count any more."""
        files = [self.deb, self.run, *sorted(self.dist.glob("*.AppImage"))]
        files += sorted(self.newer.glob("*.*")) if self.newer is not None else []
        words = [str(self.seed), str(self.share), str(self.has_key)]
        return trial_results.inputs([path for path in files if path.is_file()], words)

    @property
    def borrowed(self) -> str:
        """Return the packages that a runtime with another machine's interpreter needs."""
        return BORROWED if self.share is not None else ""


def try_deb(made: Root, wanted: Wanted, user: str) -> None:
    """Install, use, install over itself while it serves, remove, purge, compare."""
    before = trial_deb.listing(made)
    has_engine = wanted.seed is not None
    shutil.copy(wanted.deb, made.folder / "tmp")
    begun = time.monotonic()
    made.apt("install", f"/tmp/{wanted.deb.name}")
    say(f"  apt install {time.monotonic() - begun:.0f} s")
    say(f"  {made.run('weir', '--version', user=user).strip()} as {user} in `{HOME}`")
    require_sentences("doctor", made.run("weir", "doctor", user=user, check=False))
    try_poor(made, user)
    made.apt("install", *_SCREEN.split())
    said = made.run(*screen(), "weir", "ui", "--smoke", user=user)
    say(f"  window {said.strip().splitlines()[-1]}")
    try_wayland(made, user)
    with served.read_only_usr(made):
        if wanted.seed is not None:
            say("  first run with a read-only /usr")
            served.serve(made, user, wanted.seed)
        else:
            served.start(made, user)
    trial_deb.again(made, wanted.deb, user)
    if wanted.newer is not None:
        trial_deb.upgrade(made, wanted.newer, user, has_engine=has_engine)
        trial_deb.downgrade(made, wanted.deb, user, has_engine=has_engine)
    trial_deb.remove(made, user, before)


def try_poor(made: Root, user: str) -> None:
    """Use it where much is missing: the window's libraries, fonts, a message bus, a /usr to write.

    Raises: RuntimeError where a refusal is no sentence, or something does not work without those.
    """
    blind = ("env", "QT_QPA_PLATFORM=offscreen", "weir", "ui", "--smoke")
    said = made.run(*blind, user=user, check=False)
    say(f"  window without its libraries: {refusal(said)}")
    hints = [line.strip() for line in said.splitlines() if "apt install" in line]
    if not hints:
        raise RuntimeError(f"it does not say which packages: {said}")
    say(f"    {hints[0]}")
    with served.read_only_usr(made):
        made.run("weir", "keys", "create", "read-only", user=user)
        require_sentences("doctor", made.run("weir", "doctor", user=user, check=False))
    say("  with a read-only /usr: keys and doctor work")
    made.apt("install", *window_libraries(made))
    fonts = made.folder / "usr/share/fonts"
    # What draws text brings fonts along, so those are hidden. There is no message bus either.
    with over(fonts, "--types", "tmpfs", "weir-trial"):
        if list(fonts.iterdir()):
            raise RuntimeError(f"{fonts} is not empty")
        painted = made.run(*blind, user=user).strip().splitlines()[-1]
    say(f"  window without fonts of the system: {painted[:60]}")


def try_wayland(made: Root, user: str) -> None:
    """Open the window in a Weston without a screen: the nearest thing to WSLg."""
    made.apt("install", "weston", "libwayland-cursor0", "libwayland-egl1")
    script = (
        "export XDG_RUNTIME_DIR=$(mktemp -d); "
        "weston --backend=headless-backend.so --use-pixman --socket=wall >/dev/null 2>&1 & w=$!; "
        "n=0; until [ -S $XDG_RUNTIME_DIR/wall ] || [ $n -gt 99 ]; do sleep 0.1; n=$((n+1)); done; "
        "WAYLAND_DISPLAY=wall QT_QPA_PLATFORM=wayland weir ui --smoke; r=$?; "
        "kill $w; wait $w; rm -r $XDG_RUNTIME_DIR; exit $r"
    )
    said = made.run("sh", "-c", script, user=user)
    say(f"  window under Wayland {said.strip().splitlines()[-1]}")


def window_libraries(made: Root) -> list[str]:
    """Return what the package recommends for a window and this Debian has, fonts apart."""
    wanted = ("libgl1", "libegl1", "libfontconfig1", "libxcb1", "libx11-6", "fonts-dejavu-core")
    return [name for name in wanted if made.run("apt-cache", "show", name, check=False)]


def try_run(made: Root, wanted: Wanted, user: str) -> None:
    """Install for one person, start, uninstall, compare the home. Raises: RuntimeError."""
    package = wanted.run
    home = made.home_folder
    before = {str(path) for path in home.rglob("*")}
    shutil.copy(package, made.folder / "tmp")
    made.apt("install", "xz-utils")
    for words in ((), ("--", "--headless")):
        begun = time.monotonic()
        made.run(f"/tmp/{package.name}", *words, user=user)
        say(f"  .run {' '.join(words)} {time.monotonic() - begun:.1f} s")
        program = trial_update.PROGRAM
        say(f"  {made.run(program, '--version', user=user).strip()}")
        say(f"  ui: {refusal(made.run(program, 'ui', user=user, check=False))}")
        made.run(program, "uninstall", "--remove", "all", user=user)
        left = {str(path) for path in home.rglob("*") if not path.is_dir()} - before
        if left:
            raise RuntimeError(f"left of the .run: {sorted(left)}")
        say("  left: nothing")
    (home / "cloud/.dropbox.cache").mkdir(parents=True)
    made.run("chown", "-R", f"{user}:{user}", made.home)
    where = ("--", "--prefix", f"{HOME}/cloud/programs")
    said = made.refused(f"/tmp/{package.name}", *where, user=user)
    say(f"  into a folder that is copied: {said}")
    shutil.rmtree(home / "cloud")


def try_update(made: Root, wanted: Wanted, user: str) -> None:
    """Update the .run, on small disks and while it serves. Raises: RuntimeError, LeftOut."""
    if wanted.newer is None:
        raise LeftOut("no --newer")
    shutil.copy(wanted.run, made.folder / "tmp")
    # A version proves that it can paint its window before it stays.
    made.apt("install", "xz-utils", *window_libraries(made), *_SCREEN.split())
    trial_update.try_small_disk(made, wanted.run, wanted.newer, user)
    broken = None
    if wanted.has_key:
        of = trial_results.inputs(wanted.newer.glob("*.run"), [])
        make = functools.partial(trial_update.without_catalogue, wanted.newer)
        folder = trial_results.kept(wanted.work / "broken", of, make)
        broken = next((folder / "out").glob("*.run"))
    trial_update.try_update(made, wanted.run, wanted.newer, user, wanted.seed, broken)


def try_appimage(made: Root, wanted: Wanted, user: str) -> None:
    """Try the AppImage, or one with a stand-in of its runtime. Raises: RuntimeError, LeftOut."""
    image = next(wanted.dist.glob("*.AppImage"), None)
    if image is None:
        missing = trial_appimage.lacks()
        if missing is not None:
            raise LeftOut(f"a stand-in of its runtime needs: {missing}")
        of = trial_results.inputs([wanted.deb], [])
        make = functools.partial(trial_appimage.build, wanted.deb)
        folder = trial_results.kept(wanted.work / "appimage", of, make)
        image = next(folder.glob("*.AppImage"))
        say("  with a stand-in of its runtime")
    made.apt("install", *window_libraries(made), *_SCREEN.split())
    trial_appimage.try_appimage(made, image, user)


def try_offline(made: Root, wanted: Wanted, user: str) -> None:
    """Install and serve from a stick. Raises: RuntimeError, LeftOut."""
    if wanted.seed is None:
        raise LeftOut("no --home")
    of = trial_results.inputs([wanted.deb, wanted.run], [str(wanted.seed)])
    make = functools.partial(trial_offline.write_stick, wanted.dist, wanted.seed)
    stick = trial_results.kept(wanted.work / "stick", of, make)
    made.apt("install", *trial_offline.NEEDS.split())
    trial_offline.try_offline(made, stick, user)


def try_wine(dist: Path, work: Path) -> None:
    """Try Windows' setup program; it says itself what it did. Raises: RuntimeError, LeftOut."""
    if (lacking := wine.lacks()) is not None:
        raise LeftOut(lacking)
    if not list(dist.glob("*-setup.exe")):
        raise LeftOut("there is no setup program")
    command = [sys.executable, "-m", "installer.windows.trial", str(dist), "--work", str(work)]
    with subprocess.Popen(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as running:
        assert running.stdout is not None
        last = ""
        for line in running.stdout:
            say(line.rstrip())
            last = line.strip()
    if running.returncode != 0:
        raise RuntimeError(last.removeprefix("error: "))


TRIALS: dict[str, Callable[[Root, Wanted, str], None]] = {
    "deb": try_deb, "run": try_run, "update": try_update, "appimage": try_appimage,
    "offline": try_offline,
}  # fmt: skip


def main() -> int:
    """Try everything; 1 when something failed."""
    parser = argparse.ArgumentParser(description="Try the packages in clean roots, as root.")
    parser.add_argument("dist", type=Path)
    parser.add_argument("--suite", action="append", choices=(*SUITES, WINE), help="default: all")
    parser.add_argument("--only", action="append", choices=TRIALS, help="default: all")
    parser.add_argument("--again", action="store_true", help="also what passed before")
    parser.add_argument("--work", type=Path, default=Path("/tmp/weir-trial"))
    parser.add_argument("--mirror", default=MIRROR)
    parser.add_argument("--home", type=Path, help="a home whose cache and models are copied")
    parser.add_argument("--newer", type=Path, help="the packages and the feed of the next version")
    parser.add_argument("--key", type=Path, help="the release key that signed both")
    parser.add_argument("--share", type=Path, help="a folder to have at its place, read-only")
    parser.add_argument("--keep", action="store_true", help="leave the roots")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    if options.key is not None:
        os.environ[KEY] = str(options.key.resolve())
    try:
        with _alone(options.work):
            return _try_all(_wanted(options), options)
    except KeyboardInterrupt:
        sys.stderr.write("\nCut off. The same command goes on with what has not passed.\n")
        return 128 + signal.SIGINT
    except (RuntimeError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1


def _try_all(wanted: Wanted, options: argparse.Namespace) -> int:
    results = Results(wanted.work / "results")
    ended = [results.attempt(one, again=options.again) for one in _trials(wanted, options)]
    say("")
    for line in trial_results.table(ended):
        say(line)
    has_failed = any(one.outcome == FAILED for one in ended)
    is_whole = not options.only and not options.suite
    if is_whole and not has_failed and not wanted.keeps:
        _tidy(wanted.work)
    return 1 if has_failed else 0


def _trials(wanted: Wanted, options: argparse.Namespace) -> Iterator[Trial]:
    inputs = wanted.inputs
    for suite in options.suite or (*SUITES, WINE):
        if suite in SUITES:
            for name in options.only or TRIALS:
                act = functools.partial(_attempt, suite, name, wanted)
                yield Trial(NAMES[suite], name, inputs, act)
        elif options.suite or not options.only:
            files = sorted(wanted.dist.glob("*-setup.exe"))
            act = functools.partial(try_wine, wanted.dist, wanted.work)
            yield Trial(WINE, "setup", trial_results.inputs(files, []), act)


def _attempt(suite: str, name: str, wanted: Wanted) -> None:
    """Try one thing in a root of its own."""
    borrowed = "" if name == "offline" else wanted.borrowed
    folder = wanted.work / f"{suite}-{name}"
    of = roots.base(suite, wanted.work, wanted.mirror, borrowed)
    shared = None if name == "offline" else wanted.share
    with roots.root(of, folder, shared) as made:
        TRIALS[name](made, wanted, roots.person(made))
    if not wanted.keeps:
        clear(folder)


def _wanted(options: argparse.Namespace) -> Wanted:
    """Return what is tried. Raises: RuntimeError where there is not one of each package."""
    dist, work = options.dist.resolve(), options.work.resolve()
    found = {end: sorted(dist.glob(f"*.{end}")) for end in ("deb", "run")}
    for end, packages in found.items():
        if len(packages) != 1:
            many = f"{dist} has {len(packages)} files *.{end}, not one"
            raise RuntimeError(f"{many}: `make packages` writes it anew")
    newer = options.newer.resolve() if options.newer is not None else None
    if newer is not None and not list(newer.glob("*.run")):
        raise RuntimeError(f"{newer} has no packages: `make packages-newer`")
    given = (options.home, options.share)
    seed, share = (path.absolute() if path is not None else None for path in given)
    return Wanted(
        dist=dist, deb=found["deb"][0], run=found["run"][0], work=work, mirror=options.mirror,
        seed=seed, newer=newer, share=share, has_key=options.key is not None, keeps=options.keep,
    )  # fmt: skip


@contextmanager
def _alone(work: Path) -> Iterator[None]:
    """Have a folder of trials for this run alone, without what a killed one left mounted there.

    Raises: RuntimeError where another run is at work in it.
    """
    work.mkdir(parents=True, exist_ok=True)
    with (work / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            words = f"another trial is at work in {work}; --work names another folder"
            raise RuntimeError(words) from error
        for folder in _made_in(work):
            roots.release(folder)
        yield


def _made_in(work: Path) -> Iterator[Path]:
    """Yield the roots of trials in a folder in which others may have theirs."""
    for suite in SUITES:
        yield from (*work.glob(f"{suite}-*"), *work.glob(f"base-{suite}-*"))


def _tidy(work: Path) -> None:
    """Remove what was made for the trials; their results stay."""
    for folder in (*_made_in(work), *(work / name for name in _FOR_ALL)):
        clear(folder)
        trial_results.whole(folder).unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
