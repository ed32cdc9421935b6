"""Kills an upgrade of the setup program at each of its file operations, under wine.

    python -m installer.windows.kills [--points 50] [--work FOLDER]

Two setup programs are made from versions of a few files. Each round begins with the older one
installed, and a file of a person's in it; the newer one's set-up runs, and wine's server, which
does what Windows' kernel would do with files, is killed before its nth call that changes one
(strace counts). Whatever the moment, the old version has to start or the new one; a set-up after it
has to bring the new one, keep the old one for the way back and nothing of the one before that, and
leave alone what is a person's. Then the same while the newer one is only laid beside the older one,
as an older Studio does it: that one has to start after each kill.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from installer.windows import payload, setup, wine
from installer.windows.wine import FAKES, Prefix
from studio.app import staging
from studio.host import own_windows

PROGRAMS = {**wine.PROGRAMS, "strace": "strace", "makensis": "nsis"}
OLDEST, OLD, NEW = "0.9.0", "1.0.0", "2.0.0"
PLACE = r"C:\Prögramme für zoë\Weir Studio"
FOREIGN = ("mine.txt", f"app-{OLDEST}/_internal/sub/mine.txt")
_STAGED = {staging.INTO: PLACE}
_CHANGING = ("mkdir", "openat", "rename", "rmdir", "unlink")
_CALL = re.compile(r"^\d+ +(?P<name>\w+)\((?P<words>.*)")
_WITHIN_S = 120.0
_NOT_WRITTEN = 2
"""Exit status of a silent run (weir-studio.nsi)."""


class Point(NamedTuple):
    """One call of wine's server: before it, everything ends."""

    call: str
    count: int
    about: str


def version(folder: Path, name: str, minor: int, *defines: str) -> Path:
    """Return the folder of a version that can say its name; `defines` are those of `python.c`."""
    inside = folder / "_internal"
    (inside / "sub/dir").mkdir(parents=True)
    library = [wine.COMPILER, "-shared", "-O1", "-s", f'-DVERSION="{name}"', *defines]
    for stem in (f"python3{minor}", "python3", "vcruntime140", "vcruntime140_1"):
        words = [*library, "-o", str(inside / f"{stem}.dll"), str(FAKES / "windows/python.c")]
        subprocess.run(words, check=True)
    starter = [wine.COMPILER, "-O2", "-s", "-municode", "-static"]
    for program, extra in payload.STARTERS:
        words = [*starter, *extra, "-o", str(folder / program), str(payload.HERE / "launcher.c")]
        subprocess.run(words, check=True)
    (inside / f"sub/dir/of {name}.txt").write_text(name, encoding="ascii")
    (inside / "sub/ä b.txt").write_text(name, encoding="ascii")
    return folder


class Kills:
    """Two setup programs and one Windows."""

    def __init__(self, work: Path) -> None:
        self._oldest = self._setup(work, OLDEST, 12)
        self._old = self._setup(work, OLD, 11)
        self._new = self._setup(work, NEW, 13)
        self._log = work / "calls.log"
        self.prefix = Prefix(work / "wïndows of zoë")
        self.place = self.prefix.drive / PLACE[3:].replace("\\", "/")
        self._saved = work / "saved"

    def prepare(self) -> None:
        """Install two older versions, and put a person's files there."""
        self._install(self._oldest)
        self._install(self._old)
        for name in FOREIGN:
            (self.place / name).write_text("mine", encoding="ascii")
        shutil.copytree(self.place, self._saved)

    def go_back(self) -> None:
        """Go back from the newer version, then let its set-up run again. Raises: RuntimeError."""
        self._install(self._new)
        self._require_whole()
        own_windows.switch(self.place, OLD)
        said = self._version()
        if said != f"weir {OLD}" or own_windows.before(self.place, OLD) != NEW:
            raise RuntimeError(f"the way back leads to {said}")
        self._install(self._new)
        self._require_whole()

    def hold(self) -> None:
        """Stage where a file cannot be exchanged, as by a scanner. Raises: RuntimeError.

        The status must not be that of a second set-up, which is all that the Studio hears of it.
        """
        self._restore()
        held = self.place / f"app-{OLD}" / own_windows.FINISHED
        held.unlink()
        held.mkdir()
        done = self.prefix.run(self._new, "/S", within_s=_WITHIN_S, **_STAGED)
        left = (self.place / f"app-{NEW}").exists()
        if done.status != _NOT_WRITTEN or left:
            raise RuntimeError(f"a file that is held: {done}, left: {left}")

    def points(self, *, is_staged: bool = False) -> list[Point]:
        """Return all calls of an upgrade that change something of ours."""
        self._restore()
        self._upgrade((), is_staged=is_staged)
        if is_staged:
            self._require_staged()
        else:
            self._require_whole()
        found, counts = [], dict.fromkeys(_CHANGING, 0)
        for line in self._log.read_text(encoding="utf-8", errors="replace").splitlines():
            match = _CALL.match(line)
            if match is None or match["name"] not in counts:
                continue
            counts[match["name"]] += 1
            is_change = match["name"] != "openat" or "O_CREAT" in line
            if is_change and "Weir Studio" in match["words"]:
                found.append(Point(match["name"], counts[match["name"]], _about(match["words"])))
        return found

    def staged(self, point: Point) -> None:
        """Kill at one point of a staging, and stage again. Raises: RuntimeError."""
        self._restore()
        inject = f"inject={point.call}:signal=SIGKILL:when={point.count}"
        self._upgrade(("-e", inject), is_staged=True)
        said = self._version()
        if said != f"weir {OLD}":
            raise RuntimeError(f"another version starts after {point}: {said}")
        done = self.prefix.run(self._new, "/S", within_s=_WITHIN_S, **_STAGED)
        if done.status != 0:
            raise RuntimeError(f"not staged after {point}: {done}")
        self._require_staged()
        self.prefix.end()

    def round(self, point: Point, *, is_repaired: bool) -> str:
        """Kill at one point; return which version starts. Raises: RuntimeError."""
        self._restore()
        inject = f"inject={point.call}:signal=SIGKILL:when={point.count}"
        self._upgrade(("-e", inject))
        said = self._version()
        if said not in (f"weir {OLD}", f"weir {NEW}"):
            raise RuntimeError(f"neither version starts after {point}: {said}")
        if is_repaired:
            self._install(self._new)
            self._require_whole()
        self.prefix.end()
        return said

    def _setup(self, work: Path, name: str, minor: int) -> Path:
        folder = version(work / f"version {name}", name, minor)
        (work / name).mkdir()
        return setup.build(folder, work / name, work / "setups", name)

    def _restore(self) -> None:
        shutil.rmtree(self.place)
        shutil.copytree(self._saved, self.place)

    def _install(self, program: Path) -> None:
        words = ("/S", *f"/D={PLACE}".split(" "))
        done = self.prefix.run(program, *words, within_s=_WITHIN_S)
        if done.status != 0:
            raise RuntimeError(f"{program.name} ended with {done}")

    def _upgrade(self, extra: tuple[str, ...], *, is_staged: bool = False) -> None:
        """Run the newer set-up on a wine whose server is traced, to the end of one of both."""
        self.prefix.end()
        self.prefix.settle()
        self.prefix.socket.unlink(missing_ok=True)
        self._log.unlink(missing_ok=True)
        trace = ["strace", "-f", "-o", str(self._log), "-e", f"trace={','.join(_CHANGING)}"]
        server = subprocess.Popen(
            [*trace, *extra, "wineserver", "--foreground", "--persistent"],
            env=self.prefix.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + _WITHIN_S
        while not self.prefix.socket.exists() and server.poll() is None:
            if time.monotonic() > deadline:
                raise RuntimeError("wine's server did not start")
            time.sleep(0.02)  # a program that finds none starts one of its own
        words = [] if is_staged else f"/D={PLACE}".split(" ")
        program = subprocess.Popen(
            ["wine", str(self._new), "/S", *words],
            env={**self.prefix.environment, **(_STAGED if is_staged else {})},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            program.wait(_WITHIN_S)
        finally:
            self.prefix.end()
            program.kill()
            program.wait()
            server.wait(_WITHIN_S)

    def _version(self) -> str:
        """Return what the program says, or how it ended; wine may say something before it."""
        done = self.prefix.run(self.place / "weir.exe", "--version", within_s=_WITHIN_S)
        lines = done.text.splitlines()
        return lines[-1].strip() if done.status == 0 and lines else str(done)

    def _require_whole(self) -> None:
        """The new version is there, the one before, and a person's files. Raises: RuntimeError."""
        found = {
            path.relative_to(self.place).as_posix()
            for path in self.place.rglob("*")
            if path.is_file()
        }
        versions = (f"app-{NEW}", f"app-{OLD}/")
        strangers = {name for name in found if not name.startswith(versions)}
        wanted = {
            "current.txt", "previous.txt", "Uninstall.exe", "weir.exe", "weir-studio.exe", *FOREIGN
        }  # fmt: skip
        if strangers != wanted:
            raise RuntimeError(f"not as it should be: {sorted(strangers ^ wanted)}")
        if own_windows.before(self.place, NEW) != OLD:
            raise RuntimeError("the version before is not kept")
        said = self._version()
        if said != f"weir {NEW}":
            raise RuntimeError(f"the newer version is not what starts: {said}")

    def _require_staged(self) -> None:
        """The old version runs, the new one lies beside it, whole. Raises: RuntimeError."""
        said = self._version()
        if said != f"weir {OLD}" or own_windows.before(self.place, OLD) != OLDEST:
            raise RuntimeError(f"a staging changed what runs: {said}")
        folder = own_windows.folder(self.place, NEW)
        if folder is None:
            raise RuntimeError("the staged version is not there")
        lines = (folder / own_windows.LISTED).read_bytes().decode("utf-16-le").split("\r\n")
        missing = [line for line in lines if not (folder / line.replace("\\", "/")).exists()]
        if missing:
            raise RuntimeError(f"the staged version lacks {missing}")


def _about(words: str) -> str:
    """Return the last part of the first path in a call."""
    return words.partition('"')[2].partition('"')[0].rpartition("/")[2]


def attempt(work: Path, most: int) -> str:
    """Kill at up to `most` points, evenly spread; return what came of it. Raises: RuntimeError."""
    kills = Kills(work)
    try:
        kills.prepare()
        kills.go_back()
        kills.hold()
        found, chosen = _chosen(kills, most)
        begun, seen = time.monotonic(), {f"weir {OLD}": 0, f"weir {NEW}": 0}
        for number, point in enumerate(chosen):
            seen[kills.round(point, is_repaired=number % 4 == 0)] += 1
        if not all(seen.values()):
            raise RuntimeError(f"every kill left the same version: {seen}")
        beside, tried = _chosen(kills, max(1, most // 2), is_staged=True)
        for point in tried:
            kills.staged(point)
    finally:
        kills.prefix.end()
    parts = ", ".join(f"{count} times {name}" for name, count in seen.items())
    return (
        f"killed before {len(chosen)} of {len(found)} changes of files: {parts}, never neither; "
        f"while staged, before {len(tried)} of {len(beside)}: {OLD} each time; "
        f"{time.monotonic() - begun:.0f} s"
    )


def _chosen(kills: Kills, most: int, *, is_staged: bool = False) -> tuple[list[Point], list[Point]]:
    """Return all points, and up to `most` of them, evenly spread. Raises: RuntimeError."""
    found = kills.points(is_staged=is_staged)
    if not found:
        raise RuntimeError("no change of a file was seen")
    count = min(most, len(found))
    return found, [found[number * len(found) // count] for number in range(count)]


def lacks() -> str | None:
    """Return which programs are missing, as a sentence; None: it can be tried here."""
    missing = sorted({name for tool, name in PROGRAMS.items() if shutil.which(tool) is None})
    return f"programs are missing: apt-get install {' '.join(missing)}" if missing else None


def main() -> int:
    """Try it; 1 when a kill left no program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=50)
    parser.add_argument("--work", type=Path, help="a new folder; without one it is temporary")
    options = parser.parse_args()
    lacking = lacks()
    if lacking is not None:
        sys.stdout.write(f"kills of the set-up: skipped: {lacking}\n")
        return 0
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="weir-kills-", ignore_cleanup_errors=True) as folder:
        work = options.work or Path(folder)
        work.mkdir(exist_ok=True)
        try:
            sys.stdout.write(attempt(work.resolve(), options.points) + "\n")
        except RuntimeError as error:
            sys.stderr.write(f"error: {error}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
