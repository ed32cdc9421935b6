"""Whether a model is ready: what is known of its files against what lies there, hashing nothing.

`ready` needs a proof: every weight was hashed, matched, and was not written since. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from studio.domain.library import CheckedResult, LackingFile
from studio.domain.proofs import ModelState, ProofRecord, ProvenFile
from studio.models.facts import Described, is_weights
from studio.models.finding import File, Found
from studio.models.known import Expected, Known


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """The last whole check of a model, and the files it found wanting as they were then."""

    result: CheckedResult
    bad: dict[str, tuple[int, int]] = {}
    """Name to size and time of change."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a model's files."""

    state: ModelState
    missing: tuple[LackingFile, ...] = ()
    damaged: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def verdict(
    found: Found,
    described: Described,
    known: Known | None,
    proof: ProofRecord | None,
    checked: Checked | None,
) -> Verdict:
    """Return the state of a model."""
    files = {file.name: file for file in found.files}
    expected = known.by_name() if known is not None else {}
    proven = {file.name: file for file in proof.files} if proof is not None else {}
    missing = _missing(files, described, expected, proven)
    damaged = _damaged(files, described, expected, proven, checked)
    changed = _changed(files, proven)
    is_begun = found.unfinished_bytes > 0 and proof is None
    if damaged:
        state = ModelState.DAMAGED
    elif missing or is_begun or not any(file.size is not None for file in found.files):
        state = ModelState.INCOMPLETE
    elif proof is not None and not changed and not _unproven_weights(files, proven):
        state = ModelState.READY
    elif proof is not None or any(file.has_digest for file in expected.values()):
        state = ModelState.UNKNOWN
    else:
        state = ModelState.UNPROVEN
    return Verdict(state=state, missing=missing, damaged=damaged, changed=changed)


def _missing(
    files: Mapping[str, File],
    described: Described,
    expected: Mapping[str, Expected],
    proven: Mapping[str, ProvenFile],
) -> tuple[LackingFile, ...]:
    sizes: dict[str, int | None] = {file.name: None for file in described.missing}
    sizes |= {name: None for name, file in files.items() if file.size is None}
    for name, told in _told(expected, proven):
        if files.get(name) is None or files[name].size is None:
            sizes[name] = sizes.get(name) if told.size_bytes is None else told.size_bytes
    return tuple(LackingFile(name=name, size_bytes=sizes[name]) for name in sorted(sizes))


def _damaged(
    files: Mapping[str, File],
    described: Described,
    expected: Mapping[str, Expected],
    proven: Mapping[str, ProvenFile],
    checked: Checked | None,
) -> tuple[str, ...]:
    bad = set(described.damaged)
    for name, told in _told(expected, proven):
        size = files[name].size if name in files else None
        if size is not None and told.size_bytes is not None and told.size_bytes != size:
            bad.add(name)
    for name, (size_then, modified_ns) in (checked.bad if checked is not None else {}).items():
        file = files.get(name)
        if file is not None and (file.size, file.mtime_ns) == (size_then, modified_ns):
            bad.add(name)
    return tuple(sorted(bad))


def _told(
    expected: Mapping[str, Expected], proven: Mapping[str, ProvenFile]
) -> Iterator[tuple[str, Expected | ProvenFile]]:
    yield from expected.items()
    yield from proven.items()


def _changed(files: Mapping[str, File], proven: Mapping[str, ProvenFile]) -> tuple[str, ...]:
    return tuple(
        sorted(
            name
            for name, told in proven.items()
            if name in files
            and files[name].size == told.size_bytes
            and files[name].mtime_ns != told.modified_ns
        )
    )


def _unproven_weights(files: Iterable[str], proven: Mapping[str, ProvenFile]) -> bool:
    return any(name not in proven for name in files if is_weights(name))
