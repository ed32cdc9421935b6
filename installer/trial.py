"""Tries the packages in clean roots: `make packages-test`, by hand and as root.

    python -m installer.trial DIST [--suite bookworm] [--keep] [--home SEED]

For each Debian: a root by debootstrap, the .deb installed by apt without what it recommends, the
command line as a person without root in a home with a blank; then the window's libraries and the
window under Xvfb; an installation over a running service; removal, purge, and a comparison of all
files with those before. Then the .run for one person, and `weir uninstall`. `--home` seeds the
home with a cache of packages, and then a model is served and asked.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SUITES = ("bookworm", "trixie")
USER = "zoë"
HOME = "/home/zoë of weir"
_BASE = "ca-certificates,procps"
_SCREEN = "xvfb xauth libxcb-cursor0"
_QUIET = ("var/lib/dpkg", "var/cache", "var/log", "var/lib/apt", "etc/ld.so.cache", "proc", "sys",
          "dev", "tmp", "run", "home", "usr/share/icons", "etc/.pwd.lock")  # fmt: skip


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class Root:
    """A clean Debian below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *command: str, user: str = "root", check: bool = True) -> str:
        """Run a command inside; return what it said. Raises: RuntimeError."""
        inside = ["chroot", str(self.folder)]
        if user != "root":
            inside = ["chroot", f"--userspec={user}:{user}", str(self.folder)]
        home = HOME if user != "root" else "/root"
        environment = {
            "HOME": home, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive", "LANG": "C.UTF-8",
        }  # fmt: skip
        done = subprocess.run(
            [*inside, *command], env=environment, capture_output=True, text=True, check=False,
            timeout=1_800,
        )  # fmt: skip
        if check and done.returncode != 0:
            raise RuntimeError(
                f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}"
            )
        return done.stdout + done.stderr

    def apt(self, *words: str) -> None:
        """Run apt-get without questions and without what packages only recommend."""
        self.run("apt-get", "-y", "-qq", "--no-install-recommends", *words)

    def files(self) -> set[str]:
        """Return all files and links of the system, what every package changes left out."""
        found = set()
        for top, folders, files in os.walk(self.folder):
            inside = str(Path(top).relative_to(self.folder)).removeprefix(".")
            if inside.startswith(_QUIET):
                folders.clear()
                continue
            links = [one for one in folders if Path(top, one).is_symlink()]
            names = {str(Path(inside, name)) for name in (*files, *links)}
            found |= {name for name in names if not name.startswith(_QUIET)}
        return found


@contextmanager
def root(suite: str, folder: Path, mirror: str) -> Iterator[Root]:
    """Yield a clean root with a user; what was mounted is gone afterwards."""
    say(f"{suite}: debootstrap")
    subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={_BASE}", suite, str(folder), mirror],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    made = Root(folder)
    mounts = ("proc", "sys", "dev")
    for name in mounts:
        subprocess.run(["mount", "--rbind", f"/{name}", str(folder / name)], check=True)
        subprocess.run(["mount", "--make-rslave", str(folder / name)], check=True)
    try:
        made.run("apt-get", "update", "-qq")
        made.run("useradd", "--badname", "--create-home", "--home-dir", HOME, USER, check=False)
        if not (folder / HOME.lstrip("/")).is_dir():
            made.run("useradd", "--create-home", "--home-dir", HOME, "zoe")
        yield made
    finally:
        for name in mounts:
            subprocess.run(["umount", "--recursive", "--lazy", str(folder / name)], check=False)


def try_deb(made: Root, package: Path, user: str, seed: Path | None) -> None:
    """Install, use, install over itself while it serves, remove, purge, compare."""
    before = made.files()
    shutil.copy(package, made.folder / "tmp")
    begun = time.monotonic()
    made.apt("install", f"/tmp/{package.name}")
    say(f"  apt install {time.monotonic() - begun:.0f} s")
    say(f"  {made.run('weir', '--version', user=user).strip()} as {user} in `{HOME}`")
    made.run("weir", "doctor", user=user, check=False)
    made.apt("install", *_SCREEN.split(), *window_libraries(made))
    said = made.run("xvfb-run", "-a", "weir", "ui", "--smoke", user=user)
    say(f"  window {said.strip().splitlines()[-1]}")
    if seed is not None:
        serve(made, user, seed)
    begun = time.monotonic()
    made.apt("install", "--reinstall", f"/tmp/{package.name}")
    say(f"  again, over what runs {time.monotonic() - begun:.0f} s")
    if seed is not None:
        say(f"  still serving: {answer(made, user)}")
        made.run("weir", "down", user=user)
    plan = made.run("weir", "uninstall", "--dry-run", user=user)
    say(f"  uninstall lists {len(plan.splitlines())} lines; ends: {plan.splitlines()[-1]}")
    made.run("weir", "uninstall", "--remove", "all", user=user)
    made.apt("purge", "weir-studio")
    left = made.files() - before
    ours = sorted(name for name in left if "weir" in name)
    say(f"  left after purge: {ours or 'nothing of ours'}")
    home = made.folder / HOME.lstrip("/")
    say(f"  left in the home: {sorted(str(path) for path in home.rglob('*weir*')) or 'nothing'}")


def window_libraries(made: Root) -> list[str]:
    """Return what the package recommends for a window and this Debian has, fonts apart."""
    wanted = ("libgl1", "libegl1", "libfontconfig1", "libxcb1", "libx11-6", "fonts-dejavu-core")
    return [name for name in wanted if made.run("apt-cache", "show", name, check=False)]


def serve(made: Root, user: str, seed: Path) -> None:
    """Serve the small model on the processor from seeded packages."""
    home = made.folder / HOME.lstrip("/") / ".local/share/weir-studio"
    home.mkdir(parents=True, exist_ok=True)
    for name in ("cache", "models"):
        if (seed / name).is_dir():
            subprocess.run(["cp", "-a", str(seed / name), str(home)], check=True)
    made.run("chown", "-R", f"{user}:{user}", HOME)
    begun = time.monotonic()
    made.run("weir", "up", "cpu-demo", "--detach", "--yes", user=user)
    say(f"  first run to ready {time.monotonic() - begun:.0f} s: {answer(made, user)}")


def answer(made: Root, user: str) -> str:
    """Return what the engine is doing, in the words of `weir status`."""
    lines = made.run("weir", "status", user=user).splitlines()
    return next((line.strip() for line in lines if "Engine" in line), "no engine")


def try_run(made: Root, package: Path, user: str) -> None:
    """Install for one person, start, uninstall, compare the home."""
    home = made.folder / HOME.lstrip("/")
    before = {str(path) for path in home.rglob("*")}
    shutil.copy(package, made.folder / "tmp")
    made.apt("install", "xz-utils")
    for words in ((), ("--", "--headless")):
        begun = time.monotonic()
        made.run(f"/tmp/{package.name}", *words, user=user)
        say(f"  .run {' '.join(words)} {time.monotonic() - begun:.1f} s")
        program = f"{HOME}/.local/bin/weir"
        say(f"  {made.run(program, '--version', user=user).strip()}")
        say(f"  ui: {made.run(program, 'ui', user=user, check=False).strip()}")
        made.run(program, "uninstall", "--remove", "all", user=user)
        left = {str(path) for path in home.rglob("*") if not path.is_dir()} - before
        say(f"  left: {sorted(left) or 'nothing'}")


def main() -> int:
    """Try everything; 1 when something failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("dist", type=Path)
    parser.add_argument("--suite", action="append", choices=SUITES)
    parser.add_argument("--work", type=Path, default=Path("/tmp/weir-trial"))
    parser.add_argument("--mirror", default="http://deb.debian.org/debian")
    parser.add_argument("--home", type=Path, help="a home whose cache and models are copied")
    parser.add_argument("--keep", action="store_true", help="leave the roots")
    options = parser.parse_args()
    [deb] = options.dist.glob("*.deb")
    [run] = options.dist.glob("*.run")
    for suite in options.suite or SUITES:
        folder = options.work / suite
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with root(suite, folder, options.mirror) as made:
            user = USER if made.run("id", USER, check=False).startswith("uid") else "zoe"
            try_deb(made, deb, user, options.home)
            try_run(made, run, user)
        if not options.keep:
            shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
