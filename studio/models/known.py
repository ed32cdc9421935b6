"""What is known of a model's files without reading them: names, sizes and digests, and from whom.

A hub says it when a model is fetched, names of blobs in a cache are digests, `hf download` leaves
notes in a plain folder, presets list digests, and an import knows its source.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from studio.domain.errors import StudioError
from studio.domain.manifests import InstalledModel, ModelSpec
from studio.host.documents import read_json, write_json
from studio.models.finding import RECORDS, Found
from studio.models.proof import RECORD, sidecar

KNOWN = ".known"
PREPARED = "weir-prepared.json"
"""What a folder was made from (library.py)."""
HUGGING_FACE = "huggingface"
SPEC = "spec"
IMPORT = "import"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_BLOB = re.compile(r"[0-9a-f]{40}")
_NOTES = ".cache/huggingface/download"
_NOTE_BYTES = 1_024


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody says of a file."""

    name: str
    size_bytes: int | None = None
    sha256: str | None = None
    git_blob: str | None = None
    """Git's name of the content, where that is said instead."""

    @property
    def has_digest(self) -> bool:
        """Tell whether content can be compared with it."""
        return self.sha256 is not None or self.git_blob is not None


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a model, and who says so."""

    source: str
    repository: str | None = None
    revision: str | None = None
    files: tuple[Expected, ...] = ()

    def by_name(self) -> dict[str, Expected]:
        """Return it by the names of the files."""
        return {file.name: file for file in self.files}


def keep(place: Path, models: Path, known: Known) -> None:
    """Write down what is known of the model at `place`. Raises: HostLacks."""
    write_json(sidecar(place, models, KNOWN), known)


def kept(place: Path, models: Path) -> Known | None:
    """Return what was written down of a model; what cannot be read is as if it were not there."""
    try:
        return read_json(sidecar(place, models, KNOWN), Known)
    except StudioError:
        return None


def forget(place: Path, models: Path) -> None:
    """Remove what was written down of a model."""
    sidecar(place, models, KNOWN).unlink(missing_ok=True)


def known_of(found: Found, written: Known | None, specs: Iterable[ModelSpec]) -> Known | None:
    """Return everything that is known of a model; the first who speaks of a file is believed."""
    told = [one for one in (*_of_place(found), *_of_specs(found, specs)) if one.files]
    if written is not None and written.files:
        told.insert(0, written)
    if not told:
        return None
    files: dict[str, Expected] = {}
    for one in told:
        for file in one.files:
            files[file.name] = _joined(files.get(file.name), file)
    first = told[0]
    return Known(
        source=first.source,
        repository=first.repository or found.repository,
        revision=first.revision or found.revision,
        files=tuple(files.values()),
    )


def _joined(before: Expected | None, file: Expected) -> Expected:
    if before is None:
        return file
    return Expected(
        name=file.name,
        size_bytes=file.size_bytes if before.size_bytes is None else before.size_bytes,
        sha256=before.sha256 or file.sha256,
        git_blob=before.git_blob or file.git_blob,
    )


def _of_place(found: Found) -> Iterable[Known]:
    if found.cache_folder is not None:
        yield Known(source=HUGGING_FACE, files=tuple(_of_blobs(found)))
        return
    yield _of_notes(found)
    older = _of_older_record(found)
    if older is not None:
        yield older


def _of_blobs(found: Found) -> Iterable[Expected]:
    for file in found.files:
        name = file.blob or ""
        if _SHA256.fullmatch(name):
            yield Expected(name=file.name, sha256=name)
        elif _BLOB.fullmatch(name):
            yield Expected(name=file.name, git_blob=name)


def _of_notes(found: Found) -> Known:
    """Return what `hf download --local-dir` noted: commit, ETag and time, a line each.

    Source: huggingface_hub 2.4, `_local_folder.py`.
    """
    notes = Path(found.folder) / _NOTES
    files, commits = [], set()
    if not found.is_loose and notes.is_dir():
        for file in found.files:
            lines = _lines(notes / f"{file.name}.metadata")
            etag = lines[1] if len(lines) >= 2 else ""
            if _SHA256.fullmatch(etag):
                files.append(Expected(name=file.name, sha256=etag))
            elif _BLOB.fullmatch(etag):
                files.append(Expected(name=file.name, git_blob=etag))
            if lines:
                commits.add(lines[0])
    commit = commits.pop() if len(commits) == 1 else None
    revision = commit if commit is not None and _BLOB.fullmatch(commit) else None
    return Known(source=HUGGING_FACE, revision=revision, files=tuple(files))


def _lines(path: Path) -> list[str]:
    try:
        if not path.is_file():  # a pipe would hold us up
            return []
        with path.open("rb") as file:
            return file.read(_NOTE_BYTES).decode("ascii", "replace").split("\n")
    except OSError:
        return []


def _of_older_record(found: Found) -> Known | None:
    for name in (PREPARED, RECORD):
        path = Path(found.folder) / name
        try:
            record = read_json(path, InstalledModel) if path.is_file() else None
        except StudioError:
            continue
        if record is not None:
            return Known(source=SPEC, files=_sized(record.files))
    return None


def _sized(sizes: Mapping[str, int]) -> tuple[Expected, ...]:
    return tuple(Expected(name=name, size_bytes=size) for name, size in sizes.items())


def _of_specs(found: Found, specs: Iterable[ModelSpec]) -> Iterable[Known]:
    for spec in specs:
        if is_served_as(found, spec):
            names = {*spec.files, *spec.sizes, *spec.digests}.difference(RECORDS)
            yield Known(
                source=SPEC,
                files=tuple(
                    Expected(
                        name=name, size_bytes=spec.sizes.get(name), sha256=spec.digests.get(name)
                    )
                    for name in sorted(names)
                ),
            )


def is_served_as(found: Found, spec: ModelSpec) -> bool:
    """Tell whether presets that name `spec` serve this model."""
    return is_place_of(found, spec) or _is_revision_of(found, spec)


def is_place_of(found: Found, spec: ModelSpec) -> bool:
    """Tell whether a preset that serves this model looks for it in this folder."""
    if spec.folder is not None:
        return Path(found.folder) == Path(spec.folder)
    return found.root.kind == "own" and found.name == spec.id


def _is_revision_of(found: Found, spec: ModelSpec) -> bool:
    """Tell whether it is the one repository, at its commit, that a preset serves as it comes."""
    if len(spec.sources) != 1 or spec.preparation or found.revision is None:
        return False
    source = spec.sources[0]
    return source.repository == found.repository and source.revision == found.revision
