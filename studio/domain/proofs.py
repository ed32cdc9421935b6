"""What was proven of a model's files, and what that says of them today: one record for all."""

from enum import StrEnum

import msgspec

PROOF_FORMAT = 1
"""A record with a higher number was written by a later Studio and is not guessed at."""


class ModelState(StrEnum):
    """What is known of a model's files."""

    READY = "ready"
    UNPROVEN = "unproven"
    INCOMPLETE = "incomplete"
    DAMAGED = "damaged"
    UNKNOWN = "unknown"


class ProvenFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file as it was when its bytes were hashed."""

    name: str
    """Relative to the model's folder, with forward slashes."""
    size_bytes: int
    sha256: str
    """Of the bytes on the disk, 64 lower-case hexadecimal digits."""
    modified_ns: int
    """Its time of change when it was hashed; another one today means that it is to be hashed
    again."""


class ProofRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """That every file named here matched what its source says of it."""

    format: int = PROOF_FORMAT
    source: str
    """What it was compared with: `huggingface`, `modelscope`, `spec` or `import`."""
    repository: str | None = None
    revision: str | None = None
    proven_at_s: float
    """Seconds since 1970."""
    files: tuple[ProvenFile, ...]


class MissingFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a record names and the disk has not."""

    name: str
    size_bytes: int


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What a record says of a folder as it lies today, without a byte being hashed."""

    state: ModelState
    missing: tuple[MissingFile, ...] = ()
    damaged: tuple[str, ...] = ()
    """Names of files whose size is not the proven one."""
    changed: tuple[str, ...] = ()
    """Names of files that were written or could not be looked at since they were proven."""
    proven_at_s: float | None = None
