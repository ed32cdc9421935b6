"""SIGKILL in the middle of an installation, wherever one likes, and what must hold afterwards.

A `Site` is a home and what is installed into it. `strike` installs in a child process that dies at
a chosen point: at the n-th thing it does to the disk, after a share of its time, or when so many
files lie in the new folder (those that uv and the compilers put there count too).
"""

import collections
import contextlib
import dataclasses
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from studio.domain.errors import Damaged
from studio.domain.manifests import InstalledRuntime
from studio.host.documents import read_json
from studio.runtimes import folder, history, verify, versions
from studio.runtimes import manifest as manifests
from studio.runtimes.install import install
from tests.runtimes.standin import StandIn

ROOT = Path(__file__).parents[2]
LIMIT_S = 600.0
_TEMPORARY = re.compile(
    r"\..+\.[a-z0-9_]{8}|\.removing-.*|.*\.partial|.*\.part|.*\.pyc\.\d+|\..+\.(mode|link)"
)

VICTIM = """
import asyncio, os, signal, sys
from pathlib import Path
home, catalogue = map(Path, sys.argv[1:3])
name, notes, last, fatal = sys.argv[3], sys.argv[4], int(sys.argv[5]), sys.argv[6]
from studio.host.paths import Paths
from studio.runtimes.catalog import Catalog
from studio.runtimes.install import install
out = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
points = 0
def say(text):
    os.write(out, (text + "\\n").encode())
def point():
    global points
    points += 1
    if points == last:
        os.kill(os.getpid(), signal.SIGKILL)
EVENTS = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.chmod",
          "os.utime", "subprocess.Popen", "shutil.rmtree"}
def hook(event, arguments):
    if event in EVENTS or (event == "open" and isinstance(arguments[2], int)
                           and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
        point()
said = None
def report(progress):
    global said
    if progress.note != said:
        said = progress.note
        say(said or "")
        if fatal and (said or "").startswith(fatal):
            os.kill(os.getpid(), signal.SIGKILL)
    point()
paths = Paths(home=home, catalogue=catalogue)
recipe = Catalog(paths).recipe(name)
say("(nothing yet)")
sys.addaudithook(hook)
asyncio.run(install(recipe, paths, report))
say("(done)")
print(points)
"""


MISSED = "(finished before the kill)"
"""In place of the part of the work that was hit."""


@dataclasses.dataclass(kw_only=True)
class Site:
    """A home, its catalogue, and the installation that was in use before; None: there was none."""

    stand_in: StandIn
    name: str
    old: InstalledRuntime | None
    question: str
    """What its interpreter is asked; it must answer `answer_new`, the old one `answer_old`."""
    answer_new: str
    answer_old: str = ""
    histogram: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)

    @property
    def home(self) -> Path:
        """Return the folder of all installations."""
        return folder.named_folder(self.stand_in.paths, self.name)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measure:
    """How much an undisturbed installation does."""

    points: int
    seconds: float
    files: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Point:
    """Where to strike; exactly one is set."""

    event: int | None = None
    note: str | None = None
    """What it says by then, or begins to say."""
    after_s: float | None = None
    files: int | None = None


def random_point(choice: random.Random, measure: Measure) -> Point:
    """Return a point of an installation; short steps are hit by events, long ones by the clock."""
    kind = choice.randrange(3)
    if kind == 0:
        return Point(event=choice.randint(1, measure.points - 5))
    if kind == 1:
        return Point(after_s=choice.uniform(0.02, measure.seconds))
    return Point(files=choice.randint(1, measure.files))


def measured(site: Site) -> Measure:
    """Install once, undisturbed."""
    before = _files(site.home)
    begun = time.perf_counter()
    child = _start(site, 0, "")
    output, errors = child.communicate(timeout=LIMIT_S)
    assert child.returncode == 0, errors
    seconds = time.perf_counter() - begun
    return Measure(points=int(output), seconds=seconds, files=_files(site.home) - before)


def strike(site: Site, point: Point) -> str:
    """Install in a child that dies at `point`; return during which part of the work it died."""
    notes = _notes(site)
    notes.unlink(missing_ok=True)
    before = _files(site.home)
    begun = time.perf_counter()
    child = _start(site, point.event or 0, point.note or "")
    while child.poll() is None:
        is_late = point.after_s is not None and time.perf_counter() - begun >= point.after_s
        is_full = point.files is not None and _files(site.home) - before >= point.files
        if is_late or is_full:
            os.kill(child.pid, signal.SIGKILL)
            break
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(0.005)
        assert time.perf_counter() - begun < LIMIT_S
    child.communicate()
    _until_alone(site)
    step = _step(notes) if child.returncode == -signal.SIGKILL else MISSED
    site.histogram[step] += 1
    return step


def assert_sound(site: Site) -> None:
    """Check what must hold at any instant: what is called installed is whole, and the old runs."""
    paths = site.stand_in.paths
    for record in _records(site.home):
        root = folder.folder_of(paths, record)
        manifest = manifests.read(root)
        assert manifest is not None, f"{root} has a record and no list"
        assert verify.examine(root, manifest).findings == []
    now = history.current(site.home)
    if site.old is None:
        assert now is None or folder.current(paths, site.name) is not None
        return
    used = folder.current(paths, site.name)
    assert used is not None, "what was in use is no longer installed"
    is_old = used.runtime_id == site.old.runtime_id
    assert _ask(site, used) == (site.answer_old if is_old else site.answer_new)
    assert _ask(site, site.old) == site.answer_old


async def assert_recovers(site: Site) -> None:
    """Check that a second run completes, a clean-up leaves nothing, and one can go back."""
    paths = site.stand_in.paths
    made = await install(site.stand_in.recipe, paths, lambda _report: None)
    assert folder.installed(paths, site.stand_in.recipe) == made
    assert_sound(site)
    assert _ask(site, made) == site.answer_new
    versions.collect(paths, dry_run=False)
    kept = {folder.folder_of(paths, one).name for one in (made, site.old) if one is not None}
    assert {path.name for path in site.home.iterdir()} == {
        *("install.lock", "current", "history"),
        *kept,
    }
    assert list(_litter(paths.home)) == []
    if site.old is not None:
        assert versions.rollback(paths, site.name).runtime_id == site.old.runtime_id
        assert_sound(site)
        versions.forward(paths, site.name)


def report_text(site: Site) -> str:
    """Return how often each part of the work was hit."""
    total = sum(site.histogram.values())
    rows = [f"{count:5d}  {step}" for step, count in site.histogram.most_common()]
    return "\n".join([f"{total} kills, by what was being done:", *rows, ""])


def _start(site: Site, last: int, fatal: str) -> subprocess.Popen[str]:
    paths = site.stand_in.paths
    arguments = [paths.home, paths.catalogue, site.name, _notes(site), str(last), fatal]
    return subprocess.Popen(
        [sys.executable, "-c", VICTIM, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _notes(site: Site) -> Path:
    """Return where the child says what it does; outside of the home, which is looked over."""
    return site.stand_in.paths.home.parent / "notes of the victim"


def _step(notes: Path) -> str:
    """Return the last note without what differs from run to run."""
    lines = notes.read_text("utf-8").splitlines() if notes.exists() else ["(nothing yet)"]
    last = re.sub(r"\d[\d.,]*( [KMG]iB)?", "N", lines[-1])
    return re.sub(r"(Downloading|Setting up|Compiling|Restoring) .*", r"\1 …", last)


def _files(place: Path) -> int:
    return sum(len(names) for _root, _folders, names in os.walk(place))


def _records(home: Path) -> Iterator[InstalledRuntime]:
    for place in home.glob("*/runtime.json"):
        try:
            record = read_json(place, InstalledRuntime)
        except Damaged as error:
            raise AssertionError(f"{place} is half a record") from error
        assert record is not None
        yield record


def _ask(site: Site, record: InstalledRuntime) -> str:
    python = folder.python_of(site.stand_in.paths, record)
    done = subprocess.run(
        [python, "-I", "-B", "-c", site.question], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _litter(home: Path) -> Iterator[Path]:
    """Yield what only a cut-off write leaves; what lies in uv's own cache is uv's."""
    for root, folders, names in os.walk(home):
        if Path(root) == home / "cache":
            folders[:] = [name for name in folders if name != "uv"]
        yield from (Path(root, name) for name in (*folders, *names) if _TEMPORARY.fullmatch(name))


def _until_alone(site: Site) -> None:
    """Wait until the kernel has ended the helpers of a child that died."""
    deadline = time.monotonic() + 30.0
    mark = str(site.stand_in.paths.home)
    while True:
        left = [process for process in psutil.process_iter() if _works_in(process, mark)]
        if not left:
            return
        assert time.monotonic() < deadline, f"helpers outlive their parent: {left}"
        psutil.wait_procs(left, timeout=0.2)


def _works_in(process: psutil.Process, mark: str) -> bool:
    with contextlib.suppress(psutil.Error):
        is_alive = process.status() != psutil.STATUS_ZOMBIE
        return is_alive and any(mark in part for part in process.cmdline())
    return False


class Template:
    """A home as it was before, to be put back for each strike under the very same path."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._kept = home.with_name(f"{home.name} as it was")
        if home.exists():
            _copy(home, self._kept)

    def restore(self) -> None:
        """Put it back."""
        shutil.rmtree(self._home, ignore_errors=True)
        if self._kept.exists():
            _copy(self._kept, self._home)


def _copy(source: Path, target: Path) -> None:
    """Copy with times, modes and hard links, as `cp -a` does."""
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)
