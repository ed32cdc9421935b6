"""What came of each trial, kept so that a run which was cut off goes on where it was.

In FOLDER lies `results.json`, and for every trial a file with all that it said. A trial that passed
with the same packages is not tried again; its words are shown once more, with their day.
"""

import contextlib
import datetime
import hashlib
import io
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

import msgspec

_FILE = "results.json"
PASSED, FAILED, LEFT_OUT = "passed", "failed", "not tried"
_FAILURES = (
    RuntimeError, OSError, ValueError, LookupError, StopIteration, subprocess.SubprocessError,
)  # fmt: skip
_HEAD = ("where", "what", "seconds", "result")


class LeftOut(RuntimeError):
    """What a trial needs is not at hand: it is not tried, and that is no failure."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """How a trial ended. `inputs`: of which packages and words; `at`: seconds since 1970."""

    where: str
    what: str
    outcome: str
    seconds: float
    note: str
    inputs: str
    at: float

    @property
    def words(self) -> str:
        """Return the outcome as the table shows it."""
        return f"{self.outcome}: {self.note}" if self.note else self.outcome


class Trial(NamedTuple):
    """Something to try, where, and what it is tried with (see `inputs`)."""

    where: str
    what: str
    inputs: str
    act: Callable[[], object]


class Results:
    """The results in a folder."""

    def __init__(self, folder: Path) -> None:
        """Read what is there; what cannot be read is tried anew."""
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._known: dict[tuple[str, str], Result] = {}
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            read = msgspec.json.decode((folder / _FILE).read_bytes(), type=list[Result])
            self._known = {(one.where, one.what): one for one in read}

    def attempt(self, trial: Trial, *, again: bool = False) -> Result:
        """Try it, unless it passed before with the same packages; return how it ended."""
        before = self._known.get((trial.where, trial.what))
        words = self._folder / f"{trial.where}-{trial.what}.txt".replace(" ", "-")
        if not again and before is not None and _stands(before, trial.inputs):
            sys.stdout.write(f"{trial.where}, {trial.what}: {_day(before.at)}\n")
            with contextlib.suppress(OSError):
                sys.stdout.write(words.read_text(encoding="utf-8"))
            return msgspec.structs.replace(before, note=_day(before.at))
        self._known.pop((trial.where, trial.what), None)
        self._write()
        sys.stdout.write(f"{trial.where}, {trial.what}:\n")
        outcome, note, begun = PASSED, "", time.monotonic()
        with words.open("w", encoding="utf-8") as file, _also_into(file):
            try:
                trial.act()
            except LeftOut as reason:
                outcome, note = LEFT_OUT, str(reason)
            # What a trial starts may fail in all the ways that programs and disks do.
            except _FAILURES as error:
                outcome, note = FAILED, str(error).partition("\n")[0] or type(error).__name__
                sys.stdout.write(f"  failed: {error}\n")
        made = Result(
            where=trial.where, what=trial.what, outcome=outcome, note=note, at=time.time(),
            seconds=time.monotonic() - begun, inputs=trial.inputs,
        )  # fmt: skip
        self._known[trial.where, trial.what] = made
        self._write()
        return made

    def _write(self) -> None:
        part = self._folder / f"{_FILE}.part"
        known = list(self._known.values())
        part.write_bytes(msgspec.json.format(msgspec.json.encode(known)) + b"\n")
        part.replace(self._folder / _FILE)


def inputs(files: Iterable[Path], words: Iterable[str]) -> str:
    """Return what stands for files and words: another file or word, another text."""
    sums = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            sums.update(hashlib.file_digest(file, "sha256").digest())
    for word in words:
        sums.update(word.encode() + b"\0")
    return sums.hexdigest()


def kept(folder: Path, stands_for: str, make: Callable[[Path], object]) -> Path:
    """Return a folder for trials, made by `make` unless it was, whole and of the same inputs."""
    marker = whole(folder)
    if marker.is_file() and marker.read_text(encoding="ascii") == stands_for:
        return folder
    marker.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make(folder)
    marker.write_text(stands_for, encoding="ascii")
    return folder


def whole(folder: Path) -> Path:
    """Return the file that says of what inputs a kept folder was made."""
    return folder.with_name(f"{folder.name}.whole")


def table(results: Iterable[Result]) -> Iterator[str]:
    """Yield lines for people: where, what, seconds, result."""
    rows = [_HEAD]
    for one in results:
        seconds = "–" if one.outcome == LEFT_OUT else f"{one.seconds:.0f}"
        rows.append((one.where, one.what, seconds, one.words))
    first, second, third = (max(len(row[at]) for row in rows) for at in range(3))
    for where, what, seconds, result in rows:
        yield f"{where:{first}}  {what:{second}}  {seconds:>{third}}  {result}"


def _stands(before: Result, inputs: str) -> bool:
    return before.outcome == PASSED and before.inputs == inputs


def _day(moment: float) -> str:
    return f"on {datetime.datetime.fromtimestamp(moment).astimezone():%Y-%m-%d at %H:%M}"


class _Both(io.TextIOBase):
    """Writes into two streams, at once."""

    def __init__(self, *streams: TextIO) -> None:
        self._streams = streams

    def write(self, text: str) -> int:
        """Write a piece."""
        for stream in self._streams:
            stream.write(text)
            stream.flush()
        return len(text)

    def flush(self) -> None:
        """Do nothing: every piece is written at once."""


@contextlib.contextmanager
def _also_into(file: TextIO) -> Iterator[None]:
    """Write what is said into a file as well."""
    with contextlib.redirect_stdout(_Both(sys.stdout, file)):
        yield
