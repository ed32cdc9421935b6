"""A Studio in this process, over the fake engine, in a home of its own."""

import asyncio
import contextlib
import dataclasses
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from studio.app.settings import Settings
from studio.app.studio import Studio
from studio.app.wiring import Parts
from studio.domain.events import Event
from studio.host.documents import write_json
from studio.host.paths import Paths
from tests.fakes.catalogue import install_fake, make_catalogue
from tests.fakes.weir import forget_sockets, free_port


@dataclasses.dataclass(slots=True, kw_only=True)
class Running:
    """One Studio, its parts, and everything it announced."""

    paths: Paths
    parts: Parts
    studio: Studio
    heard: list[Event] = dataclasses.field(default_factory=list)

    async def listen(self) -> None:
        """Keep what is announced."""
        async for event in self.studio.bus.subscribe():
            self.heard.append(event)

    def of(self, kind: type[Event]) -> list[Any]:
        """Return what was announced of one kind."""
        return [event for event in self.heard if isinstance(event, kind)]


@contextlib.contextmanager
def fake_paths(folder: Path, **options: Any) -> Iterator[Paths]:
    """Yield a home in a short folder, with the fake runtime and model installed."""
    catalogue = make_catalogue(folder / "catalogue", **options)
    with tempfile.TemporaryDirectory(prefix="wéir ", ignore_cleanup_errors=True) as home:
        paths = Paths(home=Path(home), catalogue=catalogue)
        install_fake(paths)
        write_json(paths.settings_file, Settings(port=free_port()))
        try:
            yield paths
        finally:
            forget_sockets(paths)


@contextlib.asynccontextmanager
async def running(paths: Paths) -> AsyncIterator[Running]:
    """Yield a Studio that runs; it ends as in the service."""
    parts = Parts(paths)
    made = Running(paths=paths, parts=parts, studio=Studio(parts))
    await made.studio.open()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(made.listen())
        task = tasks.create_task(made.studio.run())
        await asyncio.sleep(0)
        try:
            yield made
        finally:
            await made.studio.end("the test is over")
            task.cancel()
