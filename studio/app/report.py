"""`weir report`: all that helps to understand a failure, in one zip that names nobody.

Offline, bounded in time and size, and as much as can be had: whatever cannot be read is said in its
place. Texts are redacted before anybody sees them, so that a preview shows what is saved.
"""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

from studio.app.report_collect import Asked, Collected, collect
from studio.app.report_words import summary
from studio.domain.errors import BadInput, HostLacks, StudioError
from studio.domain.report import (
    ReportEntry,
    ReportItem,
    ReportPreview,
    ReportRequest,
    ReportWritten,
    file_name,
    packed,
)
from studio.host import files, redact, wsl
from studio.host.paths import Paths


class Reports:
    """Makes the reports of one home."""

    def __init__(
        self, paths: Paths, studio: Callable[[], Asked], *, has_service: bool = True
    ) -> None:
        """`studio` may raise StudioError: then the report says so, and does without."""
        self._paths = paths
        self._studio = studio
        self._has_service = has_service

    async def preview(self) -> ReportPreview:
        """Return all that a report would hold."""
        made_at = time.time()
        studio, problem = None, None
        try:
            studio = self._studio()
        except StudioError as error:
            problem = error.info
        found = await collect(self._paths, studio, has_service=self._has_service, problem=problem)
        return await asyncio.to_thread(self._composed, found, made_at)

    def _composed(self, found: Collected, made_at: float) -> ReportPreview:
        redactor = redact.Redactor(redact.identity(self._paths, os.environ))
        texts = [("summary.txt", summary(found, made_at)), *found.texts]
        entries = tuple(
            ReportEntry(name=redactor.text(name), text=redactor.text(text)) for name, text in texts
        )
        return ReportPreview(made_at=made_at, file_name=file_name(made_at), entries=entries)

    async def write(self, request: ReportRequest) -> ReportWritten:
        """Write a report, whole or not at all.

        Raises: BadInput (`report-path`, `report-exists`), HostLacks (`not-writable`, `disk-full`).
        """
        path = Path(wsl.meant(request.path))
        if not path.is_absolute() or "\0" in request.path:
            raise BadInput("report-path", f"`{request.path}` is not a whole path.")
        # before the work, which nobody needs who cannot have the file
        await asyncio.to_thread(_require_place, path, replace=request.replace)
        preview = await self.preview()
        data = packed(preview)
        path = await asyncio.to_thread(
            _write, path, preview.file_name, data, replace=request.replace
        )
        return ReportWritten(
            path=str(path),
            size_bytes=len(data),
            entries=tuple(
                ReportItem(name=one.name, size_bytes=len(one.text.encode(errors="replace")))
                for one in preview.entries
            ),
            summary=preview.entries[0].text,
        )


def _require_place(path: Path, *, replace: bool) -> None:
    if path.is_dir():
        return
    try:
        is_there = path.exists() or path.is_symlink()
        is_file = path.is_file()
    except OSError as error:
        raise _unwritable(path, error) from error
    if is_there and not (replace and is_file):
        raise BadInput(
            "report-exists",
            f"{path} is there already.",
            hint="Choose another name, or overwrite it with `--replace`.",
        )
    if not path.parent.is_dir():
        raise HostLacks(
            "not-writable",
            f"The folder {path.parent} is not there.",
            hint="Make it, or choose another one.",
        )


def _write(path: Path, name: str, data: bytes, *, replace: bool) -> Path:
    """Write beside and rename; return where it lies."""
    if path.is_dir():
        path /= name
    _require_place(path, replace=replace)
    try:
        files.write_atomic(path, data, mode=0o600)
    except HostLacks as error:
        hint = "Choose another folder: `weir report FILE`."
        raise HostLacks(error.code, error.message, hint=hint) from error
    return path


def _unwritable(path: Path, error: OSError) -> HostLacks:
    return HostLacks(
        "not-writable",
        f"{path} cannot be written: {error.strerror or error}.",
        hint="Choose another folder: `weir report FILE`.",
    )
