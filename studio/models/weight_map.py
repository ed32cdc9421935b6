"""Which file of a model holds which tensor, and the index that says so, kept true after a change.

Source of the index's form: transformers, `modeling_utils` (`weight_map`, `metadata.total_size`).
"""

import fnmatch
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from studio.domain.errors import BadInput, Damaged, HostLacks
from studio.models import inspect

INDEX = "model.safetensors.index.json"
_LIMIT_BYTES = 100 << 20


def where(folder: Path) -> dict[str, str]:
    """Return tensor to file: as the index says, without one as the files' headers say.

    Raises: Damaged (`weights-damaged`, `index-damaged`), BadInput, HostLacks (`not-readable`).
    """
    index = read_index(folder)
    if index is not None:
        return dict(weight_map(index))
    return {
        name: file
        for file, header in inspect.headers_of(folder).items()
        for name in header
        if name != "__metadata__"
    }


def read_index(folder: Path) -> dict[str, object] | None:
    """Return the index of a model; None without one.

    Raises: Damaged (`index-damaged`), HostLacks (`not-readable`).
    """
    path = folder / INDEX
    try:
        if not path.exists():
            return None
        if path.stat().st_size > _LIMIT_BYTES:
            raise _damaged(path, "it is too large to be one")
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise HostLacks(
            "not-readable",
            f"{path} cannot be read: {error.strerror or error}.",
            hint="Check the file's owner and permissions.",
        ) from error
    except (ValueError, RecursionError) as error:
        raise _damaged(path, "it is not JSON") from error
    if not isinstance(document, dict):
        raise _damaged(path, "it is no JSON object")
    weight_map(document)
    return document


def weight_map(index: Mapping[str, object]) -> Mapping[str, str]:
    """Return tensor to file. Raises: Damaged (`index-damaged`)."""
    found = index.get("weight_map")
    if not isinstance(found, dict) or not all(_is_name(one) for one in found.values()):
        raise _damaged(Path(INDEX), "its `weight_map` does not map tensors to files beside it")
    return found


def matching(names: Iterable[str], patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the names that match any of the patterns, sorted."""
    return tuple(
        sorted(name for name in names if any(fnmatch.fnmatchcase(name, one) for one in patterns))
    )


def all_match(names: Iterable[str], patterns: Sequence[str]) -> bool:
    """Tell whether each pattern matches one of the names."""
    known = tuple(names)
    return all(any(fnmatch.fnmatchcase(name, one) for name in known) for one in patterns)


def reindexed(
    index: Mapping[str, object],
    before: Mapping[str, inspect.Json],
    after: Mapping[str, inspect.Json],
) -> dict[str, object]:
    """Return the index after files of `before` became those of `after`, both by name of the file.

    `total_size` follows where there is one: what it counts is the engine's matter, so only the
    difference is added.
    """
    names = {name: file for name, file in weight_map(index).items() if file not in after} | {
        name: file for file, header in after.items() for name in _tensors(header)
    }
    made = {**index, "weight_map": dict(sorted(names.items()))}
    metadata = index.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("total_size"), int):
        more = sum(map(_bytes, after.values())) - sum(map(_bytes, before.values()))
        made["metadata"] = {**metadata, "total_size": metadata["total_size"] + more}
    return made


def _tensors(header: inspect.Json) -> list[str]:
    return [name for name in header if name != "__metadata__"]


def _bytes(header: inspect.Json) -> int:
    total = 0
    for name in _tensors(header):
        entry = header[name]
        offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
        if isinstance(offsets, list) and all(isinstance(one, int) for one in offsets):
            total += offsets[1] - offsets[0]
    return total


def require_whole(folder: Path, title: str) -> None:
    """Raise unless each tensor of the index is in the file that it names.

    An overlay's index is published: it names what the preparation of its base has to bring about.
    Raises: Damaged (`index-differs`), and as `where`.
    """
    index = read_index(folder)
    if index is None:
        return
    wanted = weight_map(index)
    headers = headers_of_files(folder, sorted(set(wanted.values())))
    absent = [(name, file) for name, file in wanted.items() if name not in headers[file]]
    if absent:
        name, file = absent[0]
        raise Damaged(
            "index-differs",
            f"{title} does not fit together: its index says that {file} holds {name}"
            f"{f' and {len(absent) - 1} more' if len(absent) > 1 else ''}, which it does not.",
            hint="The repositories do not belong to one another at these revisions.",
        )


def _is_name(file: object) -> bool:
    """Tell whether a file lies in the model's own folder: an index is a stranger's."""
    return isinstance(file, str) and file not in ("", ".", "..") and Path(file).name == file


def _damaged(path: Path, why: str) -> Damaged:
    return Damaged(
        "index-damaged",
        f"{path} is no index of a model: {why}.",
        hint="Fetch it again from where the model came from.",
    )


def headers_of_files(folder: Path, names: Iterable[str]) -> dict[str, inspect.Json]:
    """Return the headers of some files of a folder, whatever its index says.

    Raises: Damaged (`weights-damaged`), BadInput (`config-invalid`), HostLacks (`not-readable`).
    """
    found = {}
    for name in names:
        path = folder / name
        if not path.is_file():
            raise BadInput(
                "weights-missing", f"There is no file {path}.", hint="Prepare the model anew."
            )
        found[name] = inspect.header_of(path)
    return found
