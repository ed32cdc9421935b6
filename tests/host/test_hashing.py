"""Many files, read on all cores: the answers are in order and say what each file is."""

import hashlib
import os
from pathlib import Path

from studio.host.hashing import Wanted, cores, hash_file, hash_files


def test_every_file_gets_its_own_digest_in_order(tmp_path: Path) -> None:
    """Small and large, more than a batch, and sizes that were guessed wrong."""
    contents = [os.urandom(number * 37 % 5000) for number in range(700)]
    contents += [os.urandom(3 << 20), b"", os.urandom((1 << 20) + 1)]
    for number, content in enumerate(contents):
        (tmp_path / str(number)).write_bytes(content)
    read: list[int] = []

    found = hash_files(
        [Wanted(str(tmp_path / str(n)), len(c) if n % 2 else 0) for n, c in enumerate(contents)],
        on_bytes=read.append,
    )

    assert [one.sha256 for one in found if one] == [hashlib.sha256(c).digest() for c in contents]
    assert [one.size for one in found if one] == [len(content) for content in contents]
    assert sum(read) == sum(len(content) for content in contents)


def test_what_is_no_file_is_told_from_what_is_not_there(tmp_path: Path) -> None:
    """A pipe in a file's place must not hold the whole run up."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("file")
    names = ("pipe", "folder", "link", "missing", "file/below")

    found = hash_files([Wanted(str(tmp_path / name), 0) for name in names])

    assert [one is not None and one.sha256 is None for one in found] == [True] * 3 + [False] * 2
    assert found[3:] == [None, None]


def test_the_executable_bit_and_the_time_are_told(tmp_path: Path) -> None:
    """Both are compared with a list later on."""
    path = tmp_path / "file"
    path.write_bytes(b"content")
    path.chmod(0o744)
    os.utime(path, ns=(5, 1234567891))

    found = hash_file(str(path))

    assert found is not None
    assert found.is_executable
    assert found.mtime_ns == 1234567891
    assert hash_files([]) == []
    assert cores() >= 1
