"""A script that belongs to another project's series: from its commit, or said to be missing."""

import asyncio
from pathlib import Path

import pytest

from studio.domain.errors import HostLacks, NetworkFailure, NotFound
from studio.runtimes import series
from studio.runtimes.series_scripts import script
from tests.fakes.git import commit, git
from tests.runtimes.standin import StandIn
from tests.runtimes.test_series import pinned, repository

__all__ = ["repository"]

TOOLS = {
    "prepare/quant heads.py": "print('grüß')\n".encode(),
    "prepare/lib/more.py": b"K = 2\n",
}


async def test_a_script_comes_from_the_series_at_its_commit(
    stand_in: StandIn, repository: Path, tmp_path: Path
) -> None:
    """With its neighbours, which it imports; what the series itself needs stays kept."""
    commit(repository, TOOLS, "Tools")
    pinned(stand_in, repository)
    place = tmp_path / "out"
    await series.fetch(stand_in.recipe, stand_in.paths, None)

    found = await script(stand_in.recipe, "prepare/quant heads.py", stand_in.paths, place)

    assert found == place / "quant heads.py"
    assert found.read_bytes() == TOOLS["prepare/quant heads.py"]
    assert (place / "lib" / "more.py").read_bytes() == TOOLS["prepare/lib/more.py"]
    await asyncio.to_thread(repository.rename, tmp_path / "gone")
    await script(stand_in.recipe, "prepare/quant heads.py", stand_in.paths, place)
    await series.fetch(stand_in.recipe, stand_in.paths, None)


async def test_a_script_that_is_not_there_is_named_with_its_commit(
    stand_in: StandIn, repository: Path, tmp_path: Path
) -> None:
    """The project may have moved it since the preset was written."""
    at = pinned(stand_in, repository)

    with pytest.raises(NotFound) as caught:
        await script(stand_in.recipe, "patches/none.py", stand_in.paths, tmp_path / "out")

    assert caught.value.code == "script-missing"
    assert at[:12] in caught.value.message


async def test_a_commit_that_cannot_be_fetched_says_what_to_put_where(
    stand_in: StandIn, repository: Path, tmp_path: Path
) -> None:
    """Without a network the file that is missing has a name and a place."""
    at = pinned(stand_in, repository)
    git(repository, "gc", "-q")
    await asyncio.to_thread(repository.rename, tmp_path / "gone")

    with pytest.raises((NetworkFailure, NotFound)) as caught:
        await script(stand_in.recipe, "patches/apply.sh", stand_in.paths, tmp_path / "out")

    said = f"{caught.value.message} {caught.value.hint}"
    assert str(stand_in.paths.home / "series") in said
    assert at[:12] in said


async def test_a_runtime_without_a_series_or_commit_is_told_apart(
    stand_in: StandIn, repository: Path, tmp_path: Path
) -> None:
    """Each has another way out."""
    for recipe in (None, stand_in.recipe):
        with pytest.raises(HostLacks) as without:
            await script(recipe, "patches/apply.sh", stand_in.paths, tmp_path / "out")
        assert without.value.code == "script-without-series"
    at = pinned(stand_in, repository)
    stand_in.edit(f'commit = "{at}"\n', "")

    with pytest.raises(HostLacks) as unpinned:
        await script(stand_in.recipe, "patches/apply.sh", stand_in.paths, tmp_path / "out")

    assert unpinned.value.code == "runtime-not-pinned"
