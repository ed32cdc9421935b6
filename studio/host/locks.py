"""Reading a lock: which distributions it pins, and the part of it that pins some of them."""

import re
import urllib.parse
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)")
_WHEEL = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*) @ \S*/([^/\s]+)\.whl\b")
"""A wheel by its address: its file name is `<name>-<version>-<tags>.whl`."""
_WHERE = re.compile(r"\S+ @ (\S+)\s+--hash=sha256:([0-9a-f]{64})\s*$")
_ADDRESS = re.compile(r"(\S+) @ \S*/([^/\s]+-[^/\s]+\.whl)(\s.*)?$")
_HASH = re.compile(r"--hash=(\S+)")


def plain(pin: str) -> str:
    """Return `name==version` in the form in which two spellings of one distribution are equal."""
    name, _equals, version = pin.partition("==")
    return f"{re.sub(r'[-_.]+', '-', name).lower()}=={re.sub(r'[-_+]+', '-', version).lower()}"


def named(owners: Iterable[str]) -> set[str]:
    """Return distributions as their folders name them, in plain form."""
    return {plain(owner) for owner in owners}


def pins(lock: str) -> set[str]:
    """Return every `name==version` that a lock pins, in plain form."""
    return {pin for pin, _lines in _requirements(lock)}


def exact(lock: str) -> dict[str, str]:
    """Return every `name==version` that a lock pins, as it writes them, by their plain form."""
    found = {}
    for pin, lines in _requirements(lock):
        written = _PIN.match(lines[0])
        found[pin] = written[0] if written else pin
    return found


def hashes(lock: str) -> dict[str, tuple[str, ...]]:
    """Return the hashes that a lock allows for each pin, sorted, by the pin in plain form."""
    return {
        pin: tuple(sorted(set(_HASH.findall("\n".join(lines)))))
        for pin, lines in _requirements(lock)
    }


def part(lock: str, wanted: Collection[str]) -> str:
    """Return the lines of a lock, hashes included, that pin the distributions in `wanted`."""
    lines = [line for pin, some in _requirements(lock) if pin in wanted for line in some]
    return "".join(f"{line}\n" for line in lines)


def localised(requirements: str, folders: Iterable[Path]) -> str:
    """Return requirements with those wheels asked for by version that lie in a folder here."""
    here = tuple(folders)
    return "".join(f"{_localised(line, here)}\n" for line in requirements.splitlines())


def address_of(line: str) -> tuple[str, str] | None:
    """Return address and sha256 of a wheel that a line of a lock names by its address."""
    found = _WHERE.match(line)
    return (found[1], found[2]) if found is not None else None


def _localised(line: str, folders: tuple[Path, ...]) -> str:
    found = _ADDRESS.match(line)
    if found is None:
        return line
    file = urllib.parse.unquote(found[2])
    if not any((folder / file).is_file() for folder in folders):
        return line
    return f"{found[1]}=={file.split('-')[1]}{found[3]}"


def _requirements(lock: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each pin in plain form with its lines; comments belong to none."""
    pin: str | None = None
    lines: list[str] = []
    for line in lock.splitlines():
        is_continued = line.startswith((" ", "\t"))
        if pin is not None and is_continued:
            lines.append(line)
            continue
        if pin is not None:
            yield pin, lines
        pin, lines = _pin(line), [line]
    if pin is not None:
        yield pin, lines


def _pin(line: str) -> str | None:
    if found := _PIN.match(line):
        return plain(found[0])
    if found := _WHEEL.match(line):
        parts = urllib.parse.unquote(found[2]).split("-")
        return plain(f"{found[1]}=={parts[1]}") if len(parts) > 1 else None
    return None
