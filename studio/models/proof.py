"""The record of what was proven of a model: where it lies, how it is read, what it says today.

In the Studio's own models folder it lies beside the files; elsewhere nothing is written, and the
record is kept under `.proofs` of the models folder, named by the digest of the folder's path.
"""

import hashlib
import os
import re
import stat
from pathlib import Path, PurePosixPath

import msgspec

from studio.domain.errors import BadInput, Damaged, HostLacks
from studio.domain.proofs import (
    PROOF_FORMAT,
    MissingFile,
    ModelState,
    ProofRecord,
    ProvenFile,
    Standing,
)
from studio.host.files import write_atomic

RECORD = "weir-model.json"
SIDECARS = ".proofs"
_LIMIT_BYTES = 16 << 20
"""A record of 10,000 files takes under 3 MB."""
_SHA256 = re.compile(r"[0-9a-f]{64}")


def record_path(folder: Path, models: Path) -> Path:
    """Return where the record of the model in `folder` lies; `models` is the Studio's own root.

    A single GGUF is named by its path; its record is never beside it.
    """
    whole = folder.resolve()
    is_ours = whole != models.resolve() and whole.is_relative_to(models.resolve())
    if is_ours and not whole.is_file() and not _is_older(whole / RECORD):
        return whole / RECORD
    return sidecar(whole, models, SIDECARS)


def sidecar(place: Path, models: Path, kind: str) -> Path:
    """Return where something of the folder or file `place` is kept without writing there."""
    digest = hashlib.sha256(os.fsencode(place.resolve())).hexdigest()
    return models / kind / f"{digest}.json"


class _NoFile(ValueError):
    pass


def _content(path: Path) -> bytes:
    """Return the beginning of a file. Raises: OSError, _NoFile."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe must not hold us up
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _NoFile
        return file.read(_LIMIT_BYTES + 1)


def _is_older(path: Path) -> bool:
    """Tell whether a record is one of `InstalledModel`: names and sizes, no digests."""
    try:
        told = msgspec.json.decode(_content(path), type=dict[str, msgspec.Raw])
    except (OSError, ValueError, RecursionError):
        return False
    return "source_sha256" in told and "format" not in told


def read_proof(folder: Path, models: Path) -> ProofRecord | None:
    """Return what was proven of the model in `folder`; None when nothing was.

    Raises: Damaged (`proof-damaged`), HostLacks (`not-readable`).
    """
    path = record_path(folder, models)
    try:
        data = _content(path)
    except _NoFile:
        raise _damaged(path, "it is not a file") from None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HostLacks(
            "not-readable",
            f"{path} cannot be read: {error.strerror or error}.",
            hint="Check the owner and permissions of the file and of its folder.",
        ) from error
    if len(data) > _LIMIT_BYTES:
        raise _damaged(path, "it is too large to be one")
    try:
        record = msgspec.json.decode(data, type=ProofRecord)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _damaged(path, str(error)) from error
    if fault := _fault(record):
        raise _damaged(path, fault)
    return record


def write_proof(folder: Path, models: Path, record: ProofRecord) -> Path:
    """Keep what was proven of the model in `folder`, whole or not at all; returns where.

    Raises: BadInput (`proof-invalid`), HostLacks (`disk-full`, `not-writable`).
    """
    if fault := _fault(record):
        raise BadInput(
            "proof-invalid",
            f"What was proven of {folder} cannot be kept: {fault}.",
            hint="Name files relative to the model's folder, each once, with its sha256.",
        )
    path = record_path(folder, models)
    write_atomic(path, msgspec.json.format(msgspec.json.encode(record), indent=1))
    return path


def proven(folder: Path, name: str, sha256: str) -> ProvenFile:
    """Return the entry of a file that was just hashed. Raises: OSError where it is gone."""
    found = (folder / name).stat()
    return ProvenFile(
        name=name, size_bytes=found.st_size, sha256=sha256, modified_ns=found.st_mtime_ns
    )


def standing(folder: Path, record: ProofRecord | None) -> Standing:
    """Return what `record` says of `folder` today, from names, sizes and times of change."""
    if record is None:
        return Standing(state=ModelState.UNPROVEN)
    missing, damaged, changed = [], [], []
    for file in record.files:
        try:
            found = (folder / file.name).stat()
        except (FileNotFoundError, NotADirectoryError):
            missing.append(MissingFile(name=file.name, size_bytes=file.size_bytes))
            continue
        except OSError:  # a loop of links, no permission: not known, so not called damaged
            changed.append(file.name)
            continue
        if not stat.S_ISREG(found.st_mode) or found.st_size != file.size_bytes:
            damaged.append(file.name)
        elif found.st_mtime_ns != file.modified_ns:
            changed.append(file.name)
    return Standing(
        state=_state(bool(damaged), bool(missing), bool(changed)),
        missing=tuple(missing),
        damaged=tuple(damaged),
        changed=tuple(changed),
        proven_at_s=record.proven_at_s,
    )


def _state(is_damaged: bool, is_incomplete: bool, is_changed: bool) -> ModelState:
    if is_damaged:
        return ModelState.DAMAGED
    if is_incomplete:
        return ModelState.INCOMPLETE
    return ModelState.UNKNOWN if is_changed else ModelState.READY


def _fault(record: ProofRecord) -> str | None:
    if record.format != PROOF_FORMAT:
        return f"its format is {record.format}, and {PROOF_FORMAT} is known here"
    if not record.files:
        return "it names no file"
    names = [file.name for file in record.files]
    if len(set(names)) != len(names):
        return "it names a file twice"
    for file in record.files:
        if not _is_inside(file.name):
            return f"{file.name!r} is not a name inside the model's folder"
        if not _SHA256.fullmatch(file.sha256) or file.size_bytes < 0:
            return f"size or digest of {file.name!r} is none"
    return None


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return (
        path.as_posix() == name
        and name != "."
        and not path.is_absolute()
        and ".." not in path.parts
        and "\0" not in name
        and "\\" not in name
    )


def _damaged(path: Path, why: str) -> Damaged:
    return Damaged(
        "proof-damaged",
        f"The record of what was proven, {path}, is of no use: {why}.",
        hint="Remove that file; the model is then unproven until it is checked again.",
    )
