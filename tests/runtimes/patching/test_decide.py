"""What a series does to a tree, and what of it is there already."""

import pytest

from studio.domain.errors import BadInput
from studio.runtimes.patching.decide import is_applied, named_paths, plan
from studio.runtimes.patching.model import HunkResult, PatchState, Plan, Series
from studio.runtimes.patching.parse import parse_series
from tests.runtimes.patching.gnu import Tree
from tests.runtimes.patching.trees import (
    FEATURES,
    MAILBOX,
    feature_tree,
    feature_tree_after,
    numbered,
    patched_with,
)

TREE = {"m.py": numbered("line", 30), "n.py": b"n\n"}


def edit(name: str, first: int, old: str, new: str, file: str = "m.py") -> tuple[str, bytes]:
    """Return a patch that changes one line of a numbered file."""
    patch = (
        f"--- a/{file}\n+++ b/{file}\n@@ -{first},3 +{first},3 @@\n"
        f" line {first}\n-{old}\n+{new}\n line {first + 2}\n"
    )
    return name, patch.encode()


# The second changes the line that the first made, so neither can be judged without the other.
SERIES = parse_series(
    [
        edit("1", 4, "line 5", "five"),
        edit("2", 4, "five", "FIVE"),
        edit("3", 14, "line 15", "fifteen"),
    ]
)


def first_of(series: Series, count: int) -> Series:
    """Return the first patches of a series."""
    return Series(patches=series.patches[:count])


def states(decided: Plan) -> list[str]:
    """Return one word for each patch."""
    return [patch.state.value for patch in decided.patches]


def test_later_patches_see_what_earlier_ones_did() -> None:
    """A series is cut patch upon patch."""
    decided = plan(SERIES, TREE.get, 1)

    assert states(decided) == ["applied"] * 3
    assert patched_with(decided, TREE)["m.py"] == (
        TREE["m.py"].replace(b"line 5\n", b"FIVE\n").replace(b"line 15\n", b"fifteen\n")
    )
    assert [change.path for change in decided.changes] == ["m.py"]


def test_the_record_tells_of_every_hunk() -> None:
    """It goes into the runtime's manifest: patch, digest, file, hunk, result, offset."""
    shifted = {"m.py": b"new\nnew\n" + TREE["m.py"]}

    decided = plan(first_of(SERIES, 1), shifted.get, 1)

    (hunk,) = decided.hunks
    assert (hunk.patch, hunk.file, hunk.hunk) == ("1", "m.py", 1)
    assert (hunk.result, hunk.offset) == (HunkResult.OFFSET, 2)
    assert hunk.sha256 == SERIES.patches[0].sha256


@pytest.mark.parametrize("count", [1, 2, 3])
def test_patches_that_are_there_already_are_left_alone(count: int) -> None:
    """An install that was cut short goes on; a patch applied twice would break the engine."""
    there = patched_with(plan(first_of(SERIES, count), TREE.get, 1), TREE)

    decided = plan(SERIES, there.get, 1)

    assert states(decided) == ["already-applied"] * count + ["applied"] * (3 - count)
    assert patched_with(decided, there) == patched_with(plan(SERIES, TREE.get, 1), TREE)
    assert is_applied(SERIES, there.get, 1) is (count == 3)


def test_a_patch_that_upstream_has_taken_is_skipped() -> None:
    """A series outlives the release that it was cut against by a few of its patches."""
    upstream = {"m.py": TREE["m.py"].replace(b"line 15\n", b"fifteen\n")}

    assert states(plan(SERIES, upstream.get, 1)) == ["applied", "applied", "already-applied"]


def test_an_insertion_that_would_fit_twice_is_not_made_twice() -> None:
    """Forward it fits again, so only the patch after it tells that both are there."""
    insertion = b"--- a/n.py\n+++ b/n.py\n@@ -1,0 +2 @@\n+twice\n"
    series = parse_series([("1", insertion), edit("2", 4, "line 5", "five")])
    there = patched_with(plan(series, TREE.get, 1), TREE)

    decided = plan(series, there.get, 1)

    assert states(decided) == ["already-applied"] * 2
    assert decided.changes == ()


def test_a_rejected_patch_ends_the_plan_and_nothing_is_to_change() -> None:
    """What stands on a rejected patch cannot be judged."""
    other = {"m.py": TREE["m.py"].replace(b"line 14\n", b"other\n")}
    series = parse_series([edit("1", 4, "line 5", "five"), edit("2", 14, "line 15", "x")])
    series = Series(patches=(*series.patches, SERIES.patches[1]))

    decided = plan(series, other.get, 1)

    assert states(decided) == ["applied", "rejected"]
    assert decided.changes == ()
    assert [one.patch for one in decided.rejections] == ["2"]


def test_half_a_patch_that_is_there_is_a_reject() -> None:
    """Somebody has edited the package by hand; guessing would hide it."""
    patch = edit("1", 4, "line 5", "five")[1] + edit("1", 14, "line 15", "x")[1]
    half = {"m.py": TREE["m.py"].replace(b"line 5\n", b"five\n")}

    decided = plan(parse_series([("1", patch)]), half.get, 1)

    assert states(decided) == ["rejected"]
    assert "already" in decided.rejections[0].reason


def test_every_feature_of_a_git_diff_applies_and_is_recognised() -> None:
    """Two recorded patches: renames, copies, modes, deletions, CRLF, open ends, odd names."""
    series = parse_series([FEATURES, MAILBOX])

    once = patched_with(plan(first_of(series, 1), feature_tree().get, 1), feature_tree())
    both = patched_with(plan(series, feature_tree().get, 1), feature_tree())

    assert once == feature_tree_after()
    assert both["pkg/again.py"] == both["pkg/other/moved.py"].replace(b"line ten", b"line 10")
    assert is_applied(series, both.get, 1)
    assert states(plan(series, once.get, 1)) == ["already-applied", "applied"]


def test_two_files_swap_their_names() -> None:
    """git writes this as two renames, each onto a name that is taken until the other is done."""
    patch = (
        "diff --git a/m.py b/n.py\nsimilarity index 100%\nrename from m.py\nrename to n.py\n"
        "diff --git a/n.py b/m.py\nsimilarity index 100%\nrename from n.py\nrename to m.py\n"
    )

    decided = plan(parse_series([("1", patch.encode())]), TREE.get, 1)

    assert patched_with(decided, TREE) == {"m.py": TREE["n.py"], "n.py": TREE["m.py"]}


def test_a_mode_alone_is_a_change() -> None:
    """A script that a patch makes executable."""
    patch = b"diff --git a/n.py b/n.py\nold mode 100644\nnew mode 100755\n"

    decided = plan(parse_series([("1", patch)]), TREE.get, 1)

    (change,) = decided.changes
    assert (change.path, change.content, change.executable) == ("n.py", b"n\n", True)
    assert [(one.hunk, one.header) for one in decided.hunks] == [(0, "executable")]


@pytest.mark.parametrize(
    ("strip", "tree"),
    [(0, {"a/m.py": TREE["m.py"]}), (1, TREE), (2, None)],
)
def test_the_strip_level_decides_which_file_is_meant(strip: int, tree: Tree | None) -> None:
    """Patches are cut relative to the package or to its parent."""
    series = parse_series([("1", edit("", 4, "line 5", "five")[1].replace(b"b/m", b"a/m"))])
    if tree is None:
        with pytest.raises(BadInput) as caught:
            plan(series, TREE.get, strip)
        assert caught.value.code == "patch-strip"
    else:
        assert states(plan(series, tree.get, strip)) == ["applied"]


@pytest.mark.parametrize("name", ["a/../../x", "a//etc/../..", "a/.weir-patching/new-0"])
def test_a_path_out_of_the_tree_is_refused_before_anything_is_read(name: str) -> None:
    """Even a renamed or deleted file's path."""

    def read(path: str) -> bytes | None:
        pytest.fail(f"read {path}")

    gone = f"--- {name}\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    moved = f"diff --git a/m b/{name[2:]}\nrename from m\nrename to {name[2:]}\n"
    for patch in (gone, moved):
        with pytest.raises(BadInput) as caught:
            plan(parse_series([("1", patch.encode())]), read, 1)
        assert caught.value.code == "patch-escapes"


def test_every_named_path_is_known_for_the_digest() -> None:
    """Sources of renames count too: their absence is part of the result."""
    assert named_paths(parse_series([MAILBOX]), 1) == ("pkg/again.py", "pkg/other/moved.py")
    assert "pkg/moved.py" in plan(parse_series([FEATURES]), feature_tree().get, 1).paths


def test_a_series_of_nothing_does_nothing() -> None:
    """A recipe without patches takes the same way as one with."""
    decided = plan(parse_series([]), TREE.get, 1)

    assert decided == Plan(patches=(), hunks=())
    assert PatchState.REJECTED not in {patch.state for patch in decided.patches}
