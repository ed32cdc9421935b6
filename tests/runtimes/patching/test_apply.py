"""A series on a real folder."""

import os
import stat
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, Busy, Damaged, NotFound
from studio.host.files import exclusive
from studio.runtimes.patching.apply import apply, digest_of, preview
from studio.runtimes.patching.digest import tree_digest
from studio.runtimes.patching.model import PatchState
from studio.runtimes.patching.parse import parse_series
from tests.runtimes.patching.gnu import read_tree, write_tree
from tests.runtimes.patching.trees import FEATURES, feature_tree, feature_tree_after, make_tree

EDIT = parse_series([("1", b"--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-old\n+new\n")])


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a package folder whose path holds blanks and letters beyond ASCII."""
    folder = tmp_path / "site packages ü"
    folder.mkdir()
    write_tree(folder, {"m.py": b"old\n", "n.py": b"old\n"})
    return folder


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Return where the journal goes."""
    return tmp_path / "runs" / "patch.json"


def test_every_feature_of_a_git_diff_reaches_the_disk(tmp_path: Path, journal: Path) -> None:
    """Bytes, modes, new and removed folders; what the patch does not name stays."""
    tree = make_tree(tmp_path / "tree", feature_tree())

    outcome = apply(parse_series([FEATURES]), tree, journal=journal)

    found = {path: data for path, data in read_tree(tree).items() if not path.endswith(".pyc")}
    assert found == feature_tree_after()
    assert os.access(tree / "pkg/tool.sh", os.X_OK)
    assert os.access(tree / "pkg/fresh.py", os.X_OK)
    assert not (tree / "pkg/sub").exists()
    assert outcome.removed == ("pkg/moved.py", "pkg/sub/empty.py", "pkg/sub/gone.py")
    assert "pkg/tool.sh" in outcome.written
    assert "pkg/other/moved.py" in outcome.modules
    assert "pkg/tool.sh" not in outcome.modules
    assert "pkg/untouched.py" not in outcome.modules
    assert outcome.digest == digest_of(parse_series([FEATURES]), tree)


def test_only_stale_bytecode_goes(tmp_path: Path, journal: Path) -> None:
    """Recompiling 20,000 files for one patch would take a minute."""
    tree = make_tree(tmp_path / "tree", feature_tree())

    outcome = apply(parse_series([FEATURES]), tree, journal=journal)

    left = {path.name for path in tree.rglob("*.pyc")}
    assert left == {"untouched.cpython-311.pyc"}
    assert all((tree / path).is_file() for path in outcome.modules)


def test_a_second_run_changes_nothing_and_names_the_same_modules(tree: Path, journal: Path) -> None:
    """An installer that was killed before it compiled asks again."""
    first = apply(EDIT, tree, journal=journal)
    stamp = (tree / "m.py").stat().st_mtime_ns

    second = apply(EDIT, tree, journal=journal)

    assert (second.written, second.removed) == ((), ())
    assert second.patches[0].state is PatchState.ALREADY
    assert (second.modules, second.digest) == (first.modules, first.digest)
    assert (tree / "m.py").stat().st_mtime_ns == stamp


def test_a_file_shared_by_hard_link_keeps_its_bytes_elsewhere(
    tmp_path: Path, tree: Path, journal: Path
) -> None:
    """Installed files are links into the package cache, which feeds other runtimes."""
    cached = tmp_path / "cached.py"
    cached.hardlink_to(tree / "m.py")

    apply(EDIT, tree, journal=journal)

    assert (tree / "m.py").read_bytes() == b"new\n"
    assert cached.read_bytes() == b"old\n"
    assert cached.stat().st_nlink == 1


def test_the_mode_of_a_changed_file_stays(tree: Path, journal: Path) -> None:
    """A read-only file of a read-only cache is replaced all the same."""
    (tree / "m.py").chmod(0o555)

    apply(EDIT, tree, journal=journal)

    assert stat.S_IMODE((tree / "m.py").stat().st_mode) == 0o555


def test_a_mode_that_the_file_has_already_is_no_change(tree: Path, journal: Path) -> None:
    """A wheel may have shipped the script executable."""
    (tree / "m.py").chmod(0o750)
    patch = b"diff --git a/m.py b/m.py\nold mode 100644\nnew mode 100755\n"

    outcome = apply(parse_series([("1", patch)]), tree, journal=journal)

    assert outcome.written == ()
    assert stat.S_IMODE((tree / "m.py").stat().st_mode) == 0o750


def test_a_reject_leaves_every_file_alone(tree: Path, journal: Path) -> None:
    """The first patch fits, the second does not."""
    before = tree_digest(tree, read_tree(tree))
    other = ("2", b"--- a/n.py\n+++ b/n.py\n@@ -1 +1 @@\n-older\n+new\n")
    series = parse_series([("1", b"--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-old\n+new\n"), other])

    with pytest.raises(Damaged) as caught:
        apply(series, tree, journal=journal)

    assert caught.value.code == "patch-rejected"
    assert "Nothing was changed" in (caught.value.hint or "")
    assert tree_digest(tree, read_tree(tree)) == before
    assert sorted(path.name for path in tree.iterdir()) == ["m.py", "n.py"]
    assert not journal.exists()
    assert preview(series, tree).rejections != ()


def test_a_link_out_of_the_tree_is_refused(tmp_path: Path, tree: Path, journal: Path) -> None:
    """A package that ships a link to /etc must not become a way to write there."""
    outside = tmp_path / "outside"
    write_tree(outside, {"m.py": b"old\n"})
    (tree / "m.py").unlink()
    (tree / "m.py").symlink_to(outside / "m.py")
    (tree / "pkg").symlink_to(outside)
    inside_link = parse_series(
        [("1", b"--- a/pkg/m.py\n+++ b/pkg/m.py\n@@ -1 +1 @@\n-old\n+new\n")]
    )
    new_file = parse_series([("1", b"--- /dev/null\n+++ b/pkg/new.py\n@@ -0,0 +1 @@\n+new\n")])

    for series in (EDIT, inside_link, new_file):
        with pytest.raises(BadInput) as caught:
            apply(series, tree, journal=journal)
        assert caught.value.code == "patch-escapes"
    assert read_tree(outside) == {"m.py": b"old\n"}


def test_what_is_no_regular_file_is_refused(tree: Path, journal: Path) -> None:
    """Links inside the tree, folders, pipes: reading a pipe would hang for ever."""
    (tree / "m.py").unlink()
    for make in (
        lambda: (tree / "m.py").symlink_to("n.py"),
        lambda: (tree / "m.py").mkdir(),
        lambda: os.mkfifo(tree / "m.py"),
    ):
        make()
        with pytest.raises(BadInput) as caught:
            apply(EDIT, tree, journal=journal)
        assert caught.value.code == "patch-target"
        (tree / "m.py").rmdir() if (tree / "m.py").is_dir() else (tree / "m.py").unlink()
    below = b"--- /dev/null\n+++ b/n.py/x.py\n@@ -0,0 +1 @@\n+new\n"
    with pytest.raises(BadInput) as caught:
        apply(parse_series([("1", below)]), tree, journal=journal)
    assert caught.value.code == "patch-target"


def test_two_runs_at_once_are_one_and_a_refusal(tree: Path, journal: Path) -> None:
    """Two windows, one button."""
    with exclusive(journal.with_name("patch.json.lock")) as is_ours:
        assert is_ours
        with pytest.raises(Busy) as caught:
            apply(EDIT, tree, journal=journal)

    assert caught.value.code == "patch-busy"
    assert (tree / "m.py").read_bytes() == b"old\n"


def test_a_tree_that_is_not_there_is_named(tmp_path: Path, journal: Path) -> None:
    """The interpreter's site-packages lies elsewhere in another version."""
    (tmp_path / "file").touch()
    for missing in ("missing", "file"):
        with pytest.raises(NotFound) as caught:
            apply(EDIT, tmp_path / missing, journal=journal)
        assert caught.value.code == "tree-missing"


def test_a_tree_reached_through_a_link_is_patched(
    tmp_path: Path, tree: Path, journal: Path
) -> None:
    """`current` is a link to the runtime in use on some systems."""
    (tmp_path / "current").symlink_to(tree)

    apply(EDIT, tmp_path / "current", journal=journal)

    assert (tree / "m.py").read_bytes() == b"new\n"


def test_deletions_take_emptied_folders_along_but_nothing_else(tree: Path, journal: Path) -> None:
    """An empty folder would still import, as a namespace package."""
    write_tree(
        tree, {"a/b/c.py": b"x\n", "a/d.txt": b"d", "a/b/__pycache__/c.cpython-311.pyc": b""}
    )
    patch = b"--- a/a/b/c.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"

    apply(parse_series([("1", patch)]), tree, journal=journal)

    assert not (tree / "a/b").exists()
    assert (tree / "a/d.txt").exists()


def test_leftovers_of_a_run_that_never_began_go_away(tree: Path, journal: Path) -> None:
    """Killed while the new files were laid out: nothing had changed yet."""
    write_tree(tree, {".weir-patching/new-0": b"x"})

    apply(EDIT, tree, journal=journal)

    assert sorted(path.name for path in tree.iterdir()) == ["m.py", "n.py"]
