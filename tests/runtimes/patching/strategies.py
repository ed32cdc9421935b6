"""Files, edits and drifts for property tests: what a patch is cut against and what it meets."""

import dataclasses
import difflib

from hypothesis import strategies as st

from tests.runtimes.patching import gnu

# Few different lines, so that contexts repeat and are ambiguous.
LINES = st.sampled_from(
    [
        b"\n",
        b"a\n",
        b"b\n",
        b"    return x\n",
        b"\xe9\xff\xfe\n",
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


@dataclasses.dataclass(frozen=True)
class Case:
    """A diff to make, and the file that it meets."""

    old: bytes
    new: bytes
    target: bytes
    context: int
    is_gnu: bool
    """GNU diff makes it, else difflib."""


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Old and new file, and one that has drifted."""
    old = draw(files())
    new = draw(edited(old, 1, 4))
    return Case(
        old=old,
        new=new,
        target=draw(drifted(old, new)),
        context=draw(st.sampled_from([0, 1, 1, 3, 3])),
        is_gnu=draw(st.booleans()),
    )


def make_patch(case: Case) -> bytes:
    """Return the diff of a case; empty when nothing differs."""
    made = gnu.diff if case.is_gnu else with_difflib
    return made(case.old, case.new, case.context)


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
