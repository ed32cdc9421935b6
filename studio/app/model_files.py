"""A preset's models from nothing to where they can be served: found, fetched, prepared.

What lies here already is used as it lies. What is missing comes through the one queue of downloads;
preparing is the models' own matter. A kill anywhere loses nothing: the next call goes on.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path

from studio.app.downloads import Downloads
from studio.app.library_known import note_fetched
from studio.domain.downloads import DownloadInfo, DownloadState, Fetched, GetRequest, HubName
from studio.domain.errors import Damaged, HostLacks, StudioError
from studio.domain.events import Stage
from studio.domain.library import RootKind
from studio.domain.manifests import ModelSource, ModelSpec, RuntimeRecipe
from studio.domain.preparing import PreparationStep
from studio.host import tools
from studio.host.meter import Meter, Report
from studio.host.paths import Paths
from studio.host.tasks import beside
from studio.models import assemble, fetch, library, lost, places, prepare, proof
from studio.models.assemble import Held, Layer
from studio.models.roots import Root
from studio.runtimes import series_scripts

_LOOK_S = 0.25
_HUBS = {"Hugging Face": HubName.HUGGING_FACE, "ModelScope": HubName.MODEL_SCOPE}
"""A source that names both is fetched from the one that can be reached."""

Roots = Callable[[], Sequence[Path]]


class ModelFiles:
    """Brings models here, one at a time."""

    def __init__(
        self,
        paths: Paths,
        downloads: Downloads,
        *,
        roots: Roots | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """`roots` are the folders in which the person keeps models; None: the Studio's own."""
        self._paths = paths
        self._downloads = downloads
        self._roots: Roots = (lambda: (paths.models,)) if roots is None else roots
        self._environ = environ
        self._asked: set[str] = set()
        """Models whose hub could not complete them; it is not waited for at every start."""

    def require(self, spec: ModelSpec) -> None:
        """Raise unless a model is here or the Studio can bring it here. Blocks.

        Raises: Damaged (`model-incomplete`, `model-moved`).
        """
        if library.find(self._paths, spec) is None and not library.can_get(spec):
            library.check(library.model_folder(self._paths, spec), spec)

    async def ready(
        self,
        spec: ModelSpec,
        recipe: RuntimeRecipe | None,
        python: Path | None,
        report: Report,
        *,
        is_compared: bool = False,
    ) -> Path:
        """Return the folder of a model that can be served; fetches and prepares what is missing.

        With `is_compared`, a model that was made in steps is made anew where what it was made of
        has changed on this disk; otherwise it stays as it is.

        Raises: what `Downloads.get`, `fetch.fetch` and `prepare.prepare` raise, and as `require`.
        """
        folder = await self._brought(spec, recipe, python, report, is_compared=is_compared)
        await asyncio.to_thread(lost.remember, self._paths.models, spec, folder)
        return folder

    async def _brought(
        self,
        spec: ModelSpec,
        recipe: RuntimeRecipe | None,
        python: Path | None,
        report: Report,
        *,
        is_compared: bool,
    ) -> Path:
        found = await asyncio.to_thread(self._found, spec)
        is_own = found == library.model_folder(self._paths, spec)
        if found is not None and not (is_compared and is_own and await self._is_comparable(spec)):
            return await self._here(spec, found, report)
        await asyncio.to_thread(self.require, spec)
        if spec.wheel is not None:
            if python is None:
                raise _no_runtime(spec)
            return await fetch.fetch(spec, self._paths, python, report)
        if places.is_plain(spec):
            return await self._plain(spec, report)
        layers = [
            layer
            async for layer in self._layers(spec, recipe, python, report, is_compared=is_compared)
        ]

        async def script_of(step: PreparationStep) -> Path:
            return await self._script(step, spec, recipe)

        one = prepare.Preparation(
            spec=spec, layers=tuple(layers), paths=self._paths, python=python, script_of=script_of
        )
        return await prepare.prepare(one, report)

    def _found(self, spec: ModelSpec) -> Path | None:
        """Return where a model lies; one that another machine made may lie among the person's."""
        found = library.find(self._paths, spec)
        if found is not None:
            return found
        return library.find_made(self._paths, spec, places.candidates(self._roots()))

    async def _here(self, spec: ModelSpec, found: Path, report: Report) -> Path:
        """Use what lies here. What a hub's cache holds is completed where the hub can be asked."""
        if places.is_plain(spec) and await asyncio.to_thread(self._is_guessed, spec, found):
            try:
                return await self._fetched(spec, report)
            except StudioError:
                self._asked.add(spec.id)  # gated, gone, no network: it may well be whole
                return found
        await asyncio.to_thread(prepare.sweep, self._paths, spec)
        return found

    async def _is_comparable(self, spec: ModelSpec) -> bool:
        """Tell whether everything that a made model was made of lies here still."""
        if not spec.sources or places.is_plain(spec):
            return False
        if isinstance(spec.base, ModelSpec):
            base = await asyncio.to_thread(library.find, self._paths, spec.base)
            if base is None:
                return False
        found = [await asyncio.to_thread(self._whole, spec, one) for one in spec.sources]
        return all(one is not None for one in found)

    def _is_guessed(self, spec: ModelSpec, found: Path) -> bool:
        """Tell whether nothing but names says that a hub's folder is whole."""
        is_own = found == library.model_folder(self._paths, spec)
        is_known = spec.id in self._asked or places.is_noted(self._paths, spec)
        return not is_own and not is_known

    async def _plain(self, spec: ModelSpec, report: Report) -> Path:
        there = await asyncio.to_thread(places.in_folders, self._paths, spec, self._roots())
        if there is None:
            return await self._fetched(spec, report)
        files = await asyncio.to_thread(places.files_of, there)
        await asyncio.to_thread(places.note, self._paths, spec, there, files)
        return there

    async def _fetched(self, spec: ModelSpec, report: Report) -> Path:
        """Fetch a model that is served as its repository has it."""
        source = spec.sources[0]
        got = await self._get(spec, source, report)
        _require_digests(spec, got)
        folder = Path(got.folder)
        sizes = {file.path: file.bytes for file in got.files}
        await asyncio.to_thread(places.note, self._paths, spec, folder, sizes)
        if not await asyncio.to_thread(self._proven, folder):
            await asyncio.to_thread(note_fetched, got, self._paths.models)
        return folder

    async def _layers(
        self,
        spec: ModelSpec,
        recipe: RuntimeRecipe | None,
        python: Path | None,
        report: Report,
        *,
        is_compared: bool,
    ) -> AsyncIterator[Layer]:
        if isinstance(spec.base, ModelSpec):
            folder = await self.ready(spec.base, recipe, python, report, is_compared=is_compared)
            yield await asyncio.to_thread(self._layer, folder, spec.base.title, (), {})
        for source in spec.sources:
            folder, said = await self._source(spec, source, report)
            title = source.repository
            yield await asyncio.to_thread(self._layer, folder, title, source.files, said)

    def _layer(
        self, folder: Path, title: str, patterns: Sequence[str], said: Mapping[str, str]
    ) -> Layer:
        return assemble.layer(
            folder, title, patterns=patterns, said=said, proven=self._proven(folder)
        )

    def _proven(self, folder: Path) -> dict[str, Held]:
        try:
            record = proof.read_proof(folder, self._paths.models)
        except StudioError:
            return {}
        return {
            file.name: Held(
                size_bytes=file.size_bytes, sha256=file.sha256, modified_ns=file.modified_ns
            )
            for file in (record.files if record is not None else ())
        }

    async def _source(
        self, spec: ModelSpec, source: ModelSource, report: Report
    ) -> tuple[Path, dict[str, str]]:
        """Return where a repository's files lie, and their digests as far as the hub says them."""
        try:
            got = await self._get(spec, source, report)
        except StudioError:  # gated, gone, no network: what lies here whole does
            found = await asyncio.to_thread(self._whole, spec, source)
            if found is None:
                raise
            return found, {}
        said = {file.path: file.sha256 for file in got.files if file.sha256 is not None}
        return Path(got.folder), said

    def _whole(self, spec: ModelSpec, source: ModelSource) -> Path | None:
        folders = places.snapshots(self._paths, source, self._environ)
        return next((one for one in folders if places.is_whole(one, source, spec)), None)

    async def _get(self, spec: ModelSpec, source: ModelSource, report: Report) -> Fetched:
        """Fetch through the queue, first in it: somebody waits."""
        # Not "Fetching": that word makes the queue wait for what is fetched beside it (urgent.py),
        # and this is fetched by the queue.
        meter = Meter(Stage.MODEL, spec.title, report)
        meter.begin(f"Getting {source.repository}", total=source.download_bytes, unit="bytes")
        got: list[Fetched] = []

        async def work() -> None:
            got.append(await self._downloads.get(request_for(source), first=True))

        async def tell() -> None:
            while True:
                self._tell(source, meter)
                await asyncio.sleep(_LOOK_S)

        try:
            await beside(work, tell)
        except StudioError as error:
            meter.fail(error.message)
            raise
        return got[0]

    def _tell(self, source: ModelSource, meter: Meter) -> None:
        now = self._running(source.repository)
        if now is not None and now.done_bytes is not None:
            meter.reach(now.done_bytes, total=now.total_bytes)

    def _running(self, repository: str) -> DownloadInfo | None:
        waiting = (DownloadState.RUNNING, DownloadState.QUEUED, DownloadState.PAUSED)
        for one in self._downloads.listed().downloads:
            if one.title == repository and one.state in waiting:
                return one
        return None

    async def _script(
        self, step: PreparationStep, spec: ModelSpec, recipe: RuntimeRecipe | None
    ) -> Path:
        if step.tool is not None:
            return await asyncio.to_thread(tools.tool_file, self._paths, step.tool)
        assert step.series is not None
        place = self._paths.models / f".{spec.id}.scripts"
        return await series_scripts.script(recipe, step.series, self._paths, place)


def plain_roots(found: Iterable[Root]) -> tuple[Path, ...]:
    """Return the folders in which models lie under names of their own; a cache has its layout."""
    return tuple(one.folder for one in found if one.kind is not RootKind.CACHE)


def request_for(source: ModelSource) -> GetRequest:
    """Return what is asked of the queue for a repository."""
    return GetRequest(
        repository=source.repository,
        hub=_HUBS.get(source.hub),
        revision=source.revision,
        include=source.files,
    )


def _no_runtime(spec: ModelSpec) -> HostLacks:
    return HostLacks(
        "runtime-not-installed",
        f"{spec.title} is prepared by the runtime of its preset, and that is not installed.",
        hint="Install it with `weir runtime install NAME`; `weir up` does both.",
    )


def _require_digests(spec: ModelSpec, got: Fetched) -> None:
    """Refuse a repository that holds other files than the preset names.

    Raises: Damaged (`model-other-source`).
    """
    for file in got.files:
        wanted = spec.digests.get(file.path)
        if wanted is not None and file.sha256 is not None and file.sha256 != wanted:
            raise Damaged(
                "model-other-source",
                f"{got.repository} at {got.commit[:12]} holds another {file.path} than the preset "
                f"names. Expected sha256 {wanted[:12]}…, the hub says {file.sha256[:12]}….",
                hint="The repository has changed since the preset was written; a newer Studio may "
                "know it.",
            )
