"""TOML and JSON files to typed records and back; errors carry file, place, expected and found."""

import tomllib
from pathlib import Path
from typing import TypeVar

import msgspec

from studio.domain.errors import BadInput, Damaged, HostLacks, NotFound
from studio.host.files import write_atomic
from studio.host.suggest import guess
from studio.host.toml_lines import line_of_error

T = TypeVar("T")


def read_toml(path: Path, kind: type[T]) -> T:
    """Return the document in `path`.

    Raises: NotFound (`file-missing`), BadInput (`document-invalid`) naming file and place,
    HostLacks (`not-readable`).
    """
    try:
        text = path.read_text(encoding="utf-8")
        raw = tomllib.loads(text)
    except FileNotFoundError as error:
        raise NotFound("file-missing", f"There is no file {path}.") from error
    except OSError as error:
        raise _unreadable(path, error) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput("document-invalid", f"{path} is not valid TOML: {error}.") from error
    try:
        return msgspec.convert(raw, kind, strict=True)
    except msgspec.ValidationError as error:
        line = line_of_error(text, str(error))
        where = f"{path}, line {line}" if line is not None else f"{path}"
        raise BadInput(
            "document-invalid", f"{where}: {error}.", hint=guess(str(error), kind)
        ) from error


def read_json(path: Path, kind: type[T]) -> T | None:
    """Return the document in `path`, or None when there is none.

    Raises: Damaged (`document-damaged`) when the file does not hold such a document, HostLacks
    (`not-readable`).
    """
    try:
        raw = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(path, error) from error
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Damaged("document-damaged", f"{path} cannot be read: {error}.") from error


def write_json(path: Path, document: object, *, mode: int = 0o644) -> None:
    """Write `document` so that a reader sees the old file or the new one, never a part."""
    write_atomic(path, msgspec.json.format(msgspec.json.encode(document)) + b"\n", mode=mode)


def _unreadable(path: Path, error: OSError) -> HostLacks:
    return HostLacks(
        "not-readable",
        f"{path} cannot be read: {error.strerror or error}.",
        hint="Check the file's owner and permissions.",
    )
