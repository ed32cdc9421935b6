"""A run that is killed or refused at any point leaves the tree whole."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from studio.domain.errors import Damaged
from studio.runtimes.patching import journal
from studio.runtimes.patching.apply import apply, recover
from studio.runtimes.patching.digest import tree_digest
from studio.runtimes.patching.journal import Journal, Step
from studio.runtimes.patching.model import PatchState
from studio.runtimes.patching.parse import parse_series
from tests.runtimes.patching.gnu import Tree, read_tree
from tests.runtimes.patching.killing import APPLIED, REFUSED, UNSTOPPED
from tests.runtimes.patching.trees import FEATURES, feature_tree, feature_tree_after, make_tree

ROOT = Path(__file__).resolve().parents[3]


def sources(tree: Tree) -> Tree:
    """Return the tree without bytecode."""
    return {path: content for path, content in tree.items() if not path.endswith(".pyc")}


def told(mode: str, folder: Path, stride: int) -> list[dict[str, object]]:
    """Run the child that is stopped at every `stride`-th call and return what it saw."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.runtimes.patching.killing", mode, folder, str(stride)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return [json.loads(line) for line in ran.stdout.splitlines()]


def digests(folder: Path) -> set[str]:
    """Return what the tree may be after a recovery.

    Untouched, untouched but for dropped bytecode of what the patch names, and patched.
    """
    whole = make_tree(folder / "whole", feature_tree())
    untouched = tree_digest(whole, read_tree(whole))
    stale = make_tree(folder / "stale", feature_tree())
    for path in feature_tree():
        if path != "pkg/untouched.py":
            journal.drop_bytecode(stale / path)
    dropped = tree_digest(stale, read_tree(stale))
    apply(parse_series([FEATURES]), whole, journal=folder / "whole.json")
    assert sources(read_tree(whole)) == feature_tree_after()
    return {untouched, dropped, tree_digest(whole, read_tree(whole))}


@pytest.mark.parametrize("stride", [3, pytest.param(1, marks=pytest.mark.soak)])
def test_killed_at_any_call_the_tree_is_the_old_one_or_the_new_one(
    quick_path: Path, stride: int
) -> None:
    """A power cut in the middle of an update must not leave half a patch in an engine."""
    allowed = digests(quick_path)

    points = told("kill", quick_path, stride)

    assert len(points) > 100 / stride
    assert points[-1]["status"] == UNSTOPPED
    assert {one["status"] for one in points[:-1]} == {-9}
    assert {one["digest"] for one in points} <= allowed
    assert {one["recovered"] for one in points} == {True, False}
    assert len({one["digest_then"] for one in points}) > len(points) / 4
    assert len({one["final"] for one in points}) == 1
    assert all(one["staging"] == [] for one in points)


@pytest.mark.parametrize("stride", [3, pytest.param(1, marks=pytest.mark.soak)])
def test_a_full_disk_at_any_call_changes_nothing(quick_path: Path, stride: int) -> None:
    """The disk fills up while the engine works on it; the runtime still has to start."""
    allowed = digests(quick_path)

    points = told("full", quick_path, stride)

    assert {one["status"] for one in points} == {UNSTOPPED, APPLIED, REFUSED}
    assert {one["digest"] for one in points} <= allowed
    assert len({one["final"] for one in points}) == 1
    assert all(one["staging"] == [] for one in points)


def interrupted(folder: Path) -> tuple[Path, Path]:
    """Return tree and journal of a run that stopped after its first file."""
    tree = make_tree(folder / "tree", {"m.py": b"old\n", "n.py": b"old\n"})
    journal_file = folder / "journal.json"
    (tree / ".weir-patching").mkdir()
    steps = tuple(Step(path=name, had_old=True, has_new=True) for name in ("m.py", "n.py"))
    for number, step in enumerate(steps):
        journal.save_old(tree / step.path, journal.staged(tree, "old", number))
        journal.write_new(journal.staged(tree, "new", number), b"new\n", 0o644)
    journal.begin(tree, journal_file, Journal(steps=steps, folders=()))
    journal.staged(tree, "new", 0).replace(tree / "m.py")
    return tree, journal_file


def test_recover_restores_and_tells_which_modules_to_compile(tmp_path: Path) -> None:
    """The installer has to know whose bytecode is gone."""
    tree, journal_file = interrupted(tmp_path)

    recovery = recover(tree, journal_file)

    assert recovery is not None
    assert recovery.restored == ("m.py", "n.py")
    assert recovery.modules == ("m.py", "n.py")
    assert read_tree(tree) == {"m.py": b"old\n", "n.py": b"old\n"}
    assert recover(tree, journal_file) is None


def test_the_next_apply_takes_an_interrupted_run_back_first(tmp_path: Path) -> None:
    """Who forgets to recover must not patch half-patched files."""
    tree, journal_file = interrupted(tmp_path)
    patch = b"--- a/n.py\n+++ b/n.py\n@@ -1 +1 @@\n-old\n+patched\n"

    outcome = apply(parse_series([("p", patch)]), tree, journal=journal_file)

    assert outcome.patches[0].state is PatchState.APPLIED
    assert read_tree(tree) == {"m.py": b"old\n", "n.py": b"patched\n"}


def test_a_restored_file_is_the_same_file_as_before(tmp_path: Path) -> None:
    """A file shared with the package cache by hard link stays shared, with its time."""
    tree, journal_file = interrupted(tmp_path)
    shared = tmp_path / "cache"
    shared.hardlink_to(journal.staged(tree, "old", 0))

    recover(tree, journal_file)

    assert (tree / "m.py").samefile(shared)


def test_a_run_whose_saved_files_are_gone_says_so(tmp_path: Path) -> None:
    """A cleaner that deletes hidden folders must not turn into silently mixed files."""
    tree, journal_file = interrupted(tmp_path)
    journal.staged(tree, "old", 0).unlink()

    with pytest.raises(Damaged) as caught:
        recover(tree, journal_file)

    assert caught.value.code == "patch-journal"
    assert journal_file.exists()


def test_where_no_hard_links_are_the_old_file_is_copied_with_its_time(tmp_path: Path) -> None:
    """On FAT and some network drives a link is refused; the time keeps old bytecode valid."""
    source = tmp_path / "m.py"
    source.write_bytes(b"old\n")
    os.utime(source, (1, 2))
    blocked = tmp_path / "copy"
    blocked.write_bytes(b"in the way, as for a link that is refused")

    journal.save_old(source, blocked)

    assert blocked.read_bytes() == b"old\n"
    assert blocked.stat().st_mtime == 2


def test_only_the_bytecode_of_the_changed_module_is_dropped(tmp_path: Path) -> None:
    """A stale .pyc with the right time and size would run instead of the patched source."""
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    stale = ["m.cpython-311.pyc", "m.cpython-311.opt-1.pyc", "m.pypy310.pyc"]
    kept = ["mm.cpython-311.pyc", "m.x.cpython-311.pyc", "m.cpython-311.so"]
    for name in [*stale, *kept]:
        (cache / name).touch()
    (tmp_path / "m.pyc").touch()

    journal.drop_bytecode(tmp_path / "m.py")
    journal.drop_bytecode(tmp_path / "data.txt")

    assert sorted(path.name for path in cache.iterdir()) == sorted(kept)
    assert not (tmp_path / "m.pyc").exists()
