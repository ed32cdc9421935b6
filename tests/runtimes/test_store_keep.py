"""Keeping packages: what is as its own list says, each file once."""

from pathlib import Path

import pytest

from studio.host.hashing import Hashed
from studio.runtimes.store import Read, Store, package_keys
from studio.runtimes.store_keep import keep, keep_interpreter
from studio.runtimes.store_take import take
from tests.runtimes import damage, standin
from tests.runtimes.sharing_pair import SITE, build
from tests.runtimes.standin import StandIn


@pytest.fixture
def other(stand_in: StandIn, tmp_path: Path) -> tuple[Store, dict[str, str], Path]:
    """Return an empty store, names of packages, and an unpatched tree of them."""
    damage.add_script(stand_in)
    build(stand_in)
    lock = (stand_in.recipe_file.parent / "requirements.lock").read_text()
    keys = package_keys(lock, standin.SERIES)
    tree = tmp_path / "tree"
    take(Store(stand_in.paths), tree, keys)
    empty = Store(stand_in.elsewhere(tmp_path / "other home").paths)
    empty.open()
    return empty, keys, tree


def test_everything_of_a_package_is_kept(other: tuple[Store, dict[str, str], Path]) -> None:
    """Modules, bytecode, data outside of it, scripts, and its list of files."""
    store, keys, tree = other

    kept = keep(store, tree, keys)

    assert kept.pins == keys.keys()
    record = store.record(keys["weirscript==1.0"])
    assert record is not None
    paths = {entry.path for entry in record.entries}
    assert {damage.SCRIPT, "python/share/weirscript.txt"} <= paths
    assert any(path.endswith(".pyc") for path in paths)
    assert f"{SITE}/weirscript-1.0.dist-info/RECORD" in paths
    assert all(store.blob(entry).is_file() for entry in record.entries)


def test_what_was_just_read_is_not_read_again_unless_it_changed(
    other: tuple[Store, dict[str, str], Path],
) -> None:
    """The compilers had half of all files in their hands; a digest of another file is no use."""
    store, keys, tree = other
    data, module = f"{SITE}/weirother/data.bin", f"{SITE}/weirtiny/part1.py"
    wrong = {path: known_of(tree, path, sha256=b"?" * 32) for path in (data, module)}
    (tree / module).write_bytes((tree / module).read_bytes())

    kept = keep(store, tree, keys, wrong)

    assert "weirtiny==1.0" in kept.pins
    assert "weirother==1.0" not in kept.pins


@pytest.mark.parametrize("name", ["deleted", "edited by an editor"])
def test_what_is_not_as_its_list_says_is_not_kept(
    other: tuple[Store, dict[str, str], Path], name: str
) -> None:
    """Two packages that overwrite each other's files, or a cache that was damaged."""
    store, keys, tree = other
    damage.DAMAGES[name](tree)

    kept = keep(store, tree, keys)

    assert kept.pins == {"weirother==1.0", "weirscript==1.0"}
    assert not store.holds(keys["weirtiny==1.0"])


def known_of(tree: Path, path: str, *, sha256: bytes) -> Read:
    """Return what was read of a file as it is, but for its content."""
    found = (tree / path).lstat()
    return Read(found.st_ino, Hashed(found.st_size, found.st_mtime_ns, False, sha256))


def test_equal_files_of_two_packages_become_one(
    other: tuple[Store, dict[str, str], Path],
) -> None:
    """A licence text, an empty marker file: one content, one file on the disk."""
    store, keys, tree = other
    keep(store, tree, keys)
    again = tree.with_name("again")
    file = again / SITE / "weirother/data.bin"
    file.parent.mkdir(parents=True)
    for path in (tree / SITE).rglob("weirother*/**/*"):
        if path.is_file():
            copy = again / path.relative_to(tree)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())

    kept = keep(store, again, {"weirother==1.0": "another"})

    assert kept.pins == {"weirother==1.0"}
    assert file.samefile(tree / SITE / "weirother/data.bin")
    assert kept.known[f"{SITE}/weirother/data.bin"].inode == file.stat().st_ino


def test_a_damaged_blob_is_replaced_by_the_whole_file(
    other: tuple[Store, dict[str, str], Path],
) -> None:
    """The next installation that fetches the package heals the store."""
    store, keys, tree = other
    keep(store, tree, keys)
    record = store.record(keys["weirother==1.0"])
    assert record is not None
    (entry,) = (one for one in record.entries if one.path.endswith("data.bin"))
    fresh = store.blob(entry).with_name("bad")
    fresh.write_bytes(b"damaged")
    fresh.replace(store.blob(entry))

    keep(store, tree, keys)

    assert store.blob(entry).samefile(tree / SITE / "weirother/data.bin")


def test_what_a_kill_left_in_the_runtime_goes(
    other: tuple[Store, dict[str, str], Path],
) -> None:
    """Half of a shared file must not become one of the runtime's own."""
    store, keys, tree = other
    left = tree / SITE / "weirtiny" / ".share-1a2b"
    left.write_bytes(b"half")

    keep(store, tree, keys)

    assert not left.exists()


def test_an_interpreter_is_kept_with_its_links(
    other: tuple[Store, dict[str, str], Path], tmp_path: Path
) -> None:
    """`python3` is a link, and so is much of a terminal database."""
    store, _keys, _tree = other
    root = tmp_path / "interpreter"
    (root / "python" / "bin").mkdir(parents=True)
    (root / "python" / "bin" / "python3.11").write_bytes(b"\x7fELF")
    (root / "python" / "bin" / "python3").symlink_to("python3.11")

    keep_interpreter(store, root, "interpreter-0123")
    taken = take(store, tmp_path / "new", {"it": "interpreter-0123"})

    assert taken.pins == {"it"}
    assert (tmp_path / "new/python/bin/python3").readlink() == Path("python3.11")
