"""GNU patch and GNU diff as the yardstick."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

Tree = dict[str, bytes]


def tool(name: str) -> str:
    """Return the program's path; the tests cannot do without."""
    found = shutil.which(name)
    if found is None:
        pytest.fail(f"GNU {name} is missing: apt-get install patch diffutils")
    return found


def write_tree(folder: Path, tree: Mapping[str, bytes]) -> None:
    """Write the files of `tree`."""
    for path, content in tree.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def read_tree(folder: Path) -> Tree:
    """Return every file below `folder`."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def patched(tree: Mapping[str, bytes], patch: bytes, *, reverse: bool = False) -> Tree | None:
    """Return what GNU patch makes of `tree` at fuzz 0, or None when it rejects anything.

    `--forward`: without it, `--batch` takes a patch back that it finds applied.
    """
    with tempfile.TemporaryDirectory(dir=_memory()) as name:
        folder = Path(name, "tree")
        folder.mkdir()
        write_tree(folder, tree)
        command = [tool("patch"), "--fuzz=0", "-p1", "--no-backup-if-mismatch"]
        ran = subprocess.run(
            [*command, *(["--force", "--reverse"] if reverse else ["--batch", "--forward"])],
            cwd=folder,
            input=patch,
            capture_output=True,
            check=False,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"},
        )
        assert ran.returncode in (0, 1), ran.stdout + ran.stderr
        if b"Only garbage" in ran.stderr:
            return dict(tree)
        return read_tree(folder) if ran.returncode == 0 else None


def diff(old: bytes, new: bytes, context: int, name: str = "file.py") -> bytes:
    """Return what `diff -u` says between two versions of one file."""
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        for side, content in (("a", old), ("b", new)):
            write_tree(Path(folder, side), {name: content})
        ran = subprocess.run(
            [tool("diff"), "--text", f"-U{context}", f"a/{name}", f"b/{name}"],
            cwd=folder,
            capture_output=True,
            check=False,
        )
        assert ran.returncode in (0, 1), ran.stderr
        return ran.stdout


def tree_diff(old: Mapping[str, bytes], new: Mapping[str, bytes], by: str) -> bytes:
    """Return what `git diff`, `diff -ru` or `diff -ruN` says between two trees."""
    commands = {
        "git": ["git", "-c", "core.quotePath=true", "diff", "--no-index", "--no-renames", "--text"],
        "diff": ["diff", "--text", "-ru"],
        "diff-n": ["diff", "--text", "-ruN"],
    }
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        for side, tree in (("a", old), ("b", new)):
            Path(folder, side).mkdir()
            write_tree(Path(folder, side), tree)
        program, *arguments = commands[by]
        # git diffs a file that is missing on one side under its real name on both.
        ran = subprocess.run(
            [tool(program), *arguments, *(["--no-prefix"] if by == "git" else []), "a", "b"],
            cwd=folder,
            capture_output=True,
            check=False,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TZ": "UTC"},
        )
        assert ran.returncode in (0, 1), ran.stderr
        return ran.stdout


def _memory() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
