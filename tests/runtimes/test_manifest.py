"""The list of a runtime's files: what is written is what is read, or an error."""

import hashlib
import os
import random
from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import Damaged, HostLacks
from studio.runtimes.manifest import MANIFEST_FILE, VITAL, Entry, Manifest, opened, read, write


def _manifest(count: int = 2000) -> Manifest:
    entries = tuple(
        Entry(
            f"python/lib/päckage{number % 90}/part{number}.py",
            VITAL if number % 100 == 0 else 0,
            number * 7,
            1_700_000_000_000_000_000 + number,
            hashlib.sha256(str(number).encode()).digest(),
            number % 5,
        )
        for number in range(count)
    )
    return Manifest(
        runtime_id="ab" * 32,
        root="/srv/my höme",
        owners=("a==1", "b==2", "c==3", "d==4"),
        entries=entries,
        lock=b"a==1 --hash=sha256:00\n",
    )


def _sorted(manifest: Manifest) -> Manifest:
    entries = tuple(sorted(manifest.entries, key=lambda entry: entry.path))
    return msgspec.structs.replace(manifest, entries=entries)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """In another order, which is the point of it; nothing else changes."""
    made = _manifest()

    write(tmp_path / MANIFEST_FILE, made)

    found = read(tmp_path)
    assert found is not None
    assert _sorted(found) == _sorted(made)
    assert (tmp_path / MANIFEST_FILE).stat().st_size < 70 * len(made.entries)


def test_a_block_is_a_sample_of_the_whole(tmp_path: Path) -> None:
    """The vital entries are in the first blocks; any other block has a bit of every folder."""
    write(tmp_path / MANIFEST_FILE, _manifest(9000))

    with opened(tmp_path) as reader:
        assert reader is not None
        vital = reader.entries(range(reader.header.vital_blocks))
        one = reader.entries([reader.header.vital_blocks + 3])

    assert {entry.path for entry in vital} == {
        entry.path for entry in _manifest(9000).entries if entry.has(VITAL)
    }
    assert len(one) == 512
    assert len({entry.path.split("/")[2] for entry in one}) > 80


def test_without_a_list_there_is_none(tmp_path: Path) -> None:
    """Older runtimes have none; that is no damage."""
    assert read(tmp_path) is None


def test_any_flipped_or_missing_byte_is_noticed(tmp_path: Path) -> None:
    """A list that says wrong things is worse than no list."""
    path = tmp_path / MANIFEST_FILE
    write(path, _manifest(700))
    whole = path.read_bytes()
    choice = random.Random(20261129)

    for _ in range(60):
        place = choice.randrange(len(whole))
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(Damaged) as flipped:
            read(tmp_path)
        path.write_bytes(whole[:place])
        with pytest.raises(Damaged):
            read(tmp_path)

        assert flipped.value.code == "manifest-damaged"


def test_a_list_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A folder in its place, or another owner."""
    (tmp_path / MANIFEST_FILE).mkdir()

    with pytest.raises(HostLacks) as caught:
        read(tmp_path)

    assert caught.value.code == "not-readable"
    assert os.fspath(tmp_path) in caught.value.message
