"""The store: two runtimes share their files, an update fetches what differs, damage stays alone."""

import asyncio
import errno
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from studio.domain.errors import Busy, StudioError
from studio.host.hashing import hash_file
from studio.host.sharing import Way
from studio.runtimes import stock, versions
from studio.runtimes.folder import python_of
from studio.runtimes.manifest import EXECUTABLE, LISTING, Entry
from studio.runtimes.store import Store, fits, interpreter_key, is_whole, package_keys
from studio.runtimes.verify import verify
from tests.fakes.disks import cloning_disk, free_bytes, subvolume
from tests.fakes.wheels import make_wheel
from tests.runtimes import damage, standin
from tests.runtimes.sharing_pair import (
    SITE,
    add,
    build,
    forget_sources,
    inodes,
    root_of,
    total_bytes,
)
from tests.runtimes.standin import StandIn


def run(stand_in: StandIn, python: Path, code: str) -> str:
    """Return what a runtime prints."""
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_second_runtime_fetches_what_differs_and_shares_the_rest(stand_in: StandIn) -> None:
    """Without uv's cache and without any wheel but the new one: the store has all the others."""
    damage.add_script(stand_in)
    add(stand_in, "weirlarge", size=400_000)
    first = build(stand_in)
    alone = total_bytes(root_of(stand_in, first))
    forget_sources(stand_in)
    add(stand_in, "weirmore")

    second = build(stand_in)

    old, new = root_of(stand_in, first), root_of(stand_in, second)
    both = total_bytes(old, new)
    assert both - alone < 0.2 * alone, (alone, both)
    before, after = inodes(old), inodes(new)
    same = {path for path, inode in before.items() if after.get(path) == inode}
    assert f"{SITE}/weirother/data.bin" in same
    assert {path for path in same if path.endswith(".pyc")} >= {
        path for path in before if "/weirother/" in path and path.endswith(".pyc")
    }
    assert f"{SITE}/weirtiny/part7.py" not in same  # a patch writes a new file
    assert run(stand_in, new / "python/bin/python3", "import weirtiny, weirmore") == ""
    script = subprocess.run([new / damage.SCRIPT], capture_output=True, text=True, check=True)
    assert script.stdout.strip() == "said"
    assert str(new) in (new / damage.SCRIPT).read_text()


def test_shared_bytecode_is_used_as_it_is(stand_in: StandIn) -> None:
    """An engine imports 8,000 modules; compiling them at each boot would double its time."""
    first = build(stand_in)
    add(stand_in, "weirmore")
    second = build(stand_in)
    python = python_of(stand_in.paths, second)
    for name in ("weirtiny.part3", "weirother"):
        said = run(
            stand_in,
            python,
            f"import sys; sys.dont_write_bytecode = True; import {name} as m, os, struct;"
            "cached = open(m.__cached__, 'rb').read(16);"
            "flags, mtime, size = struct.unpack('<4x3L', cached);"
            "now = os.stat(m.__file__);"
            "print(flags == 0 and mtime == int(now.st_mtime) and size == now.st_size, m.__file__)",
        )
        assert said.startswith("True "), said
        assert str(root_of(stand_in, second)) in said
    cached = f"{SITE}/weirother/__pycache__"
    old, new = (root_of(stand_in, one) / cached for one in (first, second))
    assert [p.stat().st_ino for p in old.iterdir()] == [p.stat().st_ino for p in new.iterdir()]


def test_a_damaged_file_is_not_spread_but_fetched_anew(stand_in: StandIn) -> None:
    """A shared file that was changed in place is damaged in every runtime that has it so far."""
    first = build(stand_in)
    for name in ("edited in place", "truncated"):
        damage.DAMAGES[name](root_of(stand_in, first))
    add(stand_in, "weirmore")

    second = build(stand_in)

    root = root_of(stand_in, second)
    assert (root / SITE / "weirtiny/part4.py").read_bytes() == b"X = 4\n"
    assert (root / SITE / "weirother/data.bin").read_bytes() == standin.FILES["weirother"][
        "weirother/data.bin"
    ]
    store = Store(stand_in.paths)
    keys = package_keys(
        (stand_in.recipe_file.parent / "requirements.lock").read_text(), standin.SERIES
    )
    for key in keys.values():
        record = store.record(key)
        assert record is not None
        assert all(is_whole(store.blob(entry), entry) for entry in record.entries)


def test_a_damaged_or_half_written_list_is_as_good_as_none(stand_in: StandIn) -> None:
    """A power cut may leave an empty one: it is written without a flush, and read with a digest."""
    build(stand_in)
    store = Store(stand_in.paths)
    for number, path in enumerate(sorted(store.packages.iterdir())):
        path.write_bytes(path.read_bytes()[:100] if number else b"")
    add(stand_in, "weirmore")

    second = build(stand_in)

    assert run(stand_in, python_of(stand_in.paths, second), "import weirtiny, weirmore") == ""
    assert all(store.record(path.name) is not None for path in store.packages.iterdir())


def test_a_blob_with_another_time_is_not_taken_for_a_source(stand_in: StandIn) -> None:
    """Its bytecode would be thrown away at each import; somebody ran `touch` on the whole home."""
    first = build(stand_in)
    source = root_of(stand_in, first) / SITE / "weirtiny/part3.py"
    os.utime(source, ns=(0, 0))
    add(stand_in, "weirmore")

    second = root_of(stand_in, build(stand_in)) / SITE / "weirtiny/part3.py"

    assert second.stat().st_mtime_ns != 0
    assert second.read_bytes() == b"X = 3\n"


@pytest.mark.parametrize("code", [errno.EXDEV, errno.EPERM, errno.EMLINK])
def test_a_disk_without_links_works_and_its_price_is_known(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """Memory sticks and some network disks: copies, and uv's third copy is not kept."""

    def link(source: object, target: object, **_options: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", link)
    first = build(stand_in)
    store = Store(stand_in.paths)
    if store.way() is Way.CLONE:
        pytest.skip("this disk clones files")
    assert store.way() is Way.COPY
    archives = list((stand_in.paths.cache / "uv").glob("archive-v0/*"))
    assert archives == []
    forget_sources(stand_in)
    add(stand_in, "weirmore")

    second = build(stand_in)

    python = python_of(stand_in.paths, second)
    assert run(stand_in, python, "import weirtiny, weirother, weirmore") == ""
    assert run(stand_in, python_of(stand_in.paths, first), "import weirtiny") == ""


def test_a_home_on_a_disk_of_its_own_shares_inside_itself(
    stand_in: StandIn, tmp_path: Path
) -> None:
    """The package cache may lie on another disk; then uv copies, and the store still links."""
    other = tmp_path / "other disk"
    other.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=60m", "tmpfs", str(other)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a small disk")
    try:
        here = stand_in.elsewhere(other / "home")
        here.paths.cache.mkdir(parents=True)
        (tmp_path / "cache").mkdir()
        (here.paths.cache / "uv").symlink_to(tmp_path / "cache")
        first = build(here)
        add(here, "weirmore")
        second = build(here)

        before, after = inodes(root_of(here, first)), inodes(root_of(here, second))
        assert before[f"{SITE}/weirother/data.bin"] == after[f"{SITE}/weirother/data.bin"]
    finally:
        subprocess.run(["umount", str(other)], check=True)


def test_a_store_that_no_link_reaches_shares_blocks(stand_in: StandIn, tmp_path: Path) -> None:
    """A store on a subvolume of its own: clones, which take no room and change nothing else."""
    with cloning_disk("btrfs", tmp_path) as disk:
        here = stand_in.elsewhere(disk / "home")
        subvolume(here.paths.store)
        add(here, "weirlarge", size=20_000_000)
        first = build(here)
        forget_sources(here)
        before = free_bytes(disk)
        standin_patch = standin.PATCH_TEXT.replace("+X = 70\n", "+X = 71\n")
        here.write_patch(standin.PATCH, standin_patch)

        second = build(here)

        assert second.runtime_id != first.runtime_id
        assert before - free_bytes(disk) < 10_000_000
        data = root_of(here, second) / SITE / "weirlarge" / "data"
        assert data.stat().st_nlink == 1
        assert data.stat().st_dev != here.paths.store.stat().st_dev
        assert run(here, python_of(here.paths, second), "import weirlarge") == ""
        verdict = asyncio.run(verify(here.paths, second, full=True, report=here.reports.append))
        assert verdict.is_whole


def test_an_archives_interpreter_is_shared_and_not_fetched_twice(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a hundred megabytes of every runtime."""
    sha256 = standin.make_interpreter_archive(tmp_path / "cpython+1-linux-install_only.tar.gz")
    table = standin.archive_table(
        "https://weir.invalid/20990101/cpython%2B1-linux-install_only.tar.gz", sha256
    )
    stand_in.recipe_file.write_text(standin.recipe_text(table), "utf-8")
    monkeypatch.setenv("WEIR_PYTHON_MIRROR", str(tmp_path))
    first = build(stand_in)
    assert Store(stand_in.paths).holds(interpreter_key(first.interpreter_build))
    shutil.rmtree(stand_in.paths.cache)
    (tmp_path / "cpython+1-linux-install_only.tar.gz").unlink()
    add(stand_in, "weirmore")

    second = build(stand_in)

    program = f"python/bin/python{standin.SERIES}"
    one, two = (root_of(stand_in, record) / program for record in (first, second))
    assert one.samefile(two)
    assert second.interpreter_build == first.interpreter_build
    assert run(stand_in, python_of(stand_in.paths, second), "import weirmore") == ""


def test_a_damaged_interpreter_of_the_store_is_unpacked_again(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive is asked for after all."""
    sha256 = standin.make_interpreter_archive(tmp_path / "cpython+1-linux-install_only.tar.gz")
    table = standin.archive_table(
        "https://weir.invalid/20990101/cpython%2B1-linux-install_only.tar.gz", sha256
    )
    stand_in.recipe_file.write_text(standin.recipe_text(table), "utf-8")
    monkeypatch.setenv("WEIR_PYTHON_MIRROR", str(tmp_path))
    first = build(stand_in)
    os.truncate(root_of(stand_in, first) / "python/pyvenv.cfg", 3)
    add(stand_in, "weirmore")

    second = build(stand_in)

    assert run(stand_in, python_of(stand_in.paths, second), "import weirmore") == ""


def test_while_it_is_cleaned_up_an_installation_waits(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it is about to link must not be removed under its hands."""
    monkeypatch.setattr(stock, "_CLEAN_UP_S", 0.0)
    store = Store(stand_in.paths)
    store.open()
    with store.alone(), pytest.raises(Busy) as caught:
        build(stand_in)
    with store.used() as is_used, store.alone() as is_alone:
        assert (is_used, is_alone) == (True, False)

    assert caught.value.code == "clean-up-running"


def test_a_store_that_cannot_be_written_is_named(stand_in: StandIn) -> None:
    """A file in the place of its folder: somebody's mistake, or a half-synced home."""
    stand_in.paths.home.mkdir(parents=True)
    stand_in.paths.store.write_text("in the way")

    with pytest.raises(StudioError) as caught:
        build(stand_in)

    assert caught.value.code == "not-writable"
    assert "store" in caught.value.message


def test_an_emptied_store_is_filled_by_the_next_installation(stand_in: StandIn) -> None:
    """All of it may be deleted at any time."""
    build(stand_in)
    shutil.rmtree(stand_in.paths.store)
    add(stand_in, "weirmore")
    build(stand_in)

    assert len(list(Store(stand_in.paths).packages.iterdir())) == 3


def test_two_packages_of_one_name_are_told_apart(stand_in: StandIn) -> None:
    """The same version under another hash is another file: an index may serve anything."""
    first = build(stand_in)
    files = {**standin.FILES["weirother"], "weirother/__init__.py": b"Y = 3\n"}
    line = make_wheel(stand_in.wheels, "weirother", files)
    lock = stand_in.recipe_file.parent / "requirements.lock"
    rows = [row for row in lock.read_text().splitlines() if not row.startswith("weirother")]
    lock.write_text("\n".join([*rows, line, ""]))

    second = build(stand_in)

    code = "import weirother; print(weirother.Y)"
    assert run(stand_in, python_of(stand_in.paths, first), code) == "2"
    assert run(stand_in, python_of(stand_in.paths, second), code) == "3"


def test_a_package_is_named_by_what_its_files_depend_on() -> None:
    """Hashes in another order are the same wheel; another Python compiles other bytecode."""
    lock = "a==1.0+cpu --hash=sha256:aa --hash=sha256:bb\n"
    turned = "a==1.0+cpu --hash=sha256:bb --hash=sha256:aa\n"

    assert package_keys(lock, "3.11") == package_keys(turned, "3.11")
    assert package_keys(lock, "3.11") != package_keys(lock, "3.12")
    assert package_keys(lock, "3.11") != package_keys(lock.replace("aa", "cc"), "3.11")
    (name,) = package_keys(lock, "3.11").values()
    assert name.startswith("a-1.0-cpu-")
    assert "/" not in name


def test_content_mode_and_time_decide(tmp_path: Path) -> None:
    """Of a data file the time does not count: two packages share one licence text."""
    path = tmp_path / "file"
    path.write_bytes(b"text")
    os.utime(path, (5, 5))
    digest = hashlib.sha256(b"text").digest()
    now = hash_file(str(path))

    assert fits(Entry("a.txt", 0, 4, 9, digest), now)
    assert not fits(Entry("a.py", 0, 4, 9_000_000_000, digest), now)
    assert fits(Entry("a.py", 0, 4, 5_000_000_001, digest), now)
    assert not fits(Entry("a.txt", EXECUTABLE, 4, 9, digest), now)
    assert fits(Entry("RECORD", LISTING | EXECUTABLE, 4, 9, digest), now)
    assert not fits(Entry("a.txt", 0, 4, 9, b"other"), now)
    assert not fits(Entry("a.txt", 0, 4, 9, digest), None)


def test_times_of_the_future_and_the_past_change_nothing(stand_in: StandIn) -> None:
    """A clock that jumped: order of use decides, and sources keep the time they came with."""
    first = build(stand_in)
    record = root_of(stand_in, first) / "runtime.json"
    text = record.read_text()
    assert first.installed_at in text
    record.write_text(text.replace(first.installed_at, "2999-01-01T00:00:00+00:00"))
    add(stand_in, "weirmore")
    second = build(stand_in)
    add(stand_in, "weirlast")
    third = build(stand_in)

    kept = [one.runtime_id for one in versions.kept(stand_in.paths, standin.NAME)]
    assert kept == [first.runtime_id, second.runtime_id, third.runtime_id]
    assert versions.rollback(stand_in.paths, standin.NAME).runtime_id == second.runtime_id
    done = versions.collect(stand_in.paths, dry_run=False)
    assert root_of(stand_in, first).exists(), done
