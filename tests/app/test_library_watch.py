"""What others do to the folders of models is noticed, at a price that is kept."""

import asyncio
import os
from pathlib import Path

import pytest

from studio.app import library_watch
from studio.app.library_watch import Cost, lanes_of, pause_s
from studio.domain.library import RootKind
from studio.models.digests import DigestBook
from studio.models.roots import Root
from studio.models.shelf import Scan, Shelf
from tests.app.library_support import running, shelves
from tests.fakes.waiting import until_async
from tests.models.made_models import cached, model, safetensors


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look all the time: what a look costs is no matter here."""
    monkeypatch.setattr(library_watch, "_LEAST_S", 0.01)
    monkeypatch.setattr(library_watch, "_MOST_S", 0.05)


def scan_of(folder: Path) -> Scan:
    """Return what lies below a folder; the records lie beside it."""
    own = folder.parent
    shelf = Shelf(own, own, DigestBook(own))
    return shelf.scan([Root(path=str(folder), kind=RootKind.FOLDER)])


def changed(scan: Scan) -> tuple[bool, bool]:
    """Tell what the two looks see: at folders, at files."""
    folders, files = lanes_of(scan)
    return folders.is_changed(), files.is_changed()


def test_a_look_sees_what_came_went_and_was_written(tmp_path: Path) -> None:
    """Names by their folder's time; what was written in place by the file's own."""
    root = tmp_path / "root"
    model(root / "m")
    model(root / "o")
    weights = root / "m" / "model.safetensors"
    at = weights.stat().st_mtime_ns

    scan = scan_of(root)
    assert changed(scan) == (False, False)
    with weights.open("r+b") as file:
        file.truncate(9)
    os.utime(weights, ns=(at, at))
    assert changed(scan) == (False, True), "a size alone"
    scan = scan_of(root)
    os.utime(weights, ns=(at + 1, at + 1))
    assert changed(scan) == (False, True), "a time alone"
    scan = scan_of(root)
    (root / "m" / "more.safetensors").write_bytes(safetensors())
    assert changed(scan) == (True, False)
    scan = scan_of(root)
    weights.unlink()
    assert changed(scan) == (True, True)


def test_a_blob_that_went_is_seen_behind_its_link(tmp_path: Path) -> None:
    """`rm -r blobs` leaves a snapshot whose names lead nowhere."""
    root = tmp_path / "hub"
    snapshot = cached(root)
    scan = scan_of(root)
    (snapshot / "model.safetensors").resolve().unlink()

    assert changed(scan) == (True, True)


def test_a_folder_that_was_not_there_is_seen_when_it_comes(tmp_path: Path) -> None:
    """A disk that is mounted while the window is open."""
    disk = tmp_path / "disk"
    shelf = Shelf(tmp_path / "own", tmp_path / "cache", DigestBook(tmp_path / "own"))
    scan = shelf.scan([Root(path=str(disk), kind=RootKind.FOLDER)])
    assert changed(scan) == (False, False)

    model(disk / "m")

    assert changed(scan) == (True, False)


@pytest.mark.parametrize(
    ("cost", "wanted"),
    [
        (Cost(0.0, 0.0), 0.01),
        (Cost(0.00001, 0.00001), 0.025),
        (Cost(0.0, 0.002), 0.04),
        (Cost(1.0, 1.0), 0.05),
    ],
)
def test_what_a_look_costs_decides_when_the_next_one_is(cost: Cost, wanted: float) -> None:
    """Below a thousandth of a processor, and gently where a disk is slow."""
    assert pause_s(cost) == pytest.approx(wanted)


async def test_whatever_changes_is_announced_to_whoever_listens(tmp_path: Path) -> None:
    """The window shows it without being asked to look."""
    here = shelves(tmp_path)
    place = model(here.paths.models / "m")
    async with running(here.library()) as library:
        await library.all()
        here.heard.clear()

        model(here.paths.models / "n")
        await until_async(lambda: here.heard and here.changes()[-1].models == 2, "the new one")
        (place / "model.safetensors").write_bytes(safetensors() + b"more")
        version = here.changes()[-1].version
        await until_async(lambda: here.changes()[-1].version > version, "the written one")
        for file in place.iterdir():
            file.unlink()
        place.rmdir()
        await until_async(lambda: here.changes()[-1].models == 1, "the end of one")


async def test_a_change_that_another_question_found_first_is_announced_too(tmp_path: Path) -> None:
    """`weir models list` in a terminal looks as well; the window must hear of what it saw."""
    here = shelves(tmp_path)
    model(here.paths.models / "m")
    async with running(here.library()) as library:
        await library.all()
        here.heard.clear()
        model(here.paths.models / "n")
        await library.all()

        await until_async(lambda: here.heard and here.changes()[-1].models == 2, "the news")


async def test_nobody_who_listens_costs_no_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service on a headless box does not keep its disks awake."""
    looks: list[Scan] = []
    monkeypatch.setattr(library_watch, "lanes_of", looks.append)
    asked = 0

    def is_heard() -> bool:
        nonlocal asked
        asked += 1
        return False

    library = shelves(tmp_path).library()
    await library.all()
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(library_watch.watch(library._scanner, is_heard, lambda: None))
        await until_async(lambda: asked >= 3, "three turns")
        task.cancel()

    assert looks == []
