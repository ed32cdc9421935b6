"""Windows' performance counters, by their English names, in whatever language Windows speaks.

The calls of `pdh.dll` that one query of gauges needs (Microsoft, "Using the PDH functions"; layouts
and numbers from `pdh.h` and `pdhmsg.h`). Strings go in and out as UTF-16 bytes: `wchar_t` has two
bytes on Windows and four elsewhere, where a stand-in of the tests plays the library.
"""

import ctypes
from collections.abc import Mapping, Sequence

_FORMAT_LARGE = 0x400
"""PDH_FMT_LARGE: whole numbers of 64 bits."""
_MORE_DATA = 0x800007D2
"""PDH_MORE_DATA: how much room is needed was written; it is what the first question is for."""
_ITEM_BYTES = 24
"""Of PDH_FMT_COUNTERVALUE_ITEM_W: a pointer to the name, a status, four unused bytes, a value."""
_VALID = (0, 1)
"""PDH_CSTATUS_VALID_DATA and PDH_CSTATUS_NEW_DATA."""
_MOST_BYTES = 1 << 22
"""For what a broken library asks."""
_LONGEST_NAME = 1_024


class PdhError(Exception):
    """Windows refused a counter; `status` is PDH's number."""

    def __init__(self, status: int) -> None:
        super().__init__(f"PDH 0x{status:08x}")
        self.status = status


class Query:
    """Counters that are read together. Its methods block for some milliseconds."""

    def __init__(self, paths: Sequence[str], library: ctypes.CDLL) -> None:
        """Raises: PdhError where Windows does not know a counter."""
        self._library = library
        self._query = ctypes.c_void_p()
        self._call("PdhOpenQueryW", None, None, ctypes.byref(self._query))
        try:
            self._counters = [self._added(path) for path in paths]
        except PdhError:
            self.close()
            raise

    def read(self) -> list[Mapping[str, int]]:
        """Return for each counter its instances with their values. Raises: PdhError."""
        self._call("PdhCollectQueryData", self._query)
        return [self._values(counter) for counter in self._counters]

    def close(self) -> None:
        """Give it back; a second time does nothing."""
        if self._query.value is not None:
            self._status("PdhCloseQuery", self._query)
            self._query = ctypes.c_void_p()

    def _added(self, path: str) -> ctypes.c_void_p:
        counter = ctypes.c_void_p()
        name = ctypes.create_string_buffer(f"{path}\0".encode("utf-16-le"))
        self._call("PdhAddEnglishCounterW", self._query, name, None, ctypes.byref(counter))
        return counter

    def _values(self, counter: ctypes.c_void_p) -> Mapping[str, int]:
        size, count = ctypes.c_uint32(0), ctypes.c_uint32(0)
        words = (counter, _FORMAT_LARGE, ctypes.byref(size), ctypes.byref(count))
        status = self._status("PdhGetFormattedCounterArrayW", *words, None)
        if status not in (0, _MORE_DATA):
            raise PdhError(status)
        if not 0 < size.value <= _MOST_BYTES:
            return {}
        room = ctypes.create_string_buffer(size.value)
        self._call("PdhGetFormattedCounterArrayW", *words, room)
        return _items(room, min(count.value, size.value // _ITEM_BYTES))

    def _call(self, name: str, *words: object) -> None:
        status = self._status(name, *words)
        if status != 0:
            raise PdhError(status)

    def _status(self, name: str, *words: object) -> int:
        function = self._library[name]
        function.restype = ctypes.c_uint32
        return int(function(*words))


def library() -> ctypes.CDLL | None:
    """Return Windows' own library; None where there is none."""
    try:
        return ctypes.CDLL("pdh.dll")
    except OSError:
        return None


def _items(room: "ctypes.Array[ctypes.c_char]", count: int) -> Mapping[str, int]:
    """Return the instances in what was filled in; several of one name are one."""
    found: dict[str, int] = {}
    begin, raw = ctypes.addressof(room), room.raw
    for index in range(count):
        at = index * _ITEM_BYTES
        name = int.from_bytes(raw[at : at + 8], "little") - begin
        status = int.from_bytes(raw[at + 8 : at + 12], "little")
        value = int.from_bytes(raw[at + 16 : at + 24], "little", signed=True)
        if status in _VALID and 0 <= name < len(raw):
            text = _text(raw[name : name + 2 * _LONGEST_NAME])
            found[text] = found.get(text, 0) + value
    return found


def _text(raw: bytes) -> str:
    """Return a text of UTF-16 that a zero ends."""
    ends = (at for at in range(0, len(raw) - 1, 2) if raw[at : at + 2] == b"\0\0")
    return raw[: next(ends, len(raw) // 2 * 2)].decode("utf-16-le", "replace")
