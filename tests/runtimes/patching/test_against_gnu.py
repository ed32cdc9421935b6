"""Same outcome and same bytes as GNU patch, on generated files, diffs and drifted targets."""

import difflib
import os

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from studio.runtimes.patching.decide import plan
from studio.runtimes.patching.model import PatchState
from studio.runtimes.patching.parse import parse_series
from tests.runtimes.patching import gnu

EXAMPLES = 300
SOAK_EXAMPLES = int(os.environ.get("WEIR_SOAK_EXAMPLES", "20000"))

# Few different lines, so that contexts repeat and are ambiguous.
LINES = st.sampled_from(
    [
        b"\n",
        b"a\n",
        b"b\n",
        b"    return x\n",
        b"caf\xe9 \xff\xfe\n",
        b"d\r\n",
        b"\x0c\n",
        b"-- e\n",
    ]
)
UNIQUE = st.integers(0, 99).map(lambda n: b"line %d\n" % n)
ENDS = st.sampled_from([b"", b"", b"", b"end", b"\r", b"a"])


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """A file of lines that repeat, or mostly do not, perhaps without a line feed at its end."""
    least, most = draw(st.sampled_from([(0, 4), (5, 12), (12, 30), (12, 30)]))
    kinds = draw(st.sampled_from([LINES, LINES | UNIQUE, UNIQUE, UNIQUE]))
    return b"".join(draw(st.lists(kinds, min_size=least, max_size=most))) + draw(ENDS)


@st.composite
def edited(draw: st.DrawFn, data: bytes, least: int, most: int) -> bytes:
    """`data` with lines inserted, removed, changed, repeated or moved."""
    *lines, end = data.split(b"\n")
    lines += [end] if end else []
    for _ in range(draw(st.integers(least, most))):
        at = draw(st.integers(0, len(lines)))
        count = draw(st.integers(1, 4))
        match draw(st.sampled_from(["insert", "remove", "change", "repeat", "move"])):
            case "insert":
                lines[at:at] = [
                    line[:-1] for line in draw(st.lists(LINES | UNIQUE, max_size=count))
                ]
            case "remove":
                del lines[at : at + count]
            case "change":
                lines[at : at + 1] = [draw(LINES | UNIQUE)[:-1]]
            case "repeat":
                lines[at:at] = lines[at : at + count]
            case _:
                taken = lines[at : at + count]
                del lines[at : at + count]
                to = draw(st.integers(0, len(lines)))
                lines[to:to] = taken
    whole = b"\n".join(lines)
    has_feed = end == b"" if draw(st.integers(0, 9)) else draw(st.booleans())
    return whole + b"\n" if lines and has_feed else whole


@st.composite
def drifted(draw: st.DrawFn, old: bytes, new: bytes) -> bytes:
    """What the patch meets: the old file, one that has moved on, the new one, or another one."""
    way = draw(st.sampled_from(["shifted"] * 6 + ["edited"] * 4 + ["old", "new", "both", "other"]))
    above = b"".join(draw(st.lists(LINES | UNIQUE, min_size=1, max_size=6)))
    below = b"".join(draw(st.lists(LINES | UNIQUE, max_size=6)))
    match way:
        case "shifted":
            cut = draw(st.sampled_from([0, 0, 1, 3])) if draw(st.booleans()) else 0
            start = above if draw(st.booleans()) else b""
            return start + b"".join(part + b"\n" for part in old.split(b"\n")[cut:-1]) + below
        case "edited":
            return draw(edited(old, 1, 3))
        case "new":
            return draw(edited(new, 0, 1))
        case "both":
            return above + old + (b"" if not old or old.endswith(b"\n") else b"\n") + new
        case "other":
            return draw(files())
        case _:
            return old


def with_difflib(old: bytes, new: bytes, context: int) -> bytes:
    """Return difflib's unified diff, with the mark that it leaves out."""
    sides = [
        [part + b"\n" for part in data.split(b"\n")[:-1]]
        + ([data.split(b"\n")[-1]] if data.split(b"\n")[-1] else [])
        for data in (old, new)
    ]
    made = difflib.diff_bytes(difflib.unified_diff, *sides, b"a/file.py", b"b/file.py", n=context)
    mark = b"\n\\ No newline at end of file\n"
    return b"".join(line if line.endswith(b"\n") else line + mark for line in made)


def ours(tree: gnu.Tree, patch: bytes) -> gnu.Tree | None:
    """Return what our engine makes of `tree`, or None when it does not apply the patch."""
    decided = plan(parse_series([("it.patch", patch)]), tree.get, 1)
    event(", ".join(sorted({one.result.value for one in decided.hunks})))
    if decided.patches[0].state is not PatchState.APPLIED:
        return None
    made = dict(tree)
    for change in decided.changes:
        if change.content is None:
            made.pop(change.path)
        else:
            made[change.path] = change.content
    return made


@st.composite
def cases(draw: st.DrawFn) -> tuple[bytes, bytes, bytes, int, bool]:
    """Old, new and drifted file, lines of context, and which program makes the diff."""
    old = draw(files())
    new = draw(edited(old, 1, 4))
    target = draw(drifted(old, new))
    return old, new, target, draw(st.sampled_from([0, 1, 1, 3, 3])), draw(st.booleans())


def check(case: tuple[bytes, bytes, bytes, int, bool]) -> None:
    """Compare the two on one case."""
    old, new, target, context, is_gnu = case
    patch = (gnu.diff if is_gnu else with_difflib)(old, new, context)
    if not patch:
        return
    tree = {"file.py": target}

    assert ours(tree, patch) == gnu.patched(tree, patch)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(cases())
def test_generated_diffs_do_what_gnu_patch_does(
    case: tuple[bytes, bytes, bytes, int, bool],
) -> None:
    """Series are cut and checked with GNU patch; a difference would be a wrong engine."""
    check(case)


@pytest.mark.soak
@settings(
    max_examples=SOAK_EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(cases())
def test_many_generated_diffs_do_what_gnu_patch_does(
    case: tuple[bytes, bytes, bytes, int, bool],
) -> None:
    """The same with enough cases for the rare corners of the search."""
    check(case)
