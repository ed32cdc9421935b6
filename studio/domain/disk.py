"""What the Studio takes of the disk that holds its folder."""

import msgspec

from studio.domain.uninstall import Belongings


class DiskUse(msgspec.Struct, frozen=True, kw_only=True):
    """What one group of files takes."""

    group: Belongings
    bytes: int
    """What two groups share by hard links is counted at the first of them."""
    files: int


class DiskReport(msgspec.Struct, frozen=True, kw_only=True):
    """The disk, and what of it is ours."""

    home: str
    """The Studio's folder; files elsewhere are not counted."""
    total_bytes: int | None = None
    """Of the disk that holds the folder; None: it does not say."""
    free_bytes: int | None = None
    """What may still be written by whoever runs the service."""
    others_bytes: int | None = None
    """What is neither ours nor free, reserves of the file system included."""
    uses: tuple[DiskUse, ...] = ()
    """In the order of the groups; those that take nothing are left out."""
    own_bytes: int = 0
    """All uses together."""
