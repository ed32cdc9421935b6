"""Digests that were computed are not computed again, and never told of another content."""

import os
from pathlib import Path

from studio.models.digests import FILE, Digest, DigestBook
from studio.models.finding import File


def file_of(path: Path) -> File:
    """Return a file as the walk tells it."""
    about = path.stat()
    return File(path.name, str(path), about.st_size, about.st_mtime_ns, about.st_dev, about.st_ino)


def digest_of(file: File) -> Digest:
    """Return a digest of a file."""
    return Digest(size_bytes=file.size or 0, modified_ns=file.mtime_ns, sha256="a" * 64, at_s=1.0)


def test_a_digest_holds_for_every_name_of_a_file_until_it_is_written(tmp_path: Path) -> None:
    """Also in another process."""
    path, models = tmp_path / "w", tmp_path / "models"
    path.write_bytes(b"x" * 10)
    (tmp_path / "v").hardlink_to(path)
    first = DigestBook(models)
    first.put(file_of(path), digest_of(file_of(path)))
    first.flush()

    book = DigestBook(models)

    assert book.get(file_of(tmp_path / "v")) is not None
    os.utime(path, ns=(5, 5))
    assert book.get(file_of(path)) is None


def test_a_file_that_went_is_forgotten(tmp_path: Path) -> None:
    """Its inode will be another file's."""
    path = tmp_path / "w"
    path.write_bytes(b"x")
    book = DigestBook(tmp_path)
    book.put(file_of(path), digest_of(file_of(path)))
    book.flush()

    book.forget([file_of(path)])

    assert DigestBook(tmp_path).get(file_of(path)) is None


def test_small_files_are_written_together_and_large_ones_at_once(tmp_path: Path) -> None:
    """10,000 small files would write the record 10,000 times; 60 GB must not be read again."""
    book = DigestBook(tmp_path)
    small = File("s", "/s", 10, 1, 7, 1)
    large = File("l", "/l", 1 << 30, 1, 7, 2)

    book.put(small, digest_of(small))
    assert not (tmp_path / FILE).exists()
    book.put(large, digest_of(large))

    assert DigestBook(tmp_path).get(small) is not None


def test_a_damaged_record_is_an_empty_one(tmp_path: Path) -> None:
    """It costs time and nothing else."""
    path = tmp_path / "w"
    path.write_bytes(b"x")
    for data in (b"", b"[", b"[1]", b'{"1:2": 7}', b"\xff"):
        (tmp_path / FILE).write_bytes(data)
        assert DigestBook(tmp_path).get(file_of(path)) is None
