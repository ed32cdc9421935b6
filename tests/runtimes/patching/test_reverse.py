"""A patch read backwards takes the patch back."""

from hypothesis import given, settings

from studio.runtimes.patching.decide import plan
from studio.runtimes.patching.locate import fit
from studio.runtimes.patching.model import Series
from studio.runtimes.patching.parse import parse_patch
from studio.runtimes.patching.reverse import reversed_patch
from tests.runtimes.patching import gnu
from tests.runtimes.patching.strategies import Case, cases, make_patch
from tests.runtimes.patching.trees import (
    FEATURES,
    MAILBOX,
    feature_tree,
    feature_tree_after,
    patched_with,
)


def test_every_git_feature_taken_back_gives_the_old_tree() -> None:
    """Deletions come back, renames go back, copies go."""
    back = Series(patches=(reversed_patch(parse_patch(*FEATURES)),))

    assert patched_with(plan(back, feature_tree_after().get, 1), feature_tree_after()) == (
        feature_tree()
    )


def test_commits_are_taken_back_from_the_last_one() -> None:
    """The second commit changed lines next to those of the first."""
    patch = parse_patch(*MAILBOX)
    before = feature_tree_after()
    after = patched_with(plan(Series(patches=(patch,)), before.get, 1), before)

    back = plan(Series(patches=(reversed_patch(patch),)), after.get, 1)

    assert patched_with(back, after) == before


@settings(max_examples=100, deadline=None)
@given(cases())
def test_backwards_is_what_gnu_patch_reverse_does(case: Case) -> None:
    """Whether a patch is applied already is asked this way."""
    patch = make_patch(case)
    if not patch:
        return
    (change,) = reversed_patch(parse_patch("p", patch)).diffs[0]

    fitted = fit(case.target, change.hunks)

    expected = gnu.patched({"file.py": case.target}, patch, reverse=True)
    assert (fitted.content if fitted.fits else None) == (expected and expected["file.py"])
