"""What is known of an unfinished file, kept so that a kill at any instant loses next to nothing.

Two slots of one page each are written in turn, each with its own checksum: a torn one leaves the
other. A record costs one write and no flush, because the kernel keeps what a killed process wrote.
A power cut loses what was not flushed: then only the ranges that were flushed before are believed,
which is why the record names the boot that it was written in.
"""

import os
import struct
import zlib
from pathlib import Path

import msgspec

from studio.host.transfer import places
from studio.host.transfer.spans import Span, valid

SLOT_BYTES = 4096
_HEAD = struct.Struct("<II")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One record: what the file should be, and what of it is here."""

    number: int = 0
    sha256: str | None = None
    bytes: int | None = None
    """Size of the whole file, as far as known."""
    spans: tuple[Span, ...] = ()
    synced: tuple[Span, ...] = ()
    """The ranges that have been flushed to the disk."""
    boot: str | None = None
    source: str | None = None
    """Digest of the address that `validator` belongs to."""
    validator: str | None = None
    """ETag or time of change by which the source tells versions of the file apart."""
    contributors: tuple[str, ...] = ()
    """Digests of all addresses that bytes came from."""

    def believed(self) -> tuple[Span, ...]:
        """Return the ranges that are here for certain."""
        same_boot = self.boot is not None and self.boot == boot_id()
        return self.spans if same_boot else self.synced


def boot_id() -> str | None:
    """Return what changes with each start of the machine, or None when not known."""
    try:
        return _BOOT_ID.read_text("ascii").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


class Journal:
    """The file with the two slots."""

    def __init__(self, path: Path) -> None:
        """Raises: OSError."""
        self._file = places.open_file(path)
        self._boot = boot_id()
        self._number = 0

    def read(self) -> Entry | None:
        """Return the newest whole record; None when there is none."""
        found = [entry for entry in (self._slot(0), self._slot(1)) if entry is not None]
        newest = max(found, key=lambda entry: entry.number, default=None)
        self._number = newest.number if newest is not None else 0
        return newest

    def _slot(self, index: int) -> Entry | None:
        raw = places.read_at(self._file, SLOT_BYTES, index * SLOT_BYTES)
        if len(raw) < _HEAD.size:
            return None
        length, checksum = _HEAD.unpack_from(raw)
        text = raw[_HEAD.size : _HEAD.size + length]
        if len(text) != length or zlib.crc32(text) != checksum:
            return None
        try:
            entry = msgspec.json.decode(text, type=Entry)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        most = entry.bytes if entry.bytes is not None else 1 << 62
        return entry if valid(entry.spans, most) and valid(entry.synced, most) else None

    def write(self, entry: Entry) -> None:
        """Keep a record, in the older slot. Raises: OSError."""
        self._number += 1
        entry = msgspec.structs.replace(entry, number=self._number, boot=self._boot)
        text = msgspec.json.encode(entry)
        while len(text) > SLOT_BYTES - _HEAD.size:
            # More ranges than a page holds: the last ones are fetched again after a kill.
            entry = msgspec.structs.replace(
                entry,
                spans=entry.spans[: len(entry.spans) // 2],
                synced=entry.synced[: len(entry.synced) // 2],
            )
            text = msgspec.json.encode(entry)
        page = _HEAD.pack(len(text), zlib.crc32(text)) + text
        places.write_at(self._file, page.ljust(SLOT_BYTES, b"\0"), (self._number % 2) * SLOT_BYTES)

    def reserve(self) -> None:
        """Take the room of both slots, so that a disk that fills up can still be recorded."""
        missing = 2 * SLOT_BYTES - os.fstat(self._file).st_size
        if missing > 0:
            places.write_at(self._file, bytes(missing), 2 * SLOT_BYTES - missing)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
