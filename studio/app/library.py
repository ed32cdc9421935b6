"""The library: what models lie where, whole or not, used by whom; taking in, checking, removing.

Every question looks at the disks anew, in a thread; what was read of files that nobody wrote since
is remembered. This is the front; `library_scan` looks, `library_taking` and `library_removal` act,
`library_checks` reads, `library_watch` notices what others do.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from studio.app.library_checks import Checks
from studio.app.library_names import named
from studio.app.library_removal import Removal
from studio.app.library_scan import Scanner
from studio.app.library_taking import Taking
from studio.app.library_uses import in_use_by
from studio.app.library_watch import watch
from studio.app.settings import SettingsFile
from studio.domain.downloads import DownloadList, Fetched
from studio.domain.errors import StudioError
from studio.domain.events import Event, ModelsChanged
from studio.domain.library import (
    CheckList,
    CheckRequest,
    FileEntry,
    ImportProgress,
    Library,
    ModelDetail,
    ModelEntry,
    ModelImport,
    ModelImported,
    RemovePlan,
    RemoveRequest,
    RootChange,
    RootInfo,
)
from studio.domain.manifests import Preset
from studio.domain.server import EngineSnapshot
from studio.host.paths import Paths
from studio.models.digests import DigestBook
from studio.models.roots import Root, folder_of, given, is_root, require_folder
from studio.models.shelf import Model, Scan

_MOST_FILES = 500


class ModelLibrary:
    """The models of one home."""

    def __init__(
        self,
        paths: Paths,
        settings: SettingsFile,
        cache: Callable[[], Path],
        *,
        presets: Callable[[], Sequence[Preset]],
        engine: Callable[[], EngineSnapshot],
        is_busy: Callable[[], bool],
        downloads: Callable[[], DownloadList],
        publish: Callable[[Event], None],
        listeners: Callable[[], int] = lambda: 0,
    ) -> None:
        """`cache` is the folder of huggingface_hub's cache; `is_busy`: an engine needs us."""
        self._settings = settings
        self._engine = engine
        self._downloads = downloads
        self._publish = publish
        self._listeners = listeners
        digests = DigestBook(paths.models)
        self._scanner = Scanner(paths, settings, cache, presets, digests, self._on_scan)
        self._checks = Checks(
            paths.models,
            digests,
            find=self._scanner.at,
            is_busy=is_busy,
            on_change=self._announce,
        )
        self._changing = asyncio.Lock()
        """Held while settings or files of the library change."""
        self._taking = Taking(
            paths.models, settings, self._scanner, self._checks, self._changing, self._announce
        )
        self._removal = Removal(
            paths.models,
            settings,
            self._scanner,
            self._checks,
            digests,
            engine=engine,
            downloads=downloads,
        )

    # -- questions ---------------------------------------------------------------------------

    async def all(self) -> Library:
        """Return every model as it lies now."""
        scan = await self._scanner.scan()
        engine, downloads = self._engine(), self._downloads()
        models = tuple(self._shown(one, engine, downloads) for one in scan.models)
        return msgspec.structs.replace(scan.library, models=models)

    async def one(self, name: str) -> ModelDetail:
        """Return a model with its files. Raises: NotFound (`model-unknown`), BadInput."""
        model = named(name, (await self._scanner.scan()).models)
        proven = {one.name: one.sha256 for one in model.proof.files} if model.proof else {}
        expected = model.known.by_name() if model.known is not None else {}
        files = []
        for file in model.found.files[:_MOST_FILES]:
            told = expected.get(file.name)
            files.append(
                FileEntry(
                    name=file.name,
                    size_bytes=file.size or 0,
                    sha256=proven.get(file.name) or (told.sha256 if told is not None else None),
                    is_proven=file.name in proven and file.name not in model.entry.changed,
                )
            )
        left_out = max(0, len(model.found.files) - _MOST_FILES)
        shown = self._shown(model, self._engine(), self._downloads())
        return ModelDetail(model=shown, files=tuple(files), left_out=left_out)

    async def roots(self) -> tuple[RootInfo, ...]:
        """Return every folder that is searched, and how each stands."""
        return (await self._scanner.scan()).library.roots

    def checks(self) -> CheckList:
        """Return the checks under way and over."""
        return CheckList(checks=self._checks.listed())

    def importing(self) -> ImportProgress | None:
        """Return how far an import under way is."""
        return self._taking.progress

    def folders(self) -> tuple[Root, ...]:
        """Return the roots, for whoever removes all of it."""
        return self._scanner.folders()

    # -- deeds -------------------------------------------------------------------------------

    async def change_roots(self, change: RootChange) -> tuple[RootInfo, ...]:
        """Search a folder from now on, or no longer; touches no file in it.

        Raises: BadInput (`path-invalid`), NotFound (`models-folder-missing`,
        `models-folder-unknown`).
        """
        async with self._changing:
            now = self._settings.now
            if change.add is not None:
                path = given(change.add)
                await asyncio.to_thread(require_folder, path)
                if not await asyncio.to_thread(is_root, path, self.folders()):
                    self._settings.change(model_folders=(*now.model_folders, str(path)))
            if change.remove is not None:
                here = (*now.model_folders, *now.model_references)
                gone = folder_of(change.remove, here)
                self._settings.change(
                    model_folders=_without(now.model_folders, gone),
                    model_references=_without(now.model_references, gone),
                )
        found = await self.roots()
        self._announce()
        return found

    async def take(self, request: ModelImport) -> ModelImported:
        """Bring a model into the library. Raises: as `Taking.take`."""
        return await self._taking.take(request)

    async def fetched(self, fetched: Fetched) -> None:
        """Hear of what a hub has just brought."""
        await self._taking.fetched(fetched)

    async def remove(self, request: RemoveRequest) -> RemovePlan:
        """Remove a model, or say what that would do. Raises: as `Removal.remove`."""
        async with self._changing:
            plan = await self._removal.remove(request)
        if plan.is_done:
            await self._scanner.scan()
            self._announce()
        return plan

    async def check(self, request: CheckRequest) -> CheckList:
        """Queue the check of a model, or of all. Raises: NotFound (`model-unknown`), BadInput."""
        scan = await self._scanner.scan()
        chosen = scan.models if request.name is None else (named(request.name, scan.models),)
        await self._checks.add(one for one in chosen if one.found.files)
        return self.checks()

    async def stop_check(self, name: str) -> CheckList:
        """End the check of a model. Raises: NotFound (`model-unknown`), BadInput."""
        model = named(name, (await self._scanner.scan()).models)
        await self._checks.drop(str(model.place))
        return self.checks()

    # -- life --------------------------------------------------------------------------------

    async def run(self) -> None:
        """Finish what a kill cut off, check, and look for changes, until cancelled."""
        with contextlib.suppress(OSError, StudioError):
            await asyncio.to_thread(self._removal.finish)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._checks.run(self._compared))
            tasks.create_task(watch(self._scanner, lambda: self._listeners() > 0, self._announce))

    async def _compared(self) -> None:
        await self._scanner.scan()
        self._announce()

    def _on_scan(self, scan: Scan) -> None:
        self._checks.compare(scan.to_hash)

    def _shown(self, model: Model, engine: EngineSnapshot, downloads: DownloadList) -> ModelEntry:
        return msgspec.structs.replace(
            model.entry,
            in_use_by=in_use_by(model, engine, downloads),
            check=self._checks.of(str(model.place)),
        )

    def _announce(self) -> None:
        last = self._scanner.last
        library = last.library if last is not None else Library()
        live = tuple(one for one in self._checks.listed() if one.error is None)
        self._publish(
            ModelsChanged(
                models=len(library.models),
                size_bytes=library.size_bytes,
                checks=live,
                version=self._scanner.version,
            )
        )


def _without(paths: tuple[str, ...], gone: str) -> tuple[str, ...]:
    return tuple(path for path in paths if path != gone)
