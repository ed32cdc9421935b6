"""A library of a home of the test's own, with everything around it in the test's hands."""

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path

from studio.app.library import ModelLibrary
from studio.app.settings import SettingsFile
from studio.domain.downloads import DownloadList
from studio.domain.events import Event, ModelsChanged
from studio.domain.library import CheckInfo, CheckState
from studio.domain.manifests import Preset
from studio.domain.server import EngineSnapshot
from studio.host.paths import Paths
from tests.fakes.waiting import until_async


@dataclasses.dataclass(slots=True)
class Shelves:
    """What the library sees."""

    paths: Paths
    cache: Path
    presets: list[Preset] = dataclasses.field(default_factory=list)
    engine: EngineSnapshot = dataclasses.field(default_factory=EngineSnapshot)
    downloads: DownloadList = dataclasses.field(default_factory=DownloadList)
    is_busy: bool = False
    listeners: int = 1
    heard: list[Event] = dataclasses.field(default_factory=list)

    def library(self) -> ModelLibrary:
        """Return a library, as a new service would make it."""
        return ModelLibrary(
            self.paths,
            SettingsFile(self.paths.settings_file),
            lambda: self.cache,
            presets=lambda: self.presets,
            engine=lambda: self.engine,
            is_busy=lambda: self.is_busy,
            downloads=lambda: self.downloads,
            publish=self.heard.append,
            listeners=lambda: self.listeners,
        )

    def changes(self) -> list[ModelsChanged]:
        """Return what was announced."""
        return [event for event in self.heard if isinstance(event, ModelsChanged)]


def shelves(folder: Path) -> Shelves:
    """Return a home without models."""
    return Shelves(Paths(home=folder / "my höme", catalogue=folder / "c"), folder / "hub")


@contextlib.asynccontextmanager
async def running(library: ModelLibrary) -> AsyncIterator[ModelLibrary]:
    """Let a library run as in the service."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(library.run())
        await until_async(lambda: library._checks.is_running, "the library to run")
        try:
            yield library
        finally:
            task.cancel()


async def over(library: ModelLibrary) -> tuple[CheckInfo, ...]:
    """Return the checks when none is under way any more."""

    def is_over() -> bool:
        live = (CheckState.QUEUED, CheckState.RUNNING, CheckState.WAITING)
        return all(one.state not in live for one in library.checks().checks)

    await until_async(is_over, "the end of the checks")
    return library.checks().checks
