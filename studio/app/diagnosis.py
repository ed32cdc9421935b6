"""Why an engine failed, by its log in a file: the Studio's own last one, or anybody's."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from studio.app import remedy_values
from studio.domain.diagnosis import DiagnoseRequest, Diagnosis, KnownDeath, Match
from studio.domain.errors import BadInput, ErrorInfo, NotFound
from studio.host import wsl
from studio.host.paths import Paths
from studio.serving import diagnose, evidence, log_files, log_zip
from studio.serving.signatures import Signature

_LATELY_S = 24 * 3600.0
"""A death that is older is not what somebody asks about who asks now."""


class Diagnoses:
    """Reads logs with the catalogue's signatures."""

    def __init__(self, paths: Paths, signatures: Callable[[], Sequence[Signature]]) -> None:
        self._paths = paths
        self._signatures = signatures

    async def diagnose(self, request: DiagnoseRequest) -> Diagnosis:
        """Return what a log says, the most likely cause first.

        Raises: NotFound (`file-missing`, `log-missing`), BadInput (`log-is-folder`,
        `path-not-absolute`, `log-none-in-zip`), HostLacks (`not-readable`), Damaged
        (`log-damaged`).
        """
        return await asyncio.to_thread(self._diagnose, request)

    def _diagnose(self, request: DiagnoseRequest) -> Diagnosis:
        path = self._path(request.path)
        if log_zip.is_zip(path):
            return self._of_zip(path, request.exit_code)
        hearing = log_files.hear(path)
        found = diagnose.matches_heard(hearing, request.exit_code, self._signatures())
        return Diagnosis(
            matches=_matches(found),
            source=str(path),
            lines=hearing.lines,
            death=None if found or request.path is not None else self._last_death(),
        )

    def _of_zip(self, path: Path, exit_code: int | None) -> Diagnosis:
        """Return what the first log says that says anything."""
        lines = 0
        for one in log_zip.logs(path):
            code = one.exit_code if exit_code is None else exit_code
            found = diagnose.matches_heard(one.hearing, code, self._signatures())
            if found:
                return Diagnosis(
                    matches=_matches(found),
                    source=str(path),
                    inside=one.name,
                    lines=one.hearing.lines,
                )
            lines += one.hearing.lines
        return Diagnosis(matches=(), source=str(path), lines=lines)

    def _last_death(self) -> KnownDeath | None:
        kept = evidence.newest(self._paths.logs / "crashes", within_s=_LATELY_S)
        if kept is None:
            return None
        folder, death = kept
        cause = death.error.message if death.error is not None else None
        return KnownDeath(at=death.at, cause=cause, folder=str(folder))

    def _path(self, given: str | None) -> Path:
        if given is not None:
            path = Path(wsl.meant(given))
            if not path.is_absolute():
                raise BadInput("path-not-absolute", f"{given} should be a whole path.")
            return path
        path = self._paths.logs / "engine.log"
        if not path.exists():
            raise NotFound(
                "log-missing",
                "No engine of the Studio has left a log yet.",
                hint="Name a log: `weir diagnose FILE`.",
            )
        return path


def _matches(found: Sequence[ErrorInfo]) -> tuple[Match, ...]:
    return tuple(match_of(remedy_values.plain(one)) for one in found)


def match_of(error: ErrorInfo) -> Match:
    """Return an error as a match of a diagnosis."""
    return Match(
        code=error.code,
        cause=error.message,
        evidence=error.evidence,
        remedy=error.hint,
        remedies=error.remedies,
    )
