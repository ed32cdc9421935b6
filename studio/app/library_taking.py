"""Brings models into the library: linked, copied, only mentioned, or just fetched from a hub."""

import asyncio
import contextlib
import functools
import threading
from collections.abc import Callable
from pathlib import Path

from studio.app.library_checks import Checks, Stopped
from studio.app.library_known import note_fetched, note_import
from studio.app.library_scan import Scanner
from studio.app.settings import SettingsFile
from studio.domain.downloads import Fetched
from studio.domain.errors import BadInput, Busy, StudioError
from studio.domain.library import ImportProgress, ImportWay, ModelImport, ModelImported
from studio.host.threads import in_stoppable_thread
from studio.models import taking
from studio.models.finding import Found
from studio.models.roots import given
from studio.models.shelf import Model


class Taking:
    """What comes into one home's library."""

    def __init__(
        self,
        models: Path,
        settings: SettingsFile,
        scanner: Scanner,
        checks: Checks,
        changing: asyncio.Lock,
        announce: Callable[[], None],
    ) -> None:
        """`changing` is held while settings or files of the library change."""
        self._models = models
        self._settings = settings
        self._scanner = scanner
        self._checks = checks
        self._changing = changing
        self._announce = announce
        self._importing = asyncio.Lock()
        self.progress: ImportProgress | None = None
        """How far an import under way is."""

    async def take(self, request: ModelImport) -> ModelImported:
        """Bring a model into the library.

        Raises: what `studio.models.taking` raises; BadInput (`path-invalid`).
        """
        path = given(request.path)
        found = await asyncio.to_thread(taking.source, path)
        if request.by is ImportWay.REFERENCE:
            return await self._refer(_place(path, found))
        async with self._importing:  # of its own: it may take an hour
            name = taking.name_for(found, request.name)
            self.progress = ImportProgress(path=str(path), name=name)
            try:
                taken = await in_stoppable_thread(
                    lambda stop: taking.take(
                        found,
                        self._models,
                        name,
                        request.by,
                        functools.partial(self._copied, stop, str(path), name),
                    )
                )
            except Stopped as error:
                raise Busy("import-stopped", f"The import of {path} was stopped.") from error
            finally:
                self.progress = None
        models = (await self._scanner.scan()).models
        before = next((one for one in models if one.found.folder == found.folder), None)
        is_same = taken.copied == 0 and taken.cloned == 0
        await asyncio.to_thread(
            functools.partial(
                note_import, taken.folder, self._models, found, before, is_same=is_same
            )
        )
        model = await self._scanner.in_folder(taken.folder)
        if model.known is not None and model.proof is None and self._checks.is_running:
            await self._checks.add([model])
        self._announce()
        return ModelImported(
            model=model.entry,
            by=taken.by,
            reason=taken.reason,
            linked=taken.linked,
            cloned=taken.cloned,
            copied=taken.copied,
            written_bytes=taken.written_bytes,
        )

    async def fetched(self, fetched: Fetched) -> None:
        """Keep what a hub says of files that have just come, and what is proven of them.

        What cannot be kept costs a check later, and not the download.
        """
        folder = Path(fetched.folder)
        is_proven = False
        with contextlib.suppress(StudioError):
            is_proven = await asyncio.to_thread(note_fetched, fetched, self._models)
            if all(not folder.is_relative_to(root.folder) for root in self._scanner.folders()):
                now = self._settings.now
                self._settings.change(model_references=(*now.model_references, str(folder)))
        if not is_proven and self._checks.is_running:
            model = await self._scanner.at(str(folder))
            if model is not None:
                await self._checks.add([model])
        self._announce()

    async def _refer(self, path: Path) -> ModelImported:
        """List a model that stays where it is; one that is listed already stays as it is."""
        reason = None
        async with self._changing:
            before = self._settings.now.model_references
            models = (await self._scanner.scan()).models
            here = next((one for one in models if _is_at(one, path)), None)
            if here is None:
                self._settings.change(model_references=(*before, str(path)))
                models = (await self._scanner.scan()).models
                here = next((one for one in models if _is_at(one, path)), None)
            else:
                reason = f"it is in the library already, in {here.found.root.path}"
            if here is None:
                self._settings.change(model_references=before)
        if here is None:
            raise BadInput(
                "model-none-here",
                f"{path} holds no model that can be listed.",
                hint="Name the folder that the weights lie in, or a GGUF file.",
            )
        self._announce()
        return ModelImported(model=here.entry, by=ImportWay.REFERENCE, reason=reason)

    def _copied(self, stop: threading.Event, path: str, name: str, done: int, total: int) -> None:
        """Hear of bytes that were copied, in the thread that copies. Raises: Stopped."""
        if stop.is_set():
            raise Stopped
        self.progress = ImportProgress(path=path, name=name, done_bytes=done, total_bytes=total)


def _place(path: Path, found: Found) -> Path:
    """Return where the model lies; `path` may be a folder around the only one in it."""
    places = (found.path, found.folder, found.cache_folder)
    is_there = str(path) in places[: 1 if found.is_loose else 3]
    return path if is_there else Path(found.path)


def _is_at(model: Model, path: Path) -> bool:
    places = (model.found.path, model.found.folder, model.found.cache_folder)
    return str(path) in places[: 1 if model.found.is_loose else 3]
