"""Tries the setup program under wine: the Windows part of `make packages-test`.

    python -m installer.windows.trial DIST [--work FOLDER] [--keep]

A silent installation into a folder with blanks and other letters, every page of the window, the
command line against a `wsl.exe` and an `nvml.dll` that answer from files, the window on a screen,
an upgrade over itself, over one that runs, over one that was cut off; refused folders, a full disk,
two set-ups at once; the removal, and a comparison of all files and of the registry with those
before; kills of an upgrade at its changes of files (`kills.py`), and in another Windows updates by
a signed feed (`updating.py`). Pictures lie in DIST/../build/windows-pictures: look at them.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from installer import freeze
from installer.windows import faults, kills, updating, wine
from installer.windows.tried import TEMP, Trial, require, say, where
from installer.windows.wine import FAKES, Prefix
from studio import __version__
from studio.domain.wsl import DISTRIBUTION
from studio.host import lxss

_PAGES = 9
_KILLS = 50
_NOTED = "elevated.txt"
_PAINTED_WITHIN_S = 90.0
_CARD = """\
driver 580.95.05
cuda 13000
count 1
0.name NVIDIA GeForce RTX 4060 Ti
0.uuid GPU-11111111-0000-0000-0000-000000000001
0.capability 8.9
0.total 17175674880
0.used 1288490188
"""
"""As `tests/fakes/nvml/stub.c` reads it."""


def try_all(trial: Trial) -> None:
    """Try everything. Raises: RuntimeError at the first thing that is not as it should be."""
    trial.prefix.settle()
    before = trial.prefix.files(), trial.prefix.registry()
    require(trial.install().status == 0, "the installation failed")
    names = (trial.version / "files.txt").read_bytes().decode("utf-16-le").split()
    require(len(names) > 100, "files.txt is not whole")
    try_pages(trial)
    try_words(trial)
    try_counters(trial)
    try_restart(trial)
    try_window(trial)
    try_upgrades(trial)
    faults.try_all(trial)
    try_moved(trial)
    try_lan(trial)
    trial.removed()
    noted = (trial.prefix.drive / _NOTED).read_text(encoding="utf-8")
    require(noted.count("delete rule") == 2, f"the removal did not close the firewall: {noted}")
    left = {name for name in trial.prefix.files() - before[0] if not _is_not_ours(name)}
    require(left == {_foreign(trial)}, f"left behind: {sorted(left)[:20]}")
    keys = {line for line in trial.prefix.registry() - before[1] if "weir" in line.lower()}
    require(not keys, f"left in the registry: {sorted(keys)[:20]}")
    say("  removed; left: nothing but the foreign file")


def try_pages(trial: Trial) -> None:
    """Draw every page without a screen, and keep the pictures."""
    trial.pictures.mkdir(parents=True, exist_ok=True)
    place = f"Z:{trial.pictures}".replace("/", "\\")
    for name in ("cold", "warm"):
        said = json.loads(trial.weir("ui", "--smoke", "--pictures", place).splitlines()[-1])
        require(len(said["pages"]) == _PAGES, f"pages: {said['pages']}")
        require(said["font"] == "Inter", f"the window's own font is not loaded: {said['font']}")
        say(f"  {name}: first paint after {said['first_paint_s']} s, {_PAGES} pages")
    drawn = sorted(path.name for path in trial.pictures.glob("*.png"))
    require(len(drawn) >= _PAGES, f"pictures: {drawn}")


def try_words(trial: Trial) -> None:
    """Run what a person types first, with a card and a WSL."""
    prefix = trial.prefix
    prefix.library("nvml", FAKES / "nvml/stub.c")
    prefix.program("wsl.exe", FAKES / "windows/wsl.c")
    known = prefix.drive / "wsl.txt"
    known.write_text("", encoding="ascii")
    card = prefix.drive / "card.txt"
    card.write_text(_CARD, encoding="ascii")
    fakes = {"FAKE_NVML": r"C:\card.txt"}
    begun = time.monotonic()
    require("cpu-demo" in trial.weir("presets", "list"), "presets list")
    say(f"  weir presets list: {time.monotonic() - begun:.1f} s")
    said = trial.weir("doctor", status=4, **fakes)  # engines need the Linux that is not there
    require("RTX 4060 Ti" in said, f"doctor: {said}")
    found = json.loads(trial.weir("wsl", "status", "--json", **fakes))
    require(found["step"] == "import", f"wsl: {found}")
    known.write_text("error 0x80370102\n", encoding="ascii")
    found = json.loads(trial.weir("wsl", "status", "--json", **fakes))
    require(found["step"] == "firmware", f"wsl: {found}")
    say("  weir doctor, weir wsl status: as they should be")


def try_counters(trial: Trial) -> None:
    """Read Windows' counters: wine's own library has none of cards, ours plays one."""
    found = json.loads(trial.weir("wsl", "status", "--json"))["memory"]
    require("0xc0000bb9" in str(found["note"]), f"missing counters: {found}")
    trial.prefix.library("pdh", FAKES / "windows/pdh.c")
    place = trial.prefix.drive / "pdh.txt"
    lines = [
        rf"\GPU Adapter Memory(*)\{name}|luid_0x00000000_0x0000D3F5_phys_0|1886000000"
        for name in ("Shared Usage", "Dedicated Usage")
    ]
    process = r"\GPU Process Memory(*)\Shared Usage|pid_42_luid_0x00000000_0x0000D3F5_phys_0|7"
    place.write_text("\n".join([*lines, process, ""]), encoding="ascii")
    said = trial.weir("wsl", "status", "--json", FAKE_PDH=r"C:\pdh.txt")
    [adapter] = json.loads(said)["memory"]["adapters"]
    require(adapter["shared_bytes"] == 1_886_000_000, f"counters: {adapter}")
    say("  counters of the cards' memory: read, and said where they are missing")


def try_restart(trial: Trial) -> None:
    """Install WSL: what goes on after the restart stands in the registry until it went on."""
    prefix = trial.prefix
    known = prefix.drive / "wsl.txt"
    known.write_text("error WSL_E_WSL_OPTIONAL_COMPONENT_REQUIRED\n", encoding="ascii")
    prefix.program("powershell.exe", FAKES / "windows/noting.c", status=3010)
    found = json.loads(trial.weir("wsl", "setup", "--yes", "--json"))
    require(found["step"] == "restart", f"after the installation: {found}")
    require("wsl setup --yes" in trial.run_once(), "nothing goes on after the restart")
    known.write_text("", encoding="ascii")
    trial.weir("wsl", "setup", "--yes", "--rootfs", r"C:\none.tar.xz", status=3)
    require(not trial.run_once(), "it would go on a second time")
    say("  setup goes on after a restart, once")


def try_moved(trial: Trial) -> None:
    """Find the disk image of the Linux where a person moved it, by WSL's own registry."""
    moved = trial.prefix.drive / "möved"
    moved.mkdir()
    (moved / "ext4.vhdx").write_bytes(b"disk")
    (trial.prefix.drive / "wsl.txt").write_text("imported\n", encoding="ascii")
    values = {"DistributionName": DISTRIBUTION, "BasePath": r"\\?\C:\möved"}
    trial.prefix.register(rf"{lxss.KEY}\{{1}}", **values)
    found = json.loads(trial.weir("wsl", "status", "--json"))
    require(found["disk"] == r"C:\möved\ext4.vhdx", f"the disk image: {found['disk']}")
    require(found["disk_bytes"] == 4, f"its size: {found['disk_bytes']}")
    trial.prefix.unregister(lxss.KEY)
    shutil.rmtree(moved)
    say("  a disk image that was moved is found by the registry")


def try_lan(trial: Trial) -> None:
    """Let other machines in, as administrator; the removal has to close it."""
    (trial.prefix.drive / "wsl.txt").write_text("imported\n", encoding="ascii")
    trial.prefix.program("netsh.exe", FAKES / "windows/noting.c")
    found = json.loads(trial.weir("wsl", "open", "--yes", "--json"))
    require(found["is_lan_open"], f"not open: {found}")
    noted = (trial.prefix.drive / _NOTED).read_text(encoding="utf-8")
    require("add rule" in noted, f"ran as administrator: {noted}")
    say("  other machines were let in")


def try_window(trial: Trial) -> None:
    """Open the window on a screen with a window manager, and take a picture of it."""
    with screen() as display:
        window = trial.prefix.start(
            trial.place / "weir-studio.exe",
            **trial.extra, DISPLAY=display, WINEQT_QPA_PLATFORM="windows",
        )  # fmt: skip
        try:
            _wait_for_window(display)
            time.sleep(3)  # the greeting asks for its first answers
            picture = trial.pictures / "screen.png"
            subprocess.run(
                ["import", "-window", "root", str(picture)], check=True,
                env={**os.environ, "DISPLAY": display},
            )  # fmt: skip
            done = trial.prefix.run(trial.setup, *where(), **trial.extra)
            require(done.status == 3, f"installed over a window that is open: {done.status}")
        finally:
            trial.prefix.end()
            window.wait()
    say(f"  window: {picture}; an upgrade meanwhile is refused")


def _wait_for_window(display: str) -> None:
    deadline = time.monotonic() + _PAINTED_WITHIN_S
    while time.monotonic() < deadline:
        done = subprocess.run(
            ["xwininfo", "-root", "-tree"],
            env={**os.environ, "DISPLAY": display}, capture_output=True, check=False,
        )  # fmt: skip
        if b'"Weir Studio"' in done.stdout:
            return
        time.sleep(0.5)
    raise RuntimeError("no window came")


@contextmanager
def screen() -> Iterator[str]:
    """Have an X server and a window manager: without one, wine waits 2 s for each window."""
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-screen", "0", "1400x900x24"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert server.stdout is not None
    display = f":{server.stdout.readline().decode().strip()}"
    manager = subprocess.Popen(
        ["openbox"], env={**os.environ, "DISPLAY": display},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield display
    finally:
        for one in (manager, server):
            one.terminate()
            one.wait()


def try_upgrades(trial: Trial) -> None:
    """Install over itself: a foreign file stays, and so does the program that a kill cut off."""
    first = trial.version.name
    foreign = trial.prefix.drive / _foreign(trial)
    require(not foreign.exists(), "the foreign file is there before it is made")
    foreign.write_text("mine", encoding="ascii")
    require(trial.install().status == 0, "the upgrade failed")
    require(foreign.read_text(encoding="ascii") == "mine", "a foreign file was changed")
    require(trial.version.name == f"{first}-b", f"what runs is {trial.version.name}")
    stays = [path for path in (trial.place / first).rglob("*") if path.is_file()]
    require(stays == [foreign], f"left of the version before: {stays[:9]}")
    running = trial.started()
    staged = trial.place / first / "_internal/app.zip"
    deadline = time.monotonic() + _PAINTED_WITHIN_S
    while not staged.exists() and time.monotonic() < deadline and running.poll() is None:
        time.sleep(0.01)
    trial.prefix.end()
    running.wait()
    require(trial.version.name == f"{first}-b", "a kill in the middle changed the version")
    require(trial.weir("--version").startswith("weir "), "a kill left no program")
    require(trial.install().status == 0, "the installation after a kill failed")
    require(trial.version.name == first, f"what runs is {trial.version.name}")
    require(not (trial.place / f"{first}-b").exists(), "the version before is still there")
    require(trial.weir("--version").startswith("weir "), "no program after a kill")
    say("  upgraded over itself and after a kill; the foreign file stayed")


def _foreign(trial: Trial) -> str:
    place = trial.place.relative_to(trial.prefix.drive).as_posix()
    return f"{place}/app-{__version__}/_internal/PySide6/mine.txt"


def _is_not_ours(name: str) -> bool:
    """Tell whether wine, a test or the Studio's own folder of data put a file there.

    In TEMP lie the copy that an uninstaller runs as, which Windows deletes at its next start, and
    pictures of the window that was killed.
    """
    known = ("wéir home/", "windows/", "wsl.txt", "card.txt", "pdh.txt", _NOTED, f"{TEMP[3:]}/")
    return name.startswith(known) or "/AppData/Local/Microsoft/" in name


def main() -> int:
    """Try DIST's setup program; 1 when something failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("dist", type=Path)
    parser.add_argument("--work", type=Path, default=Path("/tmp/weir-trial"))
    parser.add_argument("--keep", action="store_true", help="leave the prefix")
    options = parser.parse_args()
    lacking = wine.lacks()
    found = sorted(options.dist.glob("*-setup.exe"))
    if lacking is not None or not found:
        say(f"Windows: skipped: {lacking or 'there is no setup program'}")
        return 0
    folder = options.work / "wïndows of zoë"
    shutil.rmtree(folder, ignore_errors=True)
    say(f"{found[0].name}:")
    prefix = Prefix(folder)
    try:
        try_all(Trial(found[0].resolve(), prefix, freeze.ROOT / "build/windows-pictures"))
        prefix.end()
        shutil.rmtree(folder / "kills", ignore_errors=True)
        (folder / "kills").mkdir()
        say(f"  {kills.lacks() or kills.attempt(folder / 'kills', _KILLS)}")
        updating.attempt(found[0].resolve(), options.work / "ünd updates")
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    finally:
        prefix.end()
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
