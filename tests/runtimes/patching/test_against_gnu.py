"""Same outcome and same bytes as GNU patch, on generated files, diffs and drifted targets.

Where the two are meant to differ stands in docs/decisions/0005; nothing of that is generated here.
"""

import os

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from studio.runtimes.patching.decide import plan
from studio.runtimes.patching.model import PatchState
from studio.runtimes.patching.parse import parse_series
from tests.runtimes.patching import gnu
from tests.runtimes.patching.strategies import Case, cases, edited, files, make_patch
from tests.runtimes.patching.trees import patched_with

FILE_EXAMPLES, TREE_EXAMPLES = 300, 100
SOAK_EXAMPLES = int(os.environ.get("WEIR_SOAK_EXAMPLES", "6000"))

quick = settings(deadline=None, suppress_health_check=list(HealthCheck))


def ours(tree: gnu.Tree, patch: bytes) -> gnu.Tree | None:
    """Return what our engine makes of `tree`, or None when it does not apply the patch."""
    decided = plan(parse_series([("it.patch", patch)]), tree.get, 1)
    event(", ".join(sorted({one.result.value for one in decided.hunks})))
    if decided.patches[0].state is not PatchState.APPLIED:
        return None
    return patched_with(decided, tree)


def check(case: Case) -> None:
    """Compare the two on one file."""
    patch = make_patch(case)
    if patch:
        tree = {"file.py": case.target}

        assert ours(tree, patch) == gnu.patched(tree, patch)


@settings(quick, max_examples=FILE_EXAMPLES)
@given(cases())
def test_generated_diffs_do_what_gnu_patch_does(case: Case) -> None:
    """Series are cut and checked with GNU patch; a difference would be a wrong engine."""
    check(case)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@settings(quick, max_examples=SOAK_EXAMPLES)
@given(cases())
def test_many_generated_diffs_do_what_gnu_patch_does(case: Case) -> None:
    """The same with enough cases for the rare corners of the search."""
    check(case)


# No blanks: without quotes GNU patch cannot read such names in a header that no hunk follows.
NAMES = st.sampled_from(["a.py", "pkg/b.py", "pkg/sub/c.py", "pkg/sub/\u00fc.py"])


@st.composite
def tree_cases(draw: st.DrawFn) -> tuple[gnu.Tree, gnu.Tree, gnu.Tree, str]:
    """Old, new and drifted tree, and who makes the diff; files come, go, and are emptied."""
    old = draw(st.dictionaries(NAMES, files(), max_size=3))
    new = dict(old)
    for name in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True)):
        match draw(st.sampled_from(["new", "gone", "emptied", "edited"])):
            case "gone":
                new.pop(name, None)
            case "emptied":
                new[name] = b""
            case "edited" if name in old:
                new[name] = draw(edited(old[name], 1, 2))
            case _:
                new[name] = draw(files())
    target = dict(old)
    if draw(st.booleans()):
        name = draw(NAMES)
        content = draw(st.sampled_from(["gone", "empty", "other", "new"]))
        if content == "gone":
            target.pop(name, None)
        else:
            other = new.get(name, b"") if content == "new" else draw(files())
            target[name] = b"" if content == "empty" else other
    return old, new, target, draw(st.sampled_from(["git", "diff", "diff-n"]))


def check_tree(case: tuple[gnu.Tree, gnu.Tree, gnu.Tree, str]) -> None:
    """Compare the two on a tree."""
    old, new, target, by = case
    patch = gnu.tree_diff(old, new, by)
    if b"@@ -" in patch or b"diff --git" in patch:
        assert ours(target, patch) == gnu.patched(target, patch)


@settings(quick, max_examples=TREE_EXAMPLES)
@given(tree_cases())
def test_generated_trees_become_what_gnu_patch_makes_of_them(
    case: tuple[gnu.Tree, gnu.Tree, gnu.Tree, str],
) -> None:
    """New, deleted and emptied files are where the programs' rules are least obvious."""
    check_tree(case)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@settings(quick, max_examples=SOAK_EXAMPLES // 4)
@given(tree_cases())
def test_many_generated_trees_become_what_gnu_patch_makes_of_them(
    case: tuple[gnu.Tree, gnu.Tree, gnu.Tree, str],
) -> None:
    """The same with enough cases for rare combinations."""
    check_tree(case)
