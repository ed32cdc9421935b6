"""Bytecode: what Python's own compiler writes, known by digest, and whole after any kill."""

import asyncio
import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import psutil
import pytest

from studio.domain.errors import HostLacks
from studio.domain.events import Stage, StageProgress
from studio.host import tools
from studio.host.meter import Meter
from studio.host.paths import Paths, bundled_root
from studio.runtimes import bytecode
from studio.runtimes.store import Read
from tests.fakes.waiting import until

TAG = f".{sys.implementation.cache_tag}.pyc"
PYTHON = Path(sys.executable)
SOURCES = {
    "plain.py": b'"""A module."""\n\nimport os\n\ndef f(x, *, y=(1, "a")):\n    return x, y\n',
    "empty.py": b"",
    "latin.py": "# -*- coding: latin-1 -*-\nNAME = 'Höhe'\n".encode("latin-1"),
    "marked.py": b"\xef\xbb\xbfNAME = 'with a mark'\n",
    "old.py": b"import re\nBAD = '\\d'\n",
    "deep/er/näme n.py": b"class A:\n    async def b(self):\n        return [c async for c in d]\n",
}
NOT_PYTHON = {"template.py": b"{{ name }} = }\n", "null.py": b"x = 1\0\n"}
OTHERS = {
    "deep/libfast.so": b"\x7fELF" * 600_000,
    "deep/empty.typed": b"",
    "name-1.0.dist-info/RECORD": b"deep/empty.typed,,\n",
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder of packages inside a runtime's folder, as an interpreter there has it."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    place = tmp_path / "my rüntime" / "python" / "lib" / version / "site-packages"
    for name, text in (SOURCES | NOT_PYTHON).items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    program = place.parents[2] / "bin" / "python3"
    program.parent.mkdir()
    program.symlink_to(PYTHON)
    (place.parents[2] / "pyvenv.cfg").write_text(f"home = {PYTHON.resolve().parent}\n")
    return place


def paths_of(site: Path) -> Paths:
    """Return a home beside the runtime, with the catalogue's tools."""
    return Paths(home=site.parents[4] / "home", catalogue=bundled_root())


async def compiled(site: Path, reports: list[StageProgress] | None = None) -> dict[str, Read]:
    """Compile the packages of the runtime, and return what is known of their files."""
    heard = reports if reports is not None else []
    root = site.parents[3]
    meter = Meter(Stage.RUNTIME, "x", heard.append)
    python = root / "python" / "bin" / "python3"
    return await bytecode.compile_packages(paths_of(site), root, python, meter)


def cached(source: Path) -> Path:
    """Return where a source's bytecode lies."""
    return source.parent / "__pycache__" / f"{source.stem}{TAG}"


def test_it_is_what_python_writes_byte_for_byte(site: Path) -> None:
    """Bytecode that differs would be another runtime on each machine, and perhaps a wrong one."""
    asyncio.run(compiled(site))
    ours = _bytecode(site)
    for path in site.rglob("*.pyc"):
        path.unlink()
    theirs = [PYTHON, "-I", "-m", "compileall", "-q", str(site)]
    subprocess.run(theirs, check=False, capture_output=True)

    assert ours == _bytecode(site)
    assert ours.keys() == {cached(site / name) for name in SOURCES}


def _bytecode(site: Path) -> dict[Path, tuple[int, bytes]]:
    """Return mode and content of every compiled file."""
    return {path: (path.stat().st_mode, path.read_bytes()) for path in site.rglob("*.pyc")}


def _written(path: Path) -> tuple[int, int, int]:
    """Return which file it is and when it was written: that it is read changes its other time."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns


async def test_what_was_read_and_written_is_known(site: Path) -> None:
    """The store and the list of files take these digests for true."""
    reports: list[StageProgress] = []
    known = await compiled(site, reports)

    root = site.parents[3]
    files = [site / name for name in SOURCES | NOT_PYTHON] + [cached(site / n) for n in SOURCES]
    assert {root / path for path in known} == set(files)
    for path, (inode, hashed) in known.items():
        found = (root / path).stat()
        assert (inode, hashed.size, hashed.mtime_ns) == (
            *(found.st_ino, found.st_size, found.st_mtime_ns),
        )
        assert hashed.sha256 == hashlib.sha256((root / path).read_bytes()).digest()
        assert not hashed.is_executable
    assert list(root.iterdir()) == [root / "python"]
    total = sum(len(text) for text in (SOURCES | NOT_PYTHON).values())
    assert total in {report.total for report in reports}


async def test_every_other_file_is_read_on_the_way(site: Path) -> None:
    """So the store and the list of files need not: links, pipes and odd names are left to them."""
    for name, content in OTHERS.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (site / "deep" / "libfast.so").chmod(0o755)
    (site / "deep" / "link.so").symlink_to("libfast.so")
    os.mkfifo(site / "deep" / "pipe")
    (site / os.fsdecode(b"odd\xff.txt")).write_bytes(b"?")
    reports: list[StageProgress] = []

    known = await compiled(site, reports)

    root = site.parents[3]
    read = {path: one for path, one in known.items() if not path.endswith((".py", ".pyc"))}
    assert {root / path for path in read} == {site / name for name in OTHERS}
    assert len(known) == len(OTHERS) + 2 * len(SOURCES) + len(NOT_PYTHON)
    for path, (inode, hashed) in read.items():
        found = (root / path).stat()
        assert (inode, hashed.size, hashed.mtime_ns) == (
            *(found.st_ino, found.st_size, found.st_mtime_ns),
        )
        assert hashed.sha256 == hashlib.sha256((root / path).read_bytes()).digest()
        assert hashed.is_executable is path.endswith(".so")
    total = sum(len(text) for text in (SOURCES | NOT_PYTHON).values())
    assert {report.total for report in reports} == {None, total}


def killing(site: Path, *, often: bool) -> Paths:
    """Return a catalogue whose compiler's workers are killed with a source in hand, once or always.

    As the kernel does it that has no memory left.
    """
    paths = paths_of(site)
    flag = site.parents[4] / "killed"
    kill = "os.kill(os.getpid(), 9)"
    if not often:
        kill = (
            f"with contextlib.suppress(FileExistsError):\n"
            f"        os.open({str(flag)!r}, os.O_CREAT | os.O_EXCL)\n"
            f"        {kill}"
        )
    text = tools.tool_file(paths, "compile_sources.py").read_text("utf-8")
    first = "    source = read(path)\n"
    assert text.count(first) == 1
    place = site.parents[4] / "catalogue" / "runtimes" / "tools" / "compile_sources.py"
    place.parent.mkdir(parents=True)
    place.write_text(text.replace(first, f"    {kill}\n{first}"), "utf-8")
    return Paths(home=paths.home, catalogue=site.parents[4] / "catalogue")


async def compiled_by(paths: Paths, site: Path) -> dict[str, Read]:
    """Compile with the tools of a catalogue."""
    root = site.parents[3]
    meter = Meter(Stage.RUNTIME, "x", lambda _progress: None)
    return await bytecode.compile_packages(paths, root, root / "python" / "bin" / "python3", meter)


async def test_what_a_killed_worker_had_in_hand_is_compiled_all_the_same(site: Path) -> None:
    """On a small machine the kernel ends one; its files would start slowly for ever."""
    await compiled_by(killing(site, often=False), site)

    assert _bytecode(site).keys() == {cached(site / name) for name in SOURCES}
    assert not (site.parents[3] / bytecode.REPORT_FOLDER).exists()


async def test_workers_that_are_killed_again_and_again_are_told_of(site: Path) -> None:
    """With the signal, and what to do; half an installation must not pass for a whole one."""
    with pytest.raises(HostLacks) as caught:
        await compiled_by(killing(site, often=True), site)

    assert caught.value.code == "compiler-ended"
    assert "signal 9, twice" in caught.value.message
    assert "memory" in (caught.value.hint or "")


async def test_bytecode_that_was_cut_off_is_written_anew_and_whole_one_left(site: Path) -> None:
    """After a kill; a file that another runtime has too must not be written into."""
    await compiled(site)
    cut, whole, shared = (cached(site / name) for name in ("plain.py", "old.py", "latin.py"))
    good = cut.read_bytes()
    cut.write_bytes(bytes(16) + good[16:40])
    before = _written(whole)
    other = site.parents[4] / "of another"
    other.hardlink_to(shared)
    os.utime(site / "latin.py", (1e9, 1e9))
    theirs = other.read_bytes()

    known = await compiled(site)

    assert cut.read_bytes() == good
    assert _written(whole) == before
    assert other.read_bytes() == theirs != shared.read_bytes()
    names = {Path(path).name for path in known if path.endswith(".pyc")}
    assert names == {cut.name, shared.name}


async def test_a_place_that_cannot_be_written_is_named(site: Path) -> None:
    """The disk, or a file where a folder should be: the message says which."""
    (site / "__pycache__").write_bytes(b"a file")

    with pytest.raises(OSError, match="Not a directory") as caught:
        await compiled(site)

    assert str(caught.value.filename).startswith(str(site / "__pycache__"))


async def test_a_report_that_finds_no_room_is_told_as_that(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is no want of memory, for which one would close other programs in vain."""
    full = site.parents[3] / bytecode.REPORT_FOLDER
    monkeypatch.setattr(bytecode, "_empty", lambda report: report.write_text("no folder"))

    with pytest.raises(NotADirectoryError) as caught:
        await compiled(site)

    assert str(caught.value.filename).startswith(f"{full}/")


async def test_a_report_that_is_not_whole_counts_for_nothing(site: Path) -> None:
    """What a worker was writing when it died is read from the files instead."""
    report = site.parents[3] / "compiled"
    report.mkdir()
    (report / "7.json").write_bytes(b'[["python/x.py", 1, 2')

    assert bytecode._taken(site.parents[3], report) == {}
    assert not report.exists()


def test_workers_end_when_their_parent_was_killed(site: Path) -> None:
    """A run that goes on must not meet those of the one before."""
    line = b"X = [" + b"(1, 2, 3), " * 4000 + b"]\n"
    for number in range(60):
        (site / f"long{number}.py").write_bytes(line * 20)
    question = msgspec.json.encode({"places": [str(site)], "workers": 2}).decode()
    script = tools.tool_file(paths_of(site), "compile_sources.py")
    with subprocess.Popen([PYTHON, "-I", str(script), question], stdout=subprocess.DEVNULL) as run:
        leader = psutil.Process(run.pid)
        until(lambda: len(leader.children()) == 2, "two workers")
        workers = leader.children()
        run.send_signal(signal.SIGKILL)
        run.wait()

    _gone, alive = psutil.wait_procs(workers, timeout=30)

    assert alive == []
    assert len(list(site.rglob("long*.pyc"))) < 60


SMALL_PIPE = """\
import fcntl, os, runpy, sys
pipe = os.pipe
def small():
    ends = pipe()
    fcntl.fcntl(ends[0], 1031, 4096)  # F_SETPIPE_SZ
    return ends
os.pipe = small
script = runpy.run_path(sys.argv.pop(1))
script["main"].__globals__["BATCH"] = 1
script["main"]()
"""


def test_more_sources_than_a_pipe_holds_numbers_are_compiled(site: Path) -> None:
    """Who has many pipes open gets small ones (pipe(7)): handing out must not wait for nobody."""
    for number in range(1_030):
        (site / f"small{number}.py").touch()
    question = msgspec.json.encode({"places": [str(site)], "workers": 2}).decode()
    script = tools.tool_file(paths_of(site), "compile_sources.py")

    done = subprocess.run(
        [PYTHON, "-I", "-c", SMALL_PIPE, str(script), question],
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert len(list(site.rglob("small*.pyc"))) == 1_030
