"""Kept installations: going back and forward at once, and clearing up without loss."""

import asyncio
import contextlib
import os
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.domain.errors import Busy, NotFound
from studio.domain.manifests import InstalledRuntime
from studio.host import uv_cache
from studio.host.child import MARKER
from studio.host.files import exclusive
from studio.runtimes import bundle_part, folder, versions
from studio.runtimes.install import install
from studio.runtimes.repair import ensure_whole
from tests.fakes.wheels import make_wheel
from tests.runtimes import standin
from tests.runtimes.standin import StandIn


def update(stand_in: StandIn, number: int) -> InstalledRuntime:
    """Install, with one package of its own for each number."""
    name = f"weirextra{number}"
    line = make_wheel(stand_in.wheels, name, {f"{name}/data": os.urandom(300_000)})
    lock = stand_in.recipe_file.parent / "requirements.lock"
    kept = [row for row in lock.read_text().splitlines() if "weirextra" not in row]
    lock.write_text("\n".join([*kept, line]) + "\n")
    return asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))


def used(stand_in: StandIn) -> InstalledRuntime | None:
    """Return what a start would use."""
    recipe, paths = stand_in.recipe, stand_in.paths
    return asyncio.run(ensure_whole(recipe, paths, stand_in.reports.append))


def taken_bytes(stand_in: StandIn) -> int:
    """Return the bytes of all files and links of the home, each inode once."""
    found = (path.lstat() for path in stand_in.paths.home.rglob("*"))
    return sum({s.st_ino: s.st_size for s in found if not stat.S_ISDIR(s.st_mode)}.values())


@contextlib.contextmanager
def engine_from(stand_in: StandIn, record: InstalledRuntime) -> Iterator[None]:
    """Run a process that looks like an engine of this home."""
    python = folder.folder_of(stand_in.paths, record) / "python"
    argv = [sys.executable, "-c", "input()", str(python)]
    read, write = os.pipe()
    child = os.posix_spawn(
        sys.executable,
        argv,
        {MARKER: str(stand_in.paths.home)},
        file_actions=[(os.POSIX_SPAWN_DUP2, read, 0), (os.POSIX_SPAWN_CLOSE, write)],
    )
    os.close(read)
    try:
        yield
    finally:
        os.close(write)
        os.waitpid(child, 0)


def test_back_to_yesterday_and_forward_again(stand_in: StandIn) -> None:
    """At once, exactly what ran, and a newer recipe does not undo a person's choice."""
    first, second = update(stand_in, 1), update(stand_in, 2)
    assert versions.kept(stand_in.paths, standin.NAME) == [first, second]
    began = time.process_time()

    back = versions.rollback(stand_in.paths, standin.NAME)

    assert time.process_time() - began < 1
    assert back == first
    assert used(stand_in) == first
    assert asyncio.run(install(stand_in.recipe, stand_in.paths, print)) == first
    assert versions.kept(stand_in.paths, standin.NAME) == [first, second]
    assert versions.forward(stand_in.paths, standin.NAME) == second
    assert used(stand_in) == second


def test_the_installer_keeps_the_one_before(stand_in: StandIn) -> None:
    """An update that turns out bad has somewhere to go back to."""
    records = [update(stand_in, number) for number in range(3)]

    for record in records:
        assert folder.python_of(stand_in.paths, record).exists()
    assert versions.rollback(stand_in.paths, standin.NAME) == records[1]
    assert versions.rollback(stand_in.paths, standin.NAME) == records[0]


def test_where_there_is_nothing_it_says_so(stand_in: StandIn) -> None:
    """Three different sentences, for three different next steps."""
    with pytest.raises(NotFound) as missing:
        versions.rollback(stand_in.paths, standin.NAME)
    record = update(stand_in, 1)
    with pytest.raises(NotFound) as back:
        versions.rollback(stand_in.paths, standin.NAME)
    with pytest.raises(NotFound) as ahead:
        versions.forward(stand_in.paths, standin.NAME)
    home = folder.named_folder(stand_in.paths, standin.NAME)
    with exclusive(home / "install.lock"), pytest.raises(Busy) as busy:
        versions.rollback(stand_in.paths, standin.NAME)

    assert missing.value.code == "runtime-not-installed"
    assert back.value.code == "nothing-to-roll-back"
    assert ahead.value.code == "nothing-to-go-forward-to"
    assert busy.value.code == "install-running"
    assert record.runtime_id[:12] in back.value.message


def test_an_earlier_one_that_was_removed_is_passed_over(stand_in: StandIn) -> None:
    """People delete folders; the one before it is as good."""
    first, second, _third = (update(stand_in, number) for number in range(3))
    shutil.rmtree(folder.folder_of(stand_in.paths, second))

    assert versions.rollback(stand_in.paths, standin.NAME) == first


def test_clearing_up_frees_what_it_says_and_no_more(stand_in: StandIn) -> None:
    """The present one, the one before it and the cache they need stay; links count once."""
    first, second, third = (update(stand_in, number) for number in range(3))
    home = folder.named_folder(stand_in.paths, standin.NAME)
    (home / "0123456789ab" / "python").mkdir(parents=True)
    (home / "0123456789ab" / "python" / "half").write_bytes(b"x" * 1000)
    before = taken_bytes(stand_in)

    planned = versions.collect(stand_in.paths, dry_run=True)
    assert taken_bytes(stand_in) == before
    done = versions.collect(stand_in.paths, dry_run=False)

    assert (done.removals, done.bytes) == (planned.removals, planned.bytes)
    assert before - taken_bytes(stand_in) == done.bytes
    assert 301_000 < done.bytes < 400_000
    assert not folder.folder_of(stand_in.paths, first).exists()
    assert {path.name for path in home.iterdir() if path.is_dir()} == {
        folder.folder_of(stand_in.paths, one).name for one in (second, third)
    }
    assert used(stand_in) == third
    assert versions.collect(stand_in.paths, dry_run=False).removals == ()
    assert versions.rollback(stand_in.paths, standin.NAME) == second
    assert used(stand_in) == second


def test_the_cache_keeps_what_the_kept_ones_were_made_of(stand_in: StandIn) -> None:
    """A repair of theirs needs no network."""
    for number in range(3):
        update(stand_in, number)

    versions.collect(stand_in.paths, dry_run=False)

    pins = {f"{name}==1.0" for name in ("weirtiny", "weirother", "weirextra1", "weirextra2")}
    cache = stand_in.paths.cache / "uv"
    assert {pin for _place, pin in uv_cache.unpacked(cache, pins)} == pins
    assert list(uv_cache.unpacked(cache, {"weirextra0==1.0"})) == []


def test_what_runs_or_is_ahead_or_is_being_installed_stays(stand_in: StandIn) -> None:
    """An engine loads modules for as long as it lives."""
    first, second, third = (update(stand_in, number) for number in range(3))
    home = folder.named_folder(stand_in.paths, standin.NAME)

    with engine_from(stand_in, first):
        assert versions.collect(stand_in.paths, dry_run=False).removals == ()
    with exclusive(home / "install.lock"):
        assert versions.collect(stand_in.paths, dry_run=False).removals == ()
    versions.rollback(stand_in.paths, standin.NAME)
    versions.rollback(stand_in.paths, standin.NAME)
    assert versions.collect(stand_in.paths, dry_run=False).removals == ()

    assert versions.kept(stand_in.paths, standin.NAME) == [first, second, third]


def test_a_removal_that_was_cut_off_is_finished(stand_in: StandIn) -> None:
    """Half a runtime must not pass for one; it is renamed before anything is deleted."""
    record = update(stand_in, 1)
    place = folder.folder_of(stand_in.paths, record)
    doomed = place.with_name(f".removing-{'0' * 12}")
    shutil.copytree(place, doomed, symlinks=True)

    assert versions.kept(stand_in.paths, standin.NAME) == [record]
    versions.collect(stand_in.paths, dry_run=False)

    assert not doomed.exists()
    assert used(stand_in) == record


def test_the_rest_of_an_export_that_was_cut_off_goes(stand_in: StandIn, tmp_path: Path) -> None:
    """It lies outside of the home, under a hidden name, and may be gigabytes."""
    update(stand_in, 1)
    home = folder.named_folder(stand_in.paths, standin.NAME)
    part = bundle_part.of(tmp_path / "b")
    part.write_bytes(b"x" * 5000)
    (home / bundle_part.NOTE).write_text(str(part))

    planned = versions.collect(stand_in.paths, dry_run=True)
    assert [one.path for one in planned.removals] == [str(part)]
    assert planned.bytes >= 5000
    versions.collect(stand_in.paths, dry_run=False)

    assert not part.exists()
    assert versions.collect(stand_in.paths, dry_run=True).removals == ()


def test_links_that_stay_elsewhere_free_nothing(tmp_path: Path) -> None:
    """A runtime's files are links into the cache: removing it alone frees next to nothing."""
    for name in ("runtime", "other", "cache"):
        (tmp_path / name).mkdir()
    (tmp_path / "cache" / "a").write_bytes(b"a" * 100)
    (tmp_path / "runtime" / "a").hardlink_to(tmp_path / "cache" / "a")
    (tmp_path / "other" / "a").hardlink_to(tmp_path / "cache" / "a")
    (tmp_path / "runtime" / "own").write_bytes(b"o" * 10)

    assert versions.freed_bytes([tmp_path / "runtime"]) == 10
    assert versions.freed_bytes([tmp_path / "runtime", tmp_path / "cache"]) == 10
    assert versions.freed_bytes([tmp_path / n for n in ("runtime", "cache", "other")]) == 110
