"""Compares what was read of a model's files with what is known of them; reads nothing itself."""

import time
from collections.abc import Mapping

import msgspec

from studio.domain.library import CheckedResult
from studio.domain.proofs import ProofRecord, ProvenFile
from studio.models.digests import Digest
from studio.models.finding import File
from studio.models.known import IMPORT, Expected
from studio.models.shelf import Model
from studio.models.state import Checked


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a whole check came to."""

    checked: Checked
    proof: ProofRecord | None = None
    """None: something is damaged, missing or could not be read, so nothing is proven."""


def files_of(model: Model) -> list[File]:
    """Return the files that a check reads, each inode once, the small ones first."""
    found: dict[tuple[int, int], File] = {}
    for file in model.found.files:
        if file.size is not None:
            found.setdefault((file.device, file.inode), file)
    return sorted(found.values(), key=lambda file: (file.size or 0, file.name))


def wants_git(model: Model, file: File) -> bool:
    """Tell whether a file is known by git's name of it only."""
    told = _expected(model).get(file.name)
    return told is not None and told.sha256 is None and told.git_blob is not None


def outcome(
    model: Model, read: Mapping[tuple[int, int], Digest], at_s: float | None = None
) -> Outcome:
    """Return what a check came to; `read` has the digest of each file by device and inode."""
    expected = _expected(model)
    proven: list[ProvenFile] = []
    bad: dict[str, tuple[int, int]] = {}
    unreadable: list[str] = []
    compared = 0
    for file in model.found.files:
        digest = read.get((file.device, file.inode))
        if file.size is None or digest is None:
            unreadable.append(file.name)
            continue
        matches = _matches(expected.get(file.name), digest)
        compared += matches is not None
        if matches is False:
            bad[file.name] = (digest.size_bytes, digest.modified_ns)
        else:
            proven.append(
                ProvenFile(
                    name=file.name,
                    size_bytes=digest.size_bytes,
                    sha256=digest.sha256,
                    modified_ns=digest.modified_ns,
                )
            )
    moment = time.time() if at_s is None else at_s
    result = CheckedResult(
        at_s=moment,
        files=len(model.found.files),
        compared=compared,
        damaged=tuple(sorted(bad)),
        unreadable=tuple(sorted(unreadable)),
    )
    is_whole = not bad and not unreadable and not model.entry.missing and bool(proven)
    return Outcome(
        checked=Checked(result=result, bad=bad),
        proof=_proof(model, proven, moment) if is_whole else None,
    )


def _proof(model: Model, proven: list[ProvenFile], at_s: float) -> ProofRecord:
    known = model.known
    has_digests = known is not None and any(file.has_digest for file in known.files)
    if model.proof is not None:
        source = model.proof.source
    else:
        source = known.source if known is not None and has_digests else IMPORT
    return ProofRecord(
        source=source,
        repository=model.entry.repository,
        revision=model.entry.revision,
        proven_at_s=at_s,
        files=tuple(proven),
    )


def _expected(model: Model) -> dict[str, Expected]:
    """Return what files are compared with: what is known, and what was proven before."""
    expected = model.known.by_name() if model.known is not None else {}
    for file in model.proof.files if model.proof is not None else ():
        told = expected.get(file.name)
        if told is None or not told.has_digest:
            expected[file.name] = Expected(
                name=file.name, size_bytes=file.size_bytes, sha256=file.sha256
            )
    return expected


def _matches(expected: Expected | None, digest: Digest) -> bool | None:
    """Return whether a file is as it should be; None where nobody says how it should be."""
    if expected is None or not expected.has_digest:
        return None
    if expected.sha256 is not None:
        return expected.sha256 == digest.sha256
    return expected.git_blob == digest.git_blob
