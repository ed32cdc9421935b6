"""What a model folder says of itself, without its weights being loaded: config and file headers.

The folder is a stranger's: nothing in it is trusted to be small, whole or of the right type.
Source of the header's form: the safetensors format (8 bytes of length, little-endian, then JSON).
"""

import json
import struct
from collections.abc import Mapping
from pathlib import Path

from studio.domain.errors import BadInput, Damaged, HostLacks, NotFound
from studio.domain.units import bytes_text

CONFIG = "config.json"
_CONFIG_LIMIT_BYTES = 16 << 20
_HEADER_LIMIT_BYTES = 100 << 20
"""What the format itself allows."""
_MOST_FILES = 4096

Json = Mapping[str, object]


def config_of(model: Path) -> tuple[Path, dict[str, object]]:
    """Return folder and config of a model, given its folder or its `config.json`.

    Raises: NotFound (`model-missing`, `config-missing`), BadInput (`config-invalid`), HostLacks
    (`not-readable`).
    """
    try:
        is_folder = model.is_dir()
        exists = is_folder or model.exists()
    except (OSError, ValueError):  # a name that no file system takes
        is_folder = exists = False
    if not exists:
        raise NotFound(
            "model-missing",
            f"There is no model folder {model}.",
            hint="Name the folder that holds its config.json, or that file itself.",
        )
    path = model / CONFIG if is_folder else model
    if not path.is_file():
        raise NotFound(
            "config-missing",
            f"{path.parent if is_folder else path} has no {CONFIG}, so nothing is known of the "
            "model.",
            hint=_other_models(model) or "A model folder as Hugging Face keeps it holds one.",
        )
    return path.parent, _object(_read(path, _CONFIG_LIMIT_BYTES), path)


def headers_of(folder: Path) -> dict[str, Json]:
    """Return the header of every safetensors file of a model; empty without weights.

    An index decides which files count, as it does for the engine.

    Raises: Damaged (`weights-damaged`), BadInput (`config-invalid`), HostLacks (`not-readable`).
    """
    found = {}
    for path in _files(folder):
        found[path.name] = _header(path)
    return found


def header_of(path: Path) -> Json:
    """Return the header of one safetensors file.

    Raises: Damaged (`weights-damaged`), HostLacks (`not-readable`).
    """
    return _header(path)


def missing_files(folder: Path) -> tuple[str, ...]:
    """Return the weight files that the index names and the folder lacks."""
    return tuple(path.name for path in _indexed(folder) if not path.is_file())


def _files(folder: Path) -> list[Path]:
    indexed = [path for path in _indexed(folder) if path.is_file()]
    if indexed:
        return indexed[:_MOST_FILES]
    return sorted(path for path in folder.glob("*.safetensors") if path.is_file())[:_MOST_FILES]


def _indexed(folder: Path) -> list[Path]:
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return []
    tensors = _object(_read(index, _HEADER_LIMIT_BYTES), index).get("weight_map")
    if not isinstance(tensors, dict):
        return []
    names = {name for name in tensors.values() if isinstance(name, str)}
    # A name with a folder in it would lead out of the model.
    return sorted(folder / name for name in names if Path(name).name == name)


def raw_header(path: Path) -> tuple[bytes, int]:
    """Return the JSON of a safetensors file's header as bytes, and the bytes of its tensors.

    Raises: Damaged (`weights-damaged`), HostLacks (`not-readable`).
    """
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            lead = file.read(8)
            length = struct.unpack("<Q", lead)[0] if len(lead) == 8 else None
            if length is None or length > min(size - 8, _HEADER_LIMIT_BYTES):
                raise _damaged(path, f"it is {bytes_text(size)} long and its header is not whole")
            raw = file.read(length)
    except OSError as error:
        raise _unreadable(path, error) from error
    return raw, size - 8 - length


def object_of(path: Path, limit_bytes: int = _CONFIG_LIMIT_BYTES) -> dict[str, object]:
    """Return the JSON object in a file. Raises: BadInput (`config-invalid`), HostLacks."""
    return _object(_read(path, limit_bytes), path)


def _header(path: Path) -> Json:
    raw, data_bytes = raw_header(path)
    try:
        header = _object(raw, path)
    except BadInput as error:
        raise _damaged(path, "its header is not JSON") from error
    end = max((_end_of(entry) for entry in header.values()), default=0)
    if end > data_bytes:
        raise _damaged(path, f"{bytes_text(end - data_bytes)} are missing at its end")
    return header


def _end_of(entry: object) -> int:
    offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
    if isinstance(offsets, list) and len(offsets) == 2 and isinstance(offsets[1], int):
        return offsets[1]
    return 0


def _read(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(limit + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(raw) > limit:
        raise BadInput(
            "config-invalid", f"{path} is larger than {bytes_text(limit)}: it is no such file."
        )
    return raw


def _object(raw: bytes, path: Path) -> dict[str, object]:
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadInput(
            "config-invalid",
            f"{path} is not valid JSON: {error}.",
            hint="Fetch the file again from where the model came from.",
        ) from error
    if not isinstance(document, dict):
        raise BadInput(
            "config-invalid",
            f"{path} should hold a JSON object, found {type(document).__name__}.",
            hint="Fetch the file again from where the model came from.",
        )
    return document


def _other_models(folder: Path) -> str | None:
    """Return what else a folder may be: one of several models, or a GGUF."""
    if not folder.is_dir():
        return None
    inside = sorted(path.parent.name for path in folder.glob(f"*/{CONFIG}"))
    if inside:
        return f"Name one of the folders in it: {', '.join(inside[:5])}."
    if any(folder.glob("*.gguf")):
        return "It holds a GGUF; the engine wants safetensors with a config.json beside them."
    return None


def _damaged(path: Path, why: str) -> Damaged:
    return Damaged(
        "weights-damaged",
        f"{path} is no whole safetensors file: {why}.",
        hint="Fetch it again: its download was cut off, or it is a pointer to the file.",
    )


def _unreadable(path: Path, error: OSError) -> HostLacks:
    return HostLacks(
        "not-readable",
        f"{path} cannot be read: {error.strerror or error}.",
        hint="Check the file's owner and permissions.",
    )
