"""Git's naming of content, held against git itself."""

from pathlib import Path

import pytest

from studio.runtimes.upstream import objects
from studio.runtimes.upstream.objects import (
    BadObject,
    File,
    GitObject,
    MissingObject,
    entry_at,
    mode_of,
    name_of,
    names_below,
    read,
    root_tree,
    trees_of,
    walk,
)
from tests.fakes.git import git, make_repository

FILES = {
    "a.txt": b"top\n",
    "a/b.txt": b"below\n",
    "a-b": b"sorts between a/ and a.\n",
    "tools/run.sh": b"#!/bin/sh\n",
    "dir/k\xc3\xbcche.txt".encode("latin-1").decode("utf-8"): b"\x00\xff",
}


def objects_of(repository: Path) -> dict[str, GitObject]:
    """Return every object of a repository, read by git."""
    found = {}
    for line in git(repository, "rev-list", "--objects", "--all").decode().splitlines():
        name = line.split()[0]
        kind = git(repository, "cat-file", "-t", name).decode().strip()
        found[name] = GitObject(kind=kind, data=git(repository, "cat-file", kind, name))
    return found


@pytest.fixture
def repository(tmp_path: Path) -> tuple[str, dict[str, GitObject]]:
    """A commit and all its objects."""
    commit = make_repository(tmp_path / "made", FILES)
    return commit, objects_of(tmp_path / "made")


def test_every_object_has_the_name_that_git_gives_it(
    repository: tuple[str, dict[str, GitObject]],
) -> None:
    """The whole proof stands on this one digest."""
    _commit, found = repository

    assert len(found) > 8
    assert {name: name_of(one.kind, one.data) for name, one in found.items()} == {
        name: name for name in found
    }


def test_a_commit_leads_to_the_bytes_of_its_files(
    repository: tuple[str, dict[str, GitObject]],
) -> None:
    """Names with blanks or letters of other scripts are names too."""
    commit, found = repository
    tree = root_tree(found, commit)
    root = entry_at(found, tree, ".")
    assert root is not None

    files = {path: read(found, entry, path) for path, entry in walk(found, root)}

    assert files == {
        path: File(data=data, is_executable=data.startswith(b"#!")) for path, data in FILES.items()
    }


def test_what_is_not_there_is_not_invented(repository: tuple[str, dict[str, GitObject]]) -> None:
    """A recipe may name a folder that a commit does not have."""
    commit, found = repository
    tree = root_tree(found, commit)

    assert entry_at(found, tree, "nowhere/else") is None
    assert entry_at(found, tree, "a.txt/below") is None
    assert next(iter(names_below(found, tree, "nowhere"))) == tree


def test_a_missing_object_is_named_with_its_place(
    repository: tuple[str, dict[str, GitObject]],
) -> None:
    """Half a clone must not pass for a whole one."""
    commit, found = repository
    tree = root_tree(found, commit)
    entry = entry_at(found, tree, "a/b.txt")
    assert entry is not None
    del found[entry.id]

    with pytest.raises(MissingObject, match=r"a/b\.txt"):
        read(found, entry, "a/b.txt")
    assert entry.id in set(names_below(found, tree, "a"))


def test_a_tree_is_not_taken_for_a_file(repository: tuple[str, dict[str, GitObject]]) -> None:
    """The kind is part of the name, and is looked at."""
    commit, found = repository
    tree = root_tree(found, commit)

    with pytest.raises(BadObject):
        read(found, objects.Entry(mode=0o100644, id=tree), "a")
    with pytest.raises(BadObject):
        root_tree(found, tree)


@pytest.mark.parametrize(
    "tree",
    [b"100644 a", b"100644 a\0short", b"nonsense", b"x a\0" + bytes(20), b"100644 \0" + bytes(20)],
)
def test_a_broken_tree_is_refused(tree: bytes) -> None:
    """Never an IndexError from the depths."""
    with pytest.raises(BadObject):
        objects.entries(tree)


@pytest.mark.parametrize("name", ["..", ".", ".git"])
def test_a_tree_that_leads_out_of_its_folder_is_refused(name: str) -> None:
    """Git refuses to make one; somebody else's program may not."""
    blob = GitObject(kind="blob", data=b"x")
    line = f"100644 {name}".encode() + b"\0" + bytes.fromhex(name_of("blob", b"x"))
    tree = GitObject(kind="tree", data=line)
    found = {name_of(one.kind, one.data): one for one in (blob, tree)}
    root = entry_at(found, name_of("tree", line), "")
    assert root is not None

    with pytest.raises(BadObject, match="holds the name"):
        list(walk(found, root))


def test_a_link_is_no_file(tmp_path: Path) -> None:
    """A series is text; a link could point anywhere."""
    folder = tmp_path / "made"
    make_repository(folder, {"real": b"x\n"})
    (folder / "link").symlink_to("real")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Link")
    commit = git(folder, "rev-parse", "HEAD").decode().strip()
    found = objects_of(folder)
    entry = entry_at(found, root_tree(found, commit), "link")
    assert entry is not None

    with pytest.raises(BadObject, match="link"):
        read(found, entry, "link")


def test_files_make_the_tree_that_git_makes_of_them(
    repository: tuple[str, dict[str, GitObject]],
) -> None:
    """How an archive without git's data is held against a tree: order and modes decide."""
    commit, found = repository
    given = {
        path: (mode_of(is_executable=data.startswith(b"#!"), is_link=False), data)
        for path, data in FILES.items()
    }

    tree, made = trees_of(given)

    assert tree == root_tree(found, commit)
    assert made.items() <= found.items()


def test_a_name_cannot_be_file_and_folder(tmp_path: Path) -> None:
    """No tree of git's can hold it."""
    with pytest.raises(BadObject):
        trees_of({"a": (0o100644, b""), "a/b": (0o100644, b"")})
