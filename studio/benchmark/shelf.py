"""Runs that are kept: one JSON file each, `bench/<id>.json` in the Studio's folder.

Whole or absent. A file that cannot be read is told and left where it is.
"""

import datetime
import re
from pathlib import Path

from studio.domain.bench import BenchResult
from studio.domain.errors import BadInput, NotFound, StudioError
from studio.host import files
from studio.host.documents import read_json, write_json

LAST = "last"
_ID = re.compile(r"[0-9]{8}-[0-9]{6}(?:-[0-9]{1,4})?")
_MODE = 0o600


class Shelf:
    """The folder; each call reads it again. Blocks: call it in a thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def new_id(self, now: datetime.datetime) -> str:
        """Return an id that no kept run has: the moment, in UTC."""
        stem = now.astimezone(datetime.UTC).strftime("%Y%m%d-%H%M%S")
        taken = set(self.ids())
        numbered = (f"{stem}-{number}" for number in range(2, 10_000))
        return stem if stem not in taken else next(one for one in numbered if one not in taken)

    def path(self, run_id: str) -> Path:
        """Return the file of a run."""
        return self._folder / f"{run_id}.json"

    def put(self, result: BenchResult) -> Path:
        """Keep a run. Raises: HostLacks (`disk-full`, `not-writable`)."""
        files.make_private(self._folder)
        path = self.path(result.id)
        write_json(path, result, mode=_MODE)
        return path

    def ids(self) -> list[str]:
        """Return the ids of all kept runs, oldest first."""
        try:
            names = [path.stem for path in self._folder.glob("*.json") if path.is_file()]
        except OSError:
            return []
        return sorted((name for name in names if _ID.fullmatch(name)), key=_order)

    def all(self) -> tuple[list[BenchResult], list[str]]:
        """Return all runs that can be read, oldest first, and what is wrong with the others."""
        found: list[BenchResult] = []
        damaged: list[str] = []
        for run_id in self.ids():
            try:
                result = read_json(self.path(run_id), BenchResult)
            except StudioError as error:
                damaged.append(error.message)
                continue
            if result is not None:
                found.append(result)
        return found, damaged

    def get(self, reference: str) -> BenchResult:
        """Return the run of an id, of the beginning of one, or `last`.

        Raises: NotFound (`bench-unknown`), BadInput (`bench-ambiguous`), Damaged
        (`document-damaged`), HostLacks (`not-readable`).
        """
        run_id = self.find(reference)
        result = read_json(self.path(run_id), BenchResult)
        if result is None:
            raise _unknown(reference)
        return result

    def find(self, reference: str) -> str:
        """Return the id that is meant. Raises: NotFound, BadInput, as `get` does."""
        ids = self.ids()
        if reference == LAST and ids:
            return ids[-1]
        if reference in ids:
            return reference
        is_whole = _ID.fullmatch(reference) is not None  # and not there: no other one is meant
        begun = [one for one in ids if reference and not is_whole and one.startswith(reference)]
        if len(begun) > 1:
            raise BadInput(
                "bench-ambiguous",
                f"{len(begun)} runs begin with `{reference}`: {', '.join(begun[:5])}.",
                hint="Name one of them in full.",
            )
        if not begun:
            raise _unknown(reference)
        return begun[0]

    def remove(self, run_id: str) -> None:
        """Remove a run. Raises: HostLacks (`not-writable`)."""
        path = self.path(run_id)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise files.from_os_error(error, path) from error


def _order(run_id: str) -> tuple[str, int]:
    day, moment, *rest = run_id.split("-")
    return f"{day}-{moment}", int(rest[0]) if rest else 1


def _unknown(reference: str) -> NotFound:
    if reference == LAST:  # what commands mean where nothing was named
        return NotFound(
            "bench-unknown", "No run of the bench is kept yet.", hint="`weir bench` makes one."
        )
    return NotFound(
        "bench-unknown",
        f"No run of the bench is called `{reference}`.",
        hint="`weir bench list` names those that are kept.",
    )
