"""Imports from archives that are read once.

Python's own `zipimport` opens its archive anew for every module, twice: 2,200 times for `weir`,
each of them looked through by a virus scanner. Here an archive is mapped into memory for good.
"""

import importlib.abc
import importlib.machinery
import mmap
import sys
import zipfile
import zlib
from collections.abc import Sequence
from marshal import loads as _unmarshal
from pathlib import Path
from types import CodeType, ModuleType

_LOCAL_HEADER = 30
"""Bytes before the name of an entry; at 26 and 28 the lengths of name and extra (PKWARE, 4.3.7)."""
_PYC_HEADER = 16


class Archive(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds and loads the bytecode in one archive."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with zipfile.ZipFile(path) as zipped:
            self._entries = {about.filename: about for about in zipped.infolist()}
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return where a module is, None when it is not in here."""
        del path, target
        place = fullname.replace(".", "/")
        entry = self._entry(fullname)
        if entry is None and f"{place}/" not in self._entries:
            return None
        spec = importlib.machinery.ModuleSpec(fullname, self if entry is not None else None)
        if entry is not None:
            spec.origin = str(self._path / entry.filename)
            spec.has_location = True
        if entry is None or self.is_package(fullname):
            spec.submodule_search_locations = [str(self._path / place)]
        return spec

    def is_package(self, fullname: str) -> bool:
        """Tell whether a module holds others."""
        return f"{fullname.replace('.', '/')}/__init__.pyc" in self._entries

    def get_code(self, fullname: str) -> CodeType:
        """Return a module's bytecode. Raises: ImportError."""
        entry = self._entry(fullname)
        if entry is None:
            raise ImportError(f"{self._path} holds no {fullname}", name=fullname)
        return _code(self._bytes(entry))

    def get_source(self, fullname: str) -> None:
        """Return None: there is bytecode only."""
        del fullname

    def _entry(self, fullname: str) -> zipfile.ZipInfo | None:
        place = fullname.replace(".", "/")
        found = self._entries.get(f"{place}/__init__.pyc")
        return found if found is not None else self._entries.get(f"{place}.pyc")

    def _bytes(self, entry: zipfile.ZipInfo) -> bytes:
        start = entry.header_offset
        lengths = self._data[start + 26 : start + _LOCAL_HEADER]
        start += _LOCAL_HEADER + int.from_bytes(lengths[:2], "little")
        start += int.from_bytes(lengths[2:], "little")
        raw = self._data[start : start + entry.compress_size]
        return zlib.decompress(raw, -15) if entry.compress_type == zipfile.ZIP_DEFLATED else raw


def _code(raw: bytes) -> CodeType:
    """Return the bytecode in a file of it; the archive is ours, as every other file beside it."""
    found = _unmarshal(memoryview(raw)[_PYC_HEADER:])
    assert isinstance(found, CodeType)
    return found


def install(*paths: Path) -> None:
    """Look into these archives before everything but what is built in."""
    sys.meta_path[2:2] = [Archive(path) for path in paths]
