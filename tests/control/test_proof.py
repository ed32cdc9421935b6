"""What a version on trial has to show."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio import __version__
from studio.app.studio import Studio
from studio.app.update_proof import Holdings
from studio.app.update_records import Records, Trial
from studio.app.wiring import Parts
from studio.control import launcher, proof
from studio.control.router import Router
from studio.host.paths import Paths, bundled_root


class Bent:
    """The calls of a real home, one of them answered otherwise."""

    def __init__(self, paths: Paths) -> None:
        self.studio = Studio(Parts(paths))
        self._router = Router(self.studio, down=self._nothing)
        self.bent: dict[str, tuple[int, bytes]] = {}

    async def answer(self, method: str, path: str, query: str, body: bytes) -> tuple[int, bytes]:
        """Answer as a service does."""
        for ending, given in self.bent.items():
            if path.endswith(ending):
                return given
        return await self._router.answer(method, path, query, body)

    async def lacks(self, before: Holdings, version: str = __version__) -> str | None:
        """Return what the version lacks."""
        client = launcher.in_process(self, self._nothing)
        return await proof.shortcoming(client, version, before, between_s=0.0)

    async def _nothing(self) -> None:
        pass


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Bent]:
    """Return the calls of a home in which this version is on trial."""
    paths = Paths(home=tmp_path, catalogue=bundled_root())
    trial = Trial(old="0.0.1", new=__version__, pid=1, process_started_at=None, began_at=0.0)
    Records(paths).write(trial)
    made = Bent(paths)
    yield made
    await made.studio.close()


async def test_a_version_that_finds_everything_is_good(home: Bent) -> None:
    """Presets, runtimes, databases, its own number."""
    assert await home.lacks(Holdings()) is None


async def test_an_answer_alone_proves_nothing(home: Bent) -> None:
    """What a person would miss is named."""
    assert "calls itself" in str(await home.lacks(Holdings(), version="9.9.9"))
    assert "`mine`" in str(await home.lacks(Holdings(presets=("mine",))))
    home.bent = {"/runtimes": (200, b'{"runtimes": []}')}
    assert await home.lacks(Holdings()) == "it lists no runtimes"
    home.bent = {"/update": (200, b'{"version": "1.0.0", "came": "run"}')}
    assert "on trial" in str(await home.lacks(Holdings()))


async def test_a_call_that_fails_is_told_in_its_words(home: Bent) -> None:
    """A database that cannot be opened is one."""
    answer = b'{"code": "database-damaged", "message": "studio.db is damaged.", "exit_status": 4}'
    home.bent = {"/keys": (500, answer)}

    assert "studio.db is damaged" in str(await home.lacks(Holdings()))


async def test_an_adopted_engine_has_to_be_found_again(home: Bent) -> None:
    """None at all is nothing to find."""
    answer = b'{"code": "document-damaged", "message": "adopted.json is damaged."}'
    home.bent = {"/adopted": (500, answer)}

    assert "adopted.json" in str(await home.lacks(Holdings()))
