"""Packs: what git writes is read whole, what is broken is refused, what we write git reads."""

import random
import zlib
from pathlib import Path

import pytest

from studio.runtimes.upstream import pack
from studio.runtimes.upstream.objects import BadObject, GitObject, name_of
from studio.runtimes.upstream.pack import bundle_bytes, pack_bytes, read_bundle, read_pack
from tests.fakes.git import commit, git, make_repository
from tests.runtimes.upstream.test_objects import objects_of


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with so many similar files that git stores differences."""
    folder = tmp_path_factory.mktemp("pack") / "made"
    draw = random.Random(7)
    lines = [f"line {draw.random()}\n" for _ in range(900)]
    make_repository(folder, {"long.txt": "".join(lines).encode(), "empty": b""})
    for number in range(6):
        lines[draw.randrange(900)] = f"changed {number}\n"
        commit(folder, {"long.txt": "".join(lines).encode()}, f"Change {number}")
    git(folder, "tag", "-a", "-m", "Tagged", "v1")
    return folder


def packed(repository: Path, *arguments: str) -> bytes:
    """Return a pack of everything, written by git."""
    names = git(repository, "rev-list", "--objects", "--all", "--no-object-names")
    return git(repository, "pack-objects", "--stdout", "-q", *arguments, data=names)


@pytest.mark.parametrize(
    "arguments",
    [("--window=10",), ("--window=10", "--delta-base-offset"), ("--window=0",)],
    ids=["differences by name", "by offset", "whole objects"],
)
def test_every_object_that_git_packs_is_read(repository: Path, arguments: tuple[str, ...]) -> None:
    """Servers choose the form; all of them are git's."""
    assert read_pack(packed(repository, *arguments)) == objects_of(repository)


def test_git_reads_what_is_written(repository: Path, tmp_path: Path) -> None:
    """What is kept could be looked at with git, should anyone doubt it."""
    found = objects_of(repository)
    git(tmp_path, "init", "-q")

    git(tmp_path, "unpack-objects", "-q", data=pack_bytes(list(found.values())))

    assert all(git(tmp_path, "cat-file", "-e", name) == b"" for name in found)


def test_a_bundle_of_git_and_one_of_ours_are_read(repository: Path) -> None:
    """The first comes from a person, the second from another machine of theirs."""
    found = objects_of(repository)
    theirs = git(repository, "bundle", "create", "-q", "-", "--all")
    ours = bundle_bytes("a" * 40, found.values())

    assert read_bundle(theirs) == found
    assert read_bundle(ours) == found
    assert ours == bundle_bytes("a" * 40, reversed(list(found.values())))


def test_an_object_whose_base_is_elsewhere_is_left_out(repository: Path) -> None:
    """A bundle of changes alone: nothing is made up, what needs the object misses it."""
    head = git(repository, "rev-parse", "HEAD").decode().strip()
    thin = git(repository, "bundle", "create", "-q", "-", f"{head}~1..main")

    found = read_bundle(thin)

    assert head in found
    assert found.items() < objects_of(repository).items()


def test_every_flipped_byte_changes_a_name_or_is_refused(repository: Path) -> None:
    """A proxy, a disk or an attacker: no byte of content passes under its old name."""
    whole = packed(repository, "--window=10")
    names = set(objects_of(repository))
    draw = random.Random(11)

    for at in [*range(40), *(draw.randrange(len(whole)) for _ in range(160))]:
        broken = bytearray(whole)
        broken[at] ^= 1 << draw.randrange(8)
        try:
            found = read_pack(bytes(broken))
        except BadObject:
            continue
        assert all(name_of(one.kind, one.data) == name for name, one in found.items())
        assert names - set(found) or at >= len(whole) - 20


def test_every_cut_is_refused(repository: Path) -> None:
    """A connection that broke off."""
    whole = packed(repository, "--window=10")

    for length in range(0, len(whole) - 21, 37):
        with pytest.raises(BadObject):
            read_pack(whole[:length])


@pytest.mark.parametrize(
    "data", [b"", b"PACK", b"<html>" * 20, b"PACK\x00\x00\x00\x09\x00\x00\x00\x00" + bytes(20)]
)
def test_what_is_no_pack_is_refused(data: bytes) -> None:
    """A login page, a format of the future."""
    with pytest.raises(BadObject):
        read_pack(data)
    with pytest.raises(BadObject):
        read_bundle(data)


def test_a_bomb_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small pack may claim, or unpack to, gigabytes."""
    monkeypatch.setattr(pack, "MOST_BYTES", 1_000_000)
    honest = pack_bytes([GitObject(kind="blob", data=bytes(900_000))])
    big = pack_bytes([GitObject(kind="blob", data=bytes(2_000_000))])
    lying = bytearray(honest)
    lying[12:15] = (
        pack_bytes([GitObject(kind="blob", data=bytes(5))])[12:13]
        + zlib.compress(bytes(900_000))[:2]
    )

    assert len(read_pack(honest)) == 1
    with pytest.raises(BadObject, match="exceed"):
        read_pack(big)
    with pytest.raises(BadObject):
        read_pack(bytes(lying))


def test_a_difference_that_grows_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copying the base a thousand times takes four bytes each."""
    monkeypatch.setattr(pack, "MOST_BYTES", 200_000)
    base = GitObject(kind="blob", data=bytes(60_000))
    name = name_of(base.kind, base.data)
    delta = b"\xe0\xd4\x03" + b"\x80\x80\x80\x01" + b"\xb0\x60\xea" * 40
    entry = bytes([0x70 | (len(delta) & 0x0F) | 0x80, len(delta) >> 4]) + bytes.fromhex(name)
    body = bytearray(pack_bytes([base])[:-20] + entry + zlib.compress(delta))
    body[8:12] = (2).to_bytes(4, "big")

    with pytest.raises(BadObject):
        read_pack(bytes(body) + bytes(20))


def test_a_whole_repository_is_read_in_a_moment(repository: Path) -> None:
    """An index of git's is not needed: the names come out right without it."""
    git(repository, "repack", "-q", "-a", "-d")
    (path,) = (repository / ".git" / "objects" / "pack").glob("*.pack")
    listed = git(repository, "show-index", data=path.with_suffix(".idx").read_bytes()).decode()

    assert set(read_pack(path.read_bytes())) == {line.split()[1] for line in listed.splitlines()}
