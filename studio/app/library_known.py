"""What is written down of a model when it comes: from a hub with its digests, or from a folder."""

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from studio.domain.downloads import Fetched, FetchedFile
from studio.domain.errors import StudioError
from studio.domain.proofs import ModelState, ProofRecord, ProvenFile
from studio.models import known, proof
from studio.models.finding import Found
from studio.models.known import Expected, Known
from studio.models.shelf import Model

_SMALL_BYTES = 64 << 20
"""Files that a hub knows by git's name are small; a larger one is left to a check."""


def note_fetched(fetched: Fetched, models: Path) -> bool:
    """Write down what a hub says; return whether all of it is proven. Blocks.

    Files whose bytes all came now were hashed on their way. Where some were here before, only
    their sizes are known to be right, and a check has to read them. Raises: HostLacks.
    """
    folder = Path(fetched.folder)
    told = Known(
        source=fetched.hub,
        repository=fetched.repository,
        revision=fetched.commit,
        files=tuple(
            Expected(name=file.path, size_bytes=file.bytes, sha256=file.sha256,
                     git_blob=file.blob_id)
            for file in fetched.files
        ),
    )  # fmt: skip
    before = known.kept(folder, models)
    if before is not None and before.revision == told.revision:
        files = before.by_name() | told.by_name()
        told = msgspec.structs.replace(told, files=tuple(files.values()))
    known.keep(folder, models, told)
    before_proof = _proof(folder, models)
    if fetched.fetched_bytes != sum(file.bytes for file in fetched.files):
        return before_proof is not None and _covers(before_proof, fetched)
    proven = {file.name: file for file in _proven(folder, fetched.files)}
    if len(proven) != len(fetched.files):
        return False
    earlier = {file.name: file for file in before_proof.files} if before_proof else {}
    record = ProofRecord(
        source=fetched.hub,
        repository=fetched.repository,
        revision=fetched.commit,
        proven_at_s=time.time(),
        files=tuple((earlier | proven).values()),
    )
    proof.write_proof(folder, models, record)
    return True


def _proof(folder: Path, models: Path) -> ProofRecord | None:
    """Return what was proven before, where it still holds."""
    try:
        record = proof.read_proof(folder, models)
    except StudioError:
        return None
    is_ready = proof.standing(folder, record).state is ModelState.READY
    return record if is_ready else None


def _covers(record: ProofRecord, fetched: Fetched) -> bool:
    names = {file.name for file in record.files}
    return all(file.path in names for file in fetched.files)


def _proven(folder: Path, files: tuple[FetchedFile, ...]) -> Iterator[ProvenFile]:
    for file in files:
        sha256 = file.sha256 or _hashed(folder / file.path, file)
        if sha256 is not None:
            try:
                yield proof.proven(folder, file.path, sha256)
            except OSError:
                return


def _hashed(path: Path, file: FetchedFile) -> str | None:
    """Return the sha256 of a small file that git's name of it is right for."""
    if file.bytes > _SMALL_BYTES:
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    git = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    return hashlib.sha256(data).hexdigest() if git == file.blob_id else None


def note_import(
    folder: Path, models: Path, found: Found, before: Model | None, *, is_same: bool
) -> None:
    """Let what was known of a model hold for its copy; with `is_same`, what was proven too.

    Raises: HostLacks.
    """
    told = before.known if before is not None else known.known_of(found, None, ())
    if told is not None:
        names = {file.name for file in found.files}
        files = tuple(file for file in told.files if file.name in names)
        known.keep(folder, models, msgspec.structs.replace(told, files=files))
    if before is not None and before.proof is not None:
        record = before.proof
        if is_same and proof.standing(folder, record).state is ModelState.READY:
            proof.write_proof(folder, models, record)
        elif told is None or not any(file.has_digest for file in told.files):
            files = tuple(
                Expected(name=file.name, size_bytes=file.size_bytes, sha256=file.sha256)
                for file in record.files
            )
            known.keep(folder, models, Known(source=record.source, files=files))
