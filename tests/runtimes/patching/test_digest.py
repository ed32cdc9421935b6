"""One digest for many files."""

from pathlib import Path

import pytest

from studio.runtimes.patching.digest import tree_digest, whole_tree_digest
from tests.runtimes.patching.gnu import write_tree

TREE = {"a.py": b"1\n", "sub/b.py": b"2\n", "sub/größe c.py": b"3\n"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a folder with a few files."""
    write_tree(tmp_path, TREE)
    return tmp_path


def test_the_digest_is_known(tree: Path) -> None:
    """It is recorded with each runtime; another formula would make every record wrong."""
    known = "2ca2acaff28383ca00ef753bc10aa3a9ffc9c5fc071a6fe2e212d5e91abf0803"

    assert tree_digest(tree, TREE) == known
    assert tree_digest(tree, sorted(TREE, reverse=True)) == known
    assert whole_tree_digest(tree) == known


def test_content_name_executable_bit_and_absence_count(tree: Path) -> None:
    """Each of these changes what runs."""
    seen = {tree_digest(tree, TREE)}

    (tree / "a.py").chmod(0o755)
    seen.add(tree_digest(tree, TREE))
    (tree / "a.py").write_bytes(b"2\n")
    seen.add(tree_digest(tree, TREE))
    (tree / "a.py").rename(tree / "c.py")
    seen.add(tree_digest(tree, TREE))
    seen.add(tree_digest(tree, [*TREE, "c.py"]))
    (tree / "a.py").symlink_to("c.py")
    seen.add(tree_digest(tree, TREE))

    assert len(seen) == 6


def test_what_differs_between_machines_does_not_count(tree: Path) -> None:
    """Umask, bytecode and our own folder."""
    before = whole_tree_digest(tree)

    (tree / "a.py").chmod(0o600)
    write_tree(tree, {"__pycache__/a.cpython-311.pyc": b"x", "z.pyc": b"", ".weir-patching/o": b""})

    assert whole_tree_digest(tree) == before
