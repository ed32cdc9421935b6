"""Laying packages out: whole, for the right place, and only what was looked at."""

import os
from pathlib import Path

from studio.runtimes.manifest import PLACED
from studio.runtimes.store import Store, package_keys
from studio.runtimes.store_take import take
from tests.runtimes import damage, standin
from tests.runtimes.sharing_pair import SITE, build, root_of
from tests.runtimes.standin import StandIn


def filled(stand_in: StandIn) -> tuple[Store, dict[str, str], Path]:
    """Install, and return the store, its names of the packages, and the runtime's folder."""
    damage.add_script(stand_in)
    record = build(stand_in)
    lock = (stand_in.recipe_file.parent / "requirements.lock").read_text()
    return Store(stand_in.paths), package_keys(lock, standin.SERIES), root_of(stand_in, record)


def test_scripts_name_the_runtime_they_are_for(stand_in: StandIn, tmp_path: Path) -> None:
    """A repair lays out in a folder of its own, for the runtime that the files will be in."""
    store, keys, _root = filled(stand_in)
    stage, runtime = tmp_path / "stage", tmp_path / "the runtime"

    taken = take(store, stage, keys, made_for=runtime)

    assert taken.pins == keys.keys()
    script = stage / damage.SCRIPT
    assert str(runtime) in script.read_text()
    assert str(stage) not in script.read_text()
    assert script.stat().st_mode & 0o111
    assert (stage / "python/share/weirscript.txt").read_bytes() == b"shared\n"


def test_a_script_in_the_store_names_no_place(stand_in: StandIn) -> None:
    """It is the same for every runtime, and says nothing about this machine."""
    store, keys, root = filled(stand_in)
    record = store.record(keys["weirscript==1.0"])
    assert record is not None

    (script,) = (entry for entry in record.entries if entry.has(PLACED))

    assert script.path == damage.SCRIPT
    assert str(root).encode() not in store.blob(script).read_bytes()


def test_a_spoilt_blob_takes_its_package_out_and_no_other(
    stand_in: StandIn, tmp_path: Path
) -> None:
    """Its list goes with it, so that the next whole copy is kept."""
    store, keys, root = filled(stand_in)
    os.truncate(root / SITE / "weirother/data.bin", 10)

    taken = take(store, tmp_path / "new", keys)

    assert taken.pins == {"weirtiny==1.0", "weirscript==1.0"}
    assert taken.damaged == {"weirother==1.0"}
    assert not (tmp_path / "new" / SITE / "weirother").exists()
    assert not store.holds(keys["weirother==1.0"])
    assert store.holds(keys["weirtiny==1.0"])


def test_a_blob_that_is_gone_is_no_damage(stand_in: StandIn, tmp_path: Path) -> None:
    """Nothing says that uv's copy is bad, so it is not thrown away."""
    store, keys, _root = filled(stand_in)
    record = store.record(keys["weirother==1.0"])
    assert record is not None
    store.blob(record.entries[0]).unlink()

    taken = take(store, tmp_path / "new", keys)

    assert "weirother==1.0" not in taken.pins
    assert taken.damaged == frozenset()


def test_what_was_read_is_known_by_the_file_it_was(stand_in: StandIn, tmp_path: Path) -> None:
    """The list of files is written without reading 2 GB again, and never from a name alone."""
    store, keys, _root = filled(stand_in)

    taken = take(store, tmp_path / "new", keys)

    assert f"{SITE}/weirother/data.bin" in taken.known
    for path, read in taken.known.items():
        found = (tmp_path / "new" / path).stat()
        assert (read.inode, read.hashed.size) == (found.st_ino, found.st_size)
