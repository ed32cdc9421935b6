"""A package tree and the recorded patches for it."""

from collections.abc import Mapping
from pathlib import Path

from studio.runtimes.patching.model import Plan
from tests.runtimes.patching.gnu import Tree, write_tree

PATCHES = Path(__file__).resolve().parents[2] / "data" / "patches"


def recorded(name: str) -> tuple[str, bytes]:
    """Return a patch of `tests/data/patches` as `parse_series` takes it."""
    return name, (PATCHES / name).read_bytes()


FEATURES = recorded("git-features.patch")
MAILBOX = recorded("mailbox.patch")


def numbered(word: str, count: int = 20) -> bytes:
    """Return lines that differ from one another."""
    return b"".join(f"{word} {number}\n".encode() for number in range(1, count + 1))


def feature_tree() -> Tree:
    """Return the tree that git-features.patch was cut against."""
    return {
        "pkg/moved.py": numbered("line"),
        "pkg/copied.py": numbered("copy"),
        "pkg/dos.py": b"one\r\ntwo\r\nthree\r\nfour\r\n",
        "pkg/open_end.py": b"a\nb\nc",
        "pkg/tool.sh": b"#!/bin/sh\necho hi\n",
        "pkg/sub/gone.py": b"gone = 1\n",
        "pkg/sub/empty.py": b"",
        "pkg/with space/a b.py": b"x = 1\n",
        "pkg/größe.py": b'y = "\xe9"\n',
        "pkg/untouched.py": b"z = 1\n",
    }


def feature_tree_after() -> Tree:
    """Return the tree that git-features.patch makes of it."""
    made = feature_tree()
    for gone in ("pkg/moved.py", "pkg/sub/gone.py", "pkg/sub/empty.py"):
        del made[gone]
    made["pkg/other/moved.py"] = numbered("line").replace(b"line 3\n", b"line three\n")
    made["pkg/copied.py"] = numbered("copy").replace(b"copy 18\n", b"copy eighteen\n")
    made["pkg/copy.py"] = numbered("copy").replace(b"copy 5\n", b"copy five\n")
    made["pkg/dos.py"] = b"one\r\nTWO\r\nthree\r\nfour\r\n"
    made["pkg/open_end.py"] = b"a\nb\nC"
    made["pkg/new_empty.py"] = b""
    made["pkg/fresh.py"] = b"fresh = 1\n"
    made["pkg/with space/a b.py"] = b"x = 2\n"
    made["pkg/größe.py"] = b'y = "\xea"\n'
    return made


def patched_with(decided: Plan, tree: Mapping[str, bytes]) -> Tree:
    """Return `tree` with the plan's changes."""
    assert decided.rejections == ()
    made = dict(tree)
    for change in decided.changes:
        if change.content is None:
            del made[change.path]
        else:
            made[change.path] = change.content
    return made


def make_tree(folder: Path, tree: Mapping[str, bytes]) -> Path:
    """Write `tree` with bytecode beside each module, as an installer leaves it."""
    folder.mkdir(parents=True)
    write_tree(folder, tree)
    for path in tree:
        place = folder / path
        if place.suffix == ".py":
            cache = place.parent / "__pycache__"
            cache.mkdir(exist_ok=True)
            (cache / f"{place.stem}.cpython-311.pyc").write_bytes(b"old")
    return folder
