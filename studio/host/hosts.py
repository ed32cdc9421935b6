"""Hosts in files, for replay: those of the catalogue by id, any other by its path.

Three shapes are read: a host file (`presets/hosts/<id>.json`), what `weir doctor --json` printed,
and a bare snapshot (`GET /host`).
"""

import difflib
import os
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from studio.domain.errors import BadInput, HostLacks, NotFound
from studio.domain.hardware import UNLIMITED, Adapter, HostSnapshot
from studio.domain.hosts import HostEntry, HostFile
from studio.host.decoder_words import in_words, missing_keys, missing_sentence
from studio.host.paths import Paths, bundled_root
from studio.host.strict import unknown_key
from studio.host.suggest import guess

T = TypeVar("T")

SCHEMA_VERSION = 1
_LIMIT_BYTES = 8 << 20
_MOST = 1 << 60
"""More bytes, watts or cards than any machine has."""
_SUFFIX = ".json"
_HINT_SHAPE = (
    'The least is {"system": "linux", "machine": "x86_64", "os_name": "Debian 12"}, and for each '
    'card {"index": 0, "name": "NVIDIA GeForce RTX 3090"}. `weir doctor --json` on the machine '
    "writes all of it."
)


def load(reference: str, paths: Paths) -> HostFile:
    """Return the host that `reference` names: an id of the catalogue, or the path of a file.

    Raises: NotFound (`host-unknown`, `file-missing`), BadInput (`document-invalid`,
    `document-newer`, `document-large`), HostLacks (`not-readable`).
    """
    if _is_path(reference):
        return read(Path(reference).expanduser())
    return read(_file_of(reference, paths))


def listed(paths: Paths) -> list[HostEntry]:
    """Return the hosts of the catalogue."""
    files = [read(file) for file in _catalogue(paths).values()]
    return [HostEntry(id=one.id, title=one.title) for one in files]


def of_catalogue(host_id: str, paths: Paths) -> HostFile:
    """Return a host of the catalogue; never reads a path. Raises: as `load`."""
    return read(_file_of(host_id, paths))


def _is_path(reference: str) -> bool:
    separators = [one for one in (os.sep, os.altsep) if one]
    is_shaped = any(one in reference for one in separators) or reference.startswith("~")
    return is_shaped or reference.lower().endswith(_SUFFIX)


def _catalogue(paths: Paths) -> dict[str, Path]:
    for root in (paths.catalogue, bundled_root()):
        folder = root / "presets" / "hosts"
        found = {file.stem: file for file in sorted(folder.glob(f"*{_SUFFIX}"))}
        if found:
            return found
    return {}


def _file_of(host_id: str, paths: Paths) -> Path:
    known = _catalogue(paths)
    if host_id in known:
        return known[host_id]
    close = difflib.get_close_matches(host_id.lower(), known, n=1, cutoff=0.5)
    meant = f"Did you mean `{close[0]}`? " if close else ""
    raise NotFound(
        "host-unknown",
        f"There is no host `{host_id}` in the catalogue.",
        hint=f"{meant}Known: {', '.join(known) or 'none'}. For a file give its path.",
    )


def read(file: Path) -> HostFile:
    """Return the host in `file`.

    Raises: NotFound (`file-missing`), BadInput (`document-invalid`, `document-newer`,
    `document-large`), HostLacks (`not-readable`).
    """
    raw = _document(file, _bytes(file))
    _check_version(file, raw)
    if "host" in raw and "checks" not in raw:
        found = _converted(file, raw, HostFile)
    else:
        title = raw.get("title")
        found = HostFile(
            id=file.stem,
            title=title if isinstance(title, str) else file.stem,
            host=_converted(file, _snapshot_in(file, raw), HostSnapshot),
        )
    _check_sense(file, found.host)
    return msgspec.structs.replace(found, host=_sorted_out(found.host))


def _bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            data = opened.read(_LIMIT_BYTES + 1)
    except FileNotFoundError as error:
        raise NotFound(
            "file-missing",
            f"There is no file {file}.",
            hint="A host of the catalogue is named without a slash and without `.json`.",
        ) from error
    except OSError as error:
        raise HostLacks(
            "not-readable",
            f"{file} cannot be read: {error.strerror or error}.",
            hint="Give the path of a host file, as `weir doctor --json` prints it.",
        ) from error
    if len(data) > _LIMIT_BYTES:
        raise BadInput("document-large", f"{file} is no host file: it is larger than 8 MiB.")
    return data


def _document(file: Path, data: bytes) -> dict[str, Any]:
    try:
        raw = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(
            "document-invalid",
            f"{file} is not valid JSON: {error}.",
            hint="A host file is what `weir doctor --json` prints.",
        ) from error
    if not isinstance(raw, dict):
        raise BadInput("document-invalid", f"{file} is no host file: it holds no JSON object.")
    return raw


def _check_version(file: Path, raw: dict[str, Any]) -> None:
    version = raw.get("schema_version", SCHEMA_VERSION)
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise BadInput(
            "document-newer",
            f"{file} is from a newer version of Weir Studio: its schema_version is {version}, "
            f"and this version reads {SCHEMA_VERSION}.",
            hint="Update Weir Studio, or capture the host again with this version.",
        )


def _snapshot_in(file: Path, raw: dict[str, Any]) -> object:
    """Return the snapshot in a doctor's report, or the document itself if it is one."""
    if "host" in raw:
        return raw["host"]
    if "system" in raw:
        return raw
    raise BadInput(
        "document-invalid",
        f"{file} is no host file: it has neither `host` nor `system`.",
        hint="A host file is what `weir doctor --json` prints.",
    )


def _converted(file: Path, raw: object, kind: type[T]) -> T:
    unknown = unknown_key(raw, kind)
    if unknown is not None:
        raise _invalid(file, unknown.sentence, kind)
    missing = missing_keys(raw, kind)
    if missing:
        raise BadInput(
            "document-invalid", f"{file}: {missing_sentence(missing)}.", hint=_HINT_SHAPE
        )
    try:
        return msgspec.convert(raw, kind, strict=True)
    except msgspec.ValidationError as error:
        raise _invalid(file, str(error), kind) from error


def _invalid(file: Path, sentence: str, kind: object) -> BadInput:
    return BadInput(
        "document-invalid",
        f"{file}: {in_words(sentence)}.",
        hint=guess(sentence, kind) or _HINT_SHAPE,
    )


def _check_sense(file: Path, host: HostSnapshot) -> None:
    """Refuse what no machine can be: it was typed wrongly."""
    indices = [card.index for card in host.gpus]
    if len(set(indices)) != len(indices):
        raise BadInput("document-invalid", f"{file}: two cards have the same `index`.")
    unknown = {one for link in host.gpu_links for one in (link.first, link.second)} - set(indices)
    if unknown:
        raise BadInput(
            "document-invalid",
            f"{file}: `gpu_links` names card {min(unknown)}, which is not there.",
        )
    senseless = _senseless(msgspec.to_builtins(host), "$.host")
    if senseless is not None:
        raise BadInput("document-invalid", f"{file}: {senseless}.")
    for card in host.gpus:
        total, free = card.total_bytes, card.free_bytes
        if total is not None and free is not None and free > total:
            raise BadInput(
                "document-invalid",
                f"{file}: card {card.index} has more free memory than it has memory.",
            )


def _senseless(raw: object, place: str) -> str | None:
    """Return what is wrong with the first value that no machine can have, and where it stands."""
    if isinstance(raw, dict):
        steps = [(value, f"{place}.{key}") for key, value in raw.items()]
    elif isinstance(raw, list | tuple):
        steps = [(value, f"{place}[{index}]") for index, value in enumerate(raw)]
    elif isinstance(raw, str):
        # They could move the cursor of whoever replays a file of somebody else.
        is_plain = all(one.isprintable() for one in raw)
        return None if is_plain else f"a control character - at `{place}`"
    elif isinstance(raw, int | float):
        if raw < 0 and raw != UNLIMITED:
            return f"a number below zero - at `{place}`"
        return f"a number beyond reason - at `{place}`" if raw > _MOST else None
    else:
        return None
    return next((found for one in steps if (found := _senseless(*one)) is not None), None)


def _sorted_out(host: HostSnapshot) -> HostSnapshot:
    """Move chips without memory of their own out of the cards, as the probe does."""
    chips = [card for card in host.gpus if card.is_integrated]
    if not chips:
        return host
    moved = tuple(
        Adapter(
            name=chip.name,
            vendor="nvidia",
            pci_bus_id=chip.pci_bus_id,
            is_integrated=True,
            compute_capability=chip.compute_capability,
        )
        for chip in chips
    )
    cards = tuple(card for card in host.gpus if not card.is_integrated)
    kept = {card.index for card in cards}
    return msgspec.structs.replace(
        host,
        gpus=cards,
        gpu_links=tuple(one for one in host.gpu_links if {one.first, one.second} <= kept),
        adapters=(*moved, *host.adapters),
    )
