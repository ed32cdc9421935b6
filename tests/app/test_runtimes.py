"""What the service answers about runtimes, with a real catalogue and a home of its own."""

from pathlib import Path

import pytest

from studio.app.runtimes import Runtimes
from studio.domain.errors import NotFound
from studio.domain.hardware import HostSnapshot
from studio.domain.runtimes import PinRequest, RuntimeState
from studio.host.paths import Paths, bundled_root
from studio.runtimes.catalog import Catalog

NAME = "cu13-hyperqwen-0.32.0"


@pytest.fixture
def runtimes(tmp_path: Path) -> Runtimes:
    """The shipped catalogue over an empty home."""
    paths = Paths(home=tmp_path, catalogue=bundled_root())

    async def host() -> HostSnapshot:
        return HostSnapshot(system="linux", machine="x86_64", os_name="Debian")

    return Runtimes(paths, Catalog(paths), host)


async def test_the_list_holds_every_recipe(runtimes: Runtimes) -> None:
    """Also those that cannot work here, with the reason."""
    found = (await runtimes.all()).runtimes

    assert len(found) == 6
    assert all(one.usable or one.reasons for one in found)


async def test_what_was_supplied_counts_at_once(runtimes: Runtimes) -> None:
    """The answer to a pin is the runtime as it then is."""
    assert (await runtimes.one(NAME)).info.state is RuntimeState.NOT_PINNED

    found = await runtimes.pin(NAME, PinRequest(commit="0" * 40))

    assert found.info.state is RuntimeState.UNVERIFIED
    assert found == await runtimes.one(NAME)


async def test_a_pin_of_nothing_known_writes_nothing(runtimes: Runtimes, tmp_path: Path) -> None:
    """A misspelt name must not leave a pin that later counts for something else."""
    with pytest.raises(NotFound) as caught:
        await runtimes.pin("cu13-hyperqwen", PinRequest(commit="0" * 40))

    assert caught.value.code == "runtime-unknown"
    assert Catalog(Paths(home=tmp_path, catalogue=bundled_root())).pinned("cu13-hyperqwen") is None
    assert not any((await runtimes.one(NAME)).agreed)
