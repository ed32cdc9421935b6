"""Clearing the store up: nothing that is used, all that is not, counted as the disk counts."""

import os
import shutil
from pathlib import Path

import pytest

from studio.host.files import exclusive
from studio.runtimes import folder, versions
from studio.runtimes.folder import python_of
from studio.runtimes.store import Store
from studio.runtimes.store_clear import unused
from tests.runtimes import standin
from tests.runtimes.sharing_pair import add, build, forget_sources, root_of
from tests.runtimes.standin import StandIn


def taken_bytes(home: Path) -> int:
    """Return the bytes of all files and links of the home, each inode once."""
    found = {p.lstat().st_ino: p.lstat() for p in home.rglob("*") if p.is_symlink() or p.is_file()}
    return sum(one.st_size for one in found.values())


def without(stand_in: StandIn, name: str) -> None:
    """Take a package out of the lock."""
    lock = stand_in.recipe_file.parent / "requirements.lock"
    rows = [row for row in lock.read_text().splitlines() if not row.startswith(f"{name}==")]
    lock.write_text("\n".join([*rows, ""]))


def three(stand_in: StandIn) -> None:
    """Install three builds; only the first has `weirold`."""
    add(stand_in, "weirold", size=200_000)
    build(stand_in)
    without(stand_in, "weirold")
    add(stand_in, "weirmore")
    build(stand_in)
    add(stand_in, "weirlast")
    build(stand_in)


def test_what_no_installation_uses_goes_and_is_counted(stand_in: StandIn) -> None:
    """Said beforehand, to the byte; the last link frees a file and the others free nothing."""
    three(stand_in)
    before = taken_bytes(stand_in.paths.home)

    planned = versions.collect(stand_in.paths, dry_run=True)
    assert taken_bytes(stand_in.paths.home) == before
    done = versions.collect(stand_in.paths, dry_run=False)

    assert (done.removals, done.bytes) == (planned.removals, planned.bytes)
    assert before - taken_bytes(stand_in.paths.home) == done.bytes
    assert done.bytes > 200_000
    assert any("weirold 1.0 in the store" in one.what for one in done.removals)
    assert done.notes == ()
    assert versions.collect(stand_in.paths, dry_run=False).removals == ()
    names = {path.name.split("-")[0] for path in Store(stand_in.paths).packages.iterdir()}
    assert names == {"weirtiny", "weirother", "weirmore", "weirlast"}


def test_what_stays_is_whole_and_enough_to_install_from(stand_in: StandIn) -> None:
    """A clean-up that took too much would be found out at the next update, without a network."""
    three(stand_in)
    versions.collect(stand_in.paths, dry_run=False)
    forget_sources(stand_in)
    add(stand_in, "weirnew")

    made = build(stand_in)

    assert python_of(stand_in.paths, made).exists()


def test_what_a_kill_left_half_done_goes(stand_in: StandIn) -> None:
    """Half a blob never has a final name; a whole one without a list is nobody's."""
    build(stand_in)
    store = Store(stand_in.paths)
    half = store.blobs / "ab" / ".share-x1y2"
    orphan = store.blobs / "ab" / ("ab" * 32)
    list_of_nobody = store.packages / ".weirnew-1.0-0123.tmp"
    for path in (half, orphan, list_of_nobody, store.root / ".trial-abc"):
        path.write_bytes(b"x" * 100)

    done = versions.collect(stand_in.paths, dry_run=False)

    assert not half.exists()
    assert not orphan.exists()
    assert not list_of_nobody.exists()
    assert done.bytes == 400
    assert versions.collect(stand_in.paths, dry_run=True).removals == ()


def test_during_an_installation_the_store_is_left_alone_and_that_is_said(
    stand_in: StandIn,
) -> None:
    """Of another runtime too: it may be about to use what nothing uses yet."""
    three(stand_in)
    store = Store(stand_in.paths)
    with store.used():
        done = versions.collect(stand_in.paths, dry_run=False)
    home = folder.named_folder(stand_in.paths, standin.NAME)
    with exclusive(home / "install.lock"):
        also = versions.collect(stand_in.paths, dry_run=False)

    assert not any("in the store" in one.what for one in done.removals)
    assert any("store is in use" in note for note in done.notes)
    assert any(note.startswith(standin.NAME) for note in also.notes)


def test_where_it_is_not_known_what_is_used_nothing_goes(stand_in: StandIn) -> None:
    """A damaged list of files says nothing about its packages."""
    three(stand_in)
    current = folder.current(stand_in.paths, standin.NAME)
    assert current is not None
    manifest = root_of(stand_in, current) / "manifest"
    manifest.write_bytes(manifest.read_bytes()[:50])

    done = versions.collect(stand_in.paths, dry_run=False)

    assert not any("in the store" in one.what for one in done.removals)
    assert any("left alone" in note for note in done.notes)


def test_cut_off_in_the_middle_the_rest_goes_next_time(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists go before their blobs, so no list is left that names what is gone."""
    three(stand_in)
    left = [6]
    real = folder.remove

    def some(place: Path) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        real(place)

    monkeypatch.setattr(folder, "remove", some)
    with pytest.raises(KeyboardInterrupt):
        versions.collect(stand_in.paths, dry_run=False)
    monkeypatch.undo()
    store = Store(stand_in.paths)
    for path in store.packages.iterdir():
        record = store.record(path.name)
        assert record is not None
        assert all(store.blob(entry).exists() for entry in record.entries)

    versions.collect(stand_in.paths, dry_run=False)

    assert versions.collect(stand_in.paths, dry_run=False).removals == ()


def test_without_a_store_there_is_nothing_to_clear(stand_in: StandIn) -> None:
    """And none is made by looking."""
    build(stand_in)
    shutil.rmtree(stand_in.paths.store)

    assert unused(Store(stand_in.paths), ()) == []
    versions.collect(stand_in.paths, dry_run=False)
    assert not stand_in.paths.store.exists()


def test_a_removed_runtime_frees_the_whole_of_it(stand_in: StandIn) -> None:
    """Somebody deleted the folder of a runtime by hand: its packages have no user then."""
    build(stand_in)
    shutil.rmtree(folder.named_folder(stand_in.paths, standin.NAME))

    done = versions.collect(stand_in.paths, dry_run=False)

    assert done.removals
    assert list(Store(stand_in.paths).packages.iterdir()) == []
    assert [path for path in Store(stand_in.paths).blobs.rglob("*") if path.is_file()] == []
    assert os.access(stand_in.paths.store, os.W_OK)
