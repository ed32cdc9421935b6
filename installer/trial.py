"""Tries the packages in clean roots: `make packages-test`, by hand and as root.

    python -m installer.trial DIST [--suite bookworm] [--home SEED] [--newer DIST --key PEM]

For each Debian: a root by debootstrap, the .deb installed by apt without what it recommends, the
command line as a person without root in a home with a blank; the window under Xvfb and a headless
Weston; an installation over a running service; removal, purge, and a comparison of all files with
those before. Then the .run for one person, also on disks that are too small, and the AppImage.

`--home` seeds the home with models and runtimes: then a model is served and asked, and a stick is
made from which a root without a network does the same. `--share` is a folder that such a runtime
needs at its place (its interpreter). `--newer` is a folder of the next version with its feed
(`make packages-newer`): it is updated to over a running service and gone back from, as a .run by
the Studio and as a .deb by apt. `--key` is the key that both were built with: with it a release
that is broken is published as well, and has to be taken back.
"""

import argparse
import os
import shutil
import sys
import time
from pathlib import Path
from typing import NamedTuple

from installer import served, trial_appimage, trial_deb, trial_offline, trial_update
from installer.feed import KEY
from installer.roots import (
    BORROWED,
    HOME,
    MIRROR,
    SUITES,
    USER,
    Root,
    clear,
    over,
    refusal,
    require_sentences,
    root,
    say,
    screen,
)

_SCREEN = "xvfb xauth libxcb-cursor0"


class Wanted(NamedTuple):
    """What is tried."""

    deb: Path
    run: Path
    image: Path | None
    seed: Path | None
    newer: Path | None
    broken: Path | None
    stick: Path | None


def try_deb(made: Root, wanted: Wanted, user: str) -> None:
    """Install, use, install over itself while it serves, remove, purge, compare."""
    before = made.files()
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
        "weston --backend=headless-backend.so --use-pixman --socket=weir >/dev/null 2>&1 & w=$!; "
        "n=0; until [ -S $XDG_RUNTIME_DIR/weir ] || [ $n -gt 99 ]; do sleep 0.1; n=$((n+1)); done; "
        "WAYLAND_DISPLAY=weir QT_QPA_PLATFORM=wayland weir ui --smoke; r=$?; kill $w; exit $r"
    )
    said = made.run("sh", "-c", script, user=user)
    say(f"  window under Wayland {said.strip().splitlines()[-1]}")


def window_libraries(made: Root) -> list[str]:
    """Return what the package recommends for a window and this Debian has, fonts apart."""
    wanted = ("libgl1", "libegl1", "libfontconfig1", "libxcb1", "libx11-6", "fonts-dejavu-core")
    return [name for name in wanted if made.run("apt-cache", "show", name, check=False)]


def try_run(made: Root, package: Path, user: str) -> None:
    """Install for one person, start, uninstall, compare the home. Raises: RuntimeError."""
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


def main() -> int:
    """Try everything; 1 when something failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("dist", type=Path)
    parser.add_argument("--suite", action="append", choices=SUITES)
    parser.add_argument("--work", type=Path, default=Path("/tmp/weir-trial"))
    parser.add_argument("--mirror", default=MIRROR)
    parser.add_argument("--home", type=Path, help="a home whose cache and models are copied")
    parser.add_argument("--newer", type=Path, help="the packages and the feed of the next version")
    parser.add_argument("--key", type=Path, help="the release key that signed both")
    parser.add_argument("--share", type=Path, help="a folder to have at its place, read-only")
    parser.add_argument("--keep", action="store_true", help="leave the roots")
    options = parser.parse_args()
    if options.key is not None:
        os.environ[KEY] = str(options.key.resolve())
    try:
        options.work.mkdir(parents=True, exist_ok=True)
        wanted = _wanted(options)
        for suite in options.suite or SUITES:
            _attempt(suite, wanted, options)
    except RuntimeError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def _wanted(options: argparse.Namespace) -> Wanted:
    """Return what is tried; what is made for it lies in the folder of the trial."""
    [deb] = options.dist.glob("*.deb")
    [run] = options.dist.glob("*.run")
    image = next(options.dist.glob("*.AppImage"), None)
    if image is None and (missing := trial_appimage.lacks()) is None:
        image = trial_appimage.build(deb, options.work / "appimage")
    elif image is None:
        say(f"AppImage: not tried; for a stand-in of its runtime: {missing}")
    broken = None
    if options.newer is not None and options.key is not None:
        broken = trial_update.without_catalogue(options.newer, options.work / "broken")
    stick = None
    if options.home is not None:
        stick = trial_offline.write_stick(options.dist, options.work, options.home)
    return Wanted(deb, run, image, options.home, options.newer, broken, stick)


def _attempt(suite: str, wanted: Wanted, options: argparse.Namespace) -> None:
    folder = options.work / suite
    clear(folder)
    folder.mkdir(parents=True)
    with root(suite, folder, options.mirror, options.share) as made:
        if options.share is not None:
            made.apt("install", *BORROWED.split())
        user = USER if made.run("id", USER, check=False).startswith("uid") else "zoe"
        try_deb(made, wanted, user)
        try_run(made, wanted.run, user)
        if wanted.newer is not None:
            trial_update.try_small_disk(made, wanted.run, wanted.newer, user)
            trial_update.try_update(
                made, wanted.run, wanted.newer, user, wanted.seed, wanted.broken
            )
        if wanted.image is not None:
            trial_appimage.try_appimage(made, wanted.image, user)
    if wanted.stick is not None:
        with root(suite, folder.with_name(f"{suite}-offline"), options.mirror, None) as made:
            made.apt("install", *trial_offline.NEEDS.split())
            trial_offline.try_offline(made, wanted.stick, user)
        clear(folder.with_name(f"{suite}-offline"))
    if not options.keep:
        clear(folder)


if __name__ == "__main__":
    sys.exit(main())
