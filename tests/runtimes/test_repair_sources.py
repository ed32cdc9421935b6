"""Moving files in: whole, never in place, and never through somebody's link."""

import asyncio
import ctypes.util
import hashlib
import shutil
from pathlib import Path

import pytest

from studio.domain.manifests import SystemLibrary
from studio.runtimes import folder, libraries, repair_sources
from studio.runtimes.install import install
from studio.runtimes.manifest import EXECUTABLE, PLACED, Entry
from studio.runtimes.repair import repair
from studio.runtimes.verify import verify
from tests.runtimes.standin import StandIn


def _entry(flags: int) -> Entry:
    return Entry("python/bin/script", flags, 0, 0, b"")


def test_a_mode_is_given_to_a_copy(tmp_path: Path) -> None:
    """The file is a link into the package cache, which other runtimes use."""
    cached, file = tmp_path / "cached", tmp_path / "file"
    cached.write_bytes(b"content")
    file.hardlink_to(cached)

    repair_sources.give_mode(file, file, _entry(EXECUTABLE))

    assert file.stat().st_mode & 0o111
    assert not cached.stat().st_mode & 0o111
    assert file.read_bytes() == cached.read_bytes()
    assert file.stat().st_mtime_ns == cached.stat().st_mtime_ns
    assert {path.name for path in tmp_path.iterdir()} == {"cached", "file"}


def test_a_right_mode_changes_nothing(tmp_path: Path) -> None:
    """The link into the cache stays a link."""
    file = tmp_path / "file"
    file.write_bytes(b"content")
    inode = file.stat().st_ino

    repair_sources.give_mode(file, file, _entry(0))

    assert file.stat().st_ino == inode


def test_room_is_made_inside_and_nothing_outside_is_touched(tmp_path: Path) -> None:
    """A folder that became a link would lead the repair into somebody's files."""
    root, away = tmp_path / "root", tmp_path / "away"
    (root / "python").mkdir(parents=True)
    away.mkdir()
    (away / "target").write_text("somebody's")
    (root / "python" / "package").symlink_to(away)
    target = root / "python" / "package" / "target"

    repair_sources.make_room(root, target)
    target.write_text("ours")

    assert (away / "target").read_text() == "somebody's"
    assert not (root / "python" / "package").is_symlink()
    target.unlink()
    (target / "folder").mkdir(parents=True)
    repair_sources.make_room(root, target)
    assert not target.exists()


def test_a_script_is_written_for_its_place(tmp_path: Path) -> None:
    """And may be executed."""
    target = tmp_path / "python" / "bin" / "script"

    repair_sources.write_placed(
        target, b"#!{runtime}\npass\n", tmp_path, _entry(EXECUTABLE | PLACED)
    )

    assert str(tmp_path).encode() in target.read_bytes()
    assert target.stat().st_mode & 0o111


def test_what_is_still_wrong_is_not_listed_as_right(tmp_path: Path) -> None:
    """The list is written from what is there, after another reading."""
    entry = Entry("python/file", 0, 3, 0, b"0" * 32)

    assert repair_sources.hashed_again(tmp_path, entry, tmp_path) is None


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Path]:
    """Stand in for the system's package manager: it hands out a library that the system lacks."""
    handed: list[Path] = []
    source = next(Path("/usr/lib").glob("*/libz.so.1"), None)
    if source is None:
        pytest.skip("this system keeps its libraries elsewhere")

    async def hand_out(library: SystemLibrary, place: Path) -> tuple[str, ...]:
        (place / "lib").mkdir(exist_ok=True)
        target = place / "lib" / library.soname
        shutil.copyfile(source, target)
        handed.append(target)
        return ()

    monkeypatch.setattr(libraries, "_from_debian", hand_out)
    return handed


@pytest.mark.parametrize("harm", ["gone", "emptied", "folder gone"])
def test_a_library_that_was_copied_in_is_handed_out_again(
    stand_in: StandIn, package: list[Path], harm: str
) -> None:
    """A cleaning program took `lib`; the engine would not load, and no package owns the file."""
    name = "libweironly.so.1"
    assert ctypes.util.find_library("weironly") is None
    text = stand_in.recipe_file.read_text("utf-8")
    ask = f'soname = "{name}"\npurpose = "a test"\npackages = {{ apt = "libweironly1" }}\n'
    stand_in.recipe_file.write_text(f"{text}\n[[libraries]]\n{ask}", "utf-8")
    recipe, paths, report = stand_in.recipe, stand_in.paths, stand_in.reports.append
    record = asyncio.run(install(recipe, paths, report))
    copy = folder.folder_of(paths, record) / "lib" / name
    whole = hashlib.sha256(copy.read_bytes()).digest()
    if harm == "folder gone":
        shutil.rmtree(copy.parent)
    elif harm == "gone":
        copy.unlink()
    else:
        copy.write_bytes(b"")
    assert not asyncio.run(verify(paths, record, full=True, report=report)).is_whole

    done = asyncio.run(repair(recipe, paths, report))

    assert (done.restored, done.is_rebuilt) == (1, False)
    assert hashlib.sha256(copy.read_bytes()).digest() == whole
    assert asyncio.run(verify(paths, record, full=True, report=report)).is_whole
    assert len(package) == 2
