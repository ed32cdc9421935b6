"""The prompts of single keys, kept only while a person has it so: off, till a time, and then off.

Apart from all else: a folder of its own (0700) with one file for each key and the one before it
(0600), bounded, never part of a report. What looks like a secret is masked before it is written.
Writing happens on a thread of its own; a request never waits for it.
"""

import concurrent.futures
import contextlib
import datetime
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from studio.domain.errors import BadInput, StudioError
from studio.domain.keys import PromptEntry, PromptLogState
from studio.domain.redaction import redact
from studio.host.documents import read_json, write_json
from studio.host.files import from_os_error

FILE_BYTES = 4 << 20
"""How large a file gets; there are two of a key."""
KEPT_CHARS = 256 << 10
"""Of a longer body its beginning and its end are kept."""
MOST_S = 7 * 86_400
_MOST_WAITING = 32
_MOST_HELD = 4 * KEPT_CHARS
"""Bytes of one body until it is written: no character has more than four."""

logger = logging.getLogger(__name__)


class _Switch(msgspec.Struct, kw_only=True):
    """Until when, by key id; seconds since the epoch."""

    until: dict[str, float] = {}


class PromptLog:
    """All of them. `keep` is called on the event loop, all else wherever it is convenient."""

    def __init__(
        self,
        folder: Path,
        *,
        clock: Callable[[], float] = time.time,
        file_bytes: int = FILE_BYTES,
    ) -> None:
        """Read which keys it is on for; a file that cannot be read means: for none."""
        self._folder = folder
        self._clock = clock
        self._file_bytes = file_bytes
        self._thread = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="weir-prompts")
        self._room = threading.Semaphore(_MOST_WAITING)
        self._until: dict[str, float] = {}
        try:
            read = read_json(self._switch_file, _Switch) or _Switch()
            self._until = {key: at for key, at in read.until.items() if at > clock()}
        except StudioError as error:
            logger.warning("no prompts are kept: %s", error.message)

    @property
    def _switch_file(self) -> Path:
        return self._folder / "on.json"

    def keep(
        self, key_id: str, request_id: str, route: str, at: float, body: bytes | bytearray
    ) -> None:
        """Keep a request of a key that it is on for; costs a look into a dictionary otherwise."""
        until = self._until.get(key_id)
        if until is None or self._clock() >= until:
            return
        if not self._room.acquire(blocking=False):
            logger.warning("a prompt was not kept: more came than can be written")
            return
        kept = _ends(body)
        written = self._thread.submit(self._write, key_id, request_id, route, at, kept, len(body))
        written.add_done_callback(self._done)

    def until(self, key_id: str) -> float | None:
        """Return till when prompts of a key are kept, in seconds since the epoch; None: not."""
        until = self._until.get(key_id)
        return until if until is not None and until > self._clock() else None

    @property
    def on(self) -> Mapping[str, float]:
        """Return the keys that it is on for, and till when."""
        now = self._clock()
        return {key: until for key, until in self._until.items() if until > now}

    def switch(self, key_id: str, seconds: int) -> None:
        """Keep the prompts of a key from now on for so long; 0: no longer. What lies there stays.

        Raises: BadInput (`prompts-too-long`), HostLacks (`not-writable`, `disk-full`).
        """
        if not 0 <= seconds <= MOST_S:
            raise BadInput(
                "prompts-too-long",
                f"Prompts are kept for 7 days at a time at most, not for {seconds:,} s.",
                hint="Name a shorter span: `--for 8h`, `--for 2d`.",
            )
        until = dict(self.on)
        until.pop(key_id, None)
        if seconds:
            until[key_id] = self._clock() + seconds
        self._make_folder()
        write_json(self._switch_file, _Switch(until=until), mode=0o600)
        self._until = until

    def clear(self, key_id: str) -> None:
        """Delete the prompts of a key. Raises: HostLacks (`not-writable`)."""
        self._thread.submit(self._delete, key_id).result()

    def forget(self, key_id: str) -> None:
        """Delete the prompts of a key that is gone, and keep no more. Raises: HostLacks."""
        if key_id in self._until:
            self.switch(key_id, 0)
        self.clear(key_id)

    def entries(self, key_id: str, count: int) -> list[PromptEntry]:
        """Return the newest prompts of a key, oldest first; a line that was cut off is left out."""
        self._flush()
        found: list[PromptEntry] = []
        for path in self._files(key_id):
            found += _read(path)
        return found[-count:] if count else []

    def state(self, key_id: str, name: str) -> PromptLogState:
        """Return how it is for a key."""
        self._flush()
        files = [path for path in self._files(key_id) if path.exists()]
        until = self.until(key_id)
        return PromptLogState(
            key_id=key_id,
            key=name,
            until=None if until is None else local(until),
            kept=sum(len(_read(path)) for path in files),
            bytes=sum(path.stat().st_size for path in files),
            folder=str(self._folder) if files else None,
        )

    def close(self) -> None:
        """Write what waits, and end the thread."""
        self._thread.shutdown(wait=True)

    # -- on the thread ---------------------------------------------------------------------

    def _write(
        self,
        key_id: str,
        request_id: str,
        route: str,
        at: float,
        kept: tuple[bytes, ...],
        body_bytes: int,
    ) -> None:
        entry = PromptEntry(
            at=local(at),
            request_id=request_id,
            route=route,
            body_bytes=body_bytes,
            body=redact(_shortened(kept, body_bytes)),
        )
        line = msgspec.json.encode(entry) + b"\n"
        newest = self._files(key_id)[-1]
        self._make_folder()
        with contextlib.suppress(FileNotFoundError):
            if newest.stat().st_size + len(line) > self._file_bytes:
                newest.replace(self._files(key_id)[0])
        descriptor = os.open(newest, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            # What a kill cut off must not swallow the next line.
            size = os.fstat(descriptor).st_size
            is_whole = not size or os.pread(descriptor, 1, size - 1) == b"\n"
            os.write(descriptor, line if is_whole else b"\n" + line)
        finally:
            os.close(descriptor)

    def _delete(self, key_id: str) -> None:
        for path in self._files(key_id):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise from_os_error(error, path) from error

    def _done(self, written: "concurrent.futures.Future[None]") -> None:
        self._room.release()
        error = written.exception()
        if error is not None:  # a full disk is no reason to refuse a request
            logger.warning("a prompt was not kept: %s", error)

    def _flush(self) -> None:
        """Wait until what was kept so far is written."""
        self._thread.submit(lambda: None).result()

    def _make_folder(self) -> None:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.chmod(0o700)
        except OSError as error:
            raise from_os_error(error, self._folder) from error

    def _files(self, key_id: str) -> tuple[Path, Path]:
        """Return the older file and the newer one; ids are digits of ours."""
        name = "".join(one for one in key_id if one.isalnum())
        return self._folder / f"{name}.1.jsonl", self._folder / f"{name}.jsonl"


def local(at_s: float) -> str:
    """Return a moment as ISO 8601 in local time, to the second."""
    moment = datetime.datetime.fromtimestamp(at_s, datetime.UTC).astimezone()
    return moment.isoformat(timespec="seconds")


def _ends(body: bytes | bytearray) -> tuple[bytes, ...]:
    """Return what may be kept of a body: all, or of a large one its beginning and its end.

    What waits to be written must not hold pictures of a hundred megabytes.
    """
    if len(body) <= _MOST_HELD:
        return (bytes(body),)
    half = _MOST_HELD // 2
    return bytes(body[:half]), bytes(body[-half:])


def _shortened(kept: tuple[bytes, ...], body_bytes: int) -> str:
    if len(kept) == 2:
        half = KEPT_CHARS // 2
        first, last = (one.decode("utf-8", "replace") for one in kept)
        left_out = body_bytes - len(first[:half].encode()) - len(last[-half:].encode())
        return f"{first[:half]}\n[… {left_out:,} bytes left out …]\n{last[-half:]}"
    text = kept[0].decode("utf-8", "replace")
    if len(text) <= KEPT_CHARS:
        return text
    half = KEPT_CHARS // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[… {left_out:,} characters left out …]\n{text[-half:]}"


def _read(path: Path) -> list[PromptEntry]:
    return list(_lines(path))


def _lines(path: Path) -> Iterator[PromptEntry]:
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return
    except OSError as error:
        raise from_os_error(error, path) from error
    for line in lines:
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            yield msgspec.json.decode(line, type=PromptEntry)
