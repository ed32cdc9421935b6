"""The part of uv's cache that holds unpacked wheels: finding those that may go.

A wheel's link (`wheels-v8/<index>/<name>/<version>-<tags>`, a note of its source beside it) points
to its files in `archive-v0`. A cache of another shape holds nothing that is found here, and so
nothing of it is ever removed.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

_WHEELS = "wheels-v*"
_NOTES = (".http", ".rev", ".msgpack")


def unpacked(cache: Path, pins: Collection[str]) -> Iterator[tuple[Path, str]]:
    """Yield what holds the wheels of `pins` (plain `name==version`): links, notes, then files."""
    archives: dict[Path, str] = {}
    kept: set[Path] = set()
    for link in sorted(path for path in cache.glob(f"{_WHEELS}/**/*") if path.is_symlink()):
        archive = (link.parent / link.readlink()).resolve()
        if cache.resolve() not in archive.parents:
            continue
        pin = _pin(link)
        if pin not in pins:
            kept.add(archive)
            continue
        archives[archive] = pin
        yield link, pin
        for end in _NOTES:
            note = link.with_name(link.name + end)
            if note.is_file():
                yield note, pin
    for archive, pin in archives.items():
        if archive not in kept and archive.is_dir():
            yield archive, pin


def fetched(cache: Path, pins: Collection[str], folders: Iterable[Path] = ()) -> set[str]:
    """Return those of `pins` whose wheel uv has unpacked and will take again.

    Fetched from a network, or from a folder: those have another note, and serve only as long as
    they lie in one of `folders`.
    """
    here = {
        _pin_of(*wheel.name.split("-")[:2]) for one in folders for wheel in one.glob("*-*-*.whl")
    }
    return {
        pin
        for place, pin in unpacked(cache, pins)
        if place.is_file()
        if place.suffix == ".http" or (place.suffix == ".rev" and pin in here)
    }


def _pin(link: Path) -> str:
    return _pin_of(link.parent.name, link.name.partition("-")[0])


def _pin_of(project: str, version: str) -> str:
    name = re.sub(r"[-_.]+", "-", project).lower()
    return f"{name}=={re.sub(r'[-_+]+', '-', version).lower()}"
