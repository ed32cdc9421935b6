"""A full disk in words that say how much has to be freed."""

from pathlib import Path

import pytest

from studio.domain.errors import HostLacks
from studio.hub import room

FULL = HostLacks("disk-full", "The disk that holds /a is full.", hint="Free some space.")


@pytest.mark.parametrize(
    ("missing", "free", "words"),
    [
        (3 << 30, 1 << 20, "is full: 3.00 GiB of owner/model is missing; 1.0 MiB is free."),
        (3 << 30, None, "is full: 3.00 GiB of owner/model is missing."),
        (0, 0, "is full: every file of owner/model is here, what says so has no room; 0 B is"),
    ],
)
def test_a_full_disk_says_what_is_missing(missing: int, free: int | None, words: str) -> None:
    """Who only reads that a disk is full frees a little, and waits for the next end."""
    error = room.full(
        FULL, repository="owner/model", folder=Path("/b"), missing_bytes=missing, free_bytes=free
    )

    assert error.code == "disk-full"
    assert words in error.message
    assert error.data == {"missing_bytes": missing, "free_bytes": free}


def test_other_errors_stay_as_they_are() -> None:
    """A folder that cannot be written is no full disk."""
    other = HostLacks("not-writable", "/a cannot be written.", hint="Check its owner.")

    found = room.full(other, repository="a/b", folder=Path("/b"), missing_bytes=1, free_bytes=None)

    assert found is other
