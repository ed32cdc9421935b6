"""The library as a person and the window use it."""

import time
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, NotFound
from studio.domain.library import (
    CheckRequest,
    RemoveRequest,
    RootChange,
    RootKind,
    RootState,
)
from studio.domain.proofs import ModelState
from tests.app.library_support import over, running, shelves
from tests.models.made_models import cached, model, safetensors

LARGE = safetensors({"w": ("U8", [2 << 20])})


async def test_folders_are_added_listed_and_forgotten(tmp_path: Path) -> None:
    """Nothing in them is touched; one that is away is said to be."""
    here = shelves(tmp_path)
    model(tmp_path / "usb" / "m")
    library = here.library()

    added = await library.change_roots(RootChange(add=str(tmp_path / "usb")))
    await library.change_roots(RootChange(add=f"{tmp_path}/./usb"))
    again = here.library()
    (tmp_path / "usb").rename(tmp_path / "away")
    gone = await again.roots()
    left = await again.change_roots(RootChange(remove=str(tmp_path / "usb")))

    assert [(one.kind, one.models) for one in added][-1] == (RootKind.FOLDER, 1)
    assert [one.state for one in gone] == [RootState.MISSING] * 3
    assert len(left) == 2
    with pytest.raises(NotFound):
        await again.change_roots(RootChange(add=str(tmp_path / "none")))
    with pytest.raises(NotFound):
        await again.change_roots(RootChange(remove=str(here.paths.models)))
    with pytest.raises(BadInput):
        await again.change_roots(RootChange(add="usb"))


async def test_a_check_proves_a_model_and_finds_what_is_damaged(tmp_path: Path) -> None:
    """The result is kept with its date, over the death of the service."""
    here = shelves(tmp_path)
    snapshot = cached(here.cache)
    async with running(here.library()) as library:
        await library.check(CheckRequest(name="name"))
        await over(library)
        proven = (await library.one("owner/name")).model
        blob = (snapshot / "model.safetensors").resolve()
        blob.write_bytes(safetensors(fill=b"v"))
        written = (await library.one("owner/name")).model
        await library.check(CheckRequest(name="owner/name"))
        await over(library)
    damaged = (await here.library().one("owner/name")).model

    assert proven.state is ModelState.READY
    assert proven.proven_at_s is not None
    assert written.state is ModelState.UNKNOWN
    assert written.changed == ("model.safetensors",)
    assert damaged.state is ModelState.DAMAGED
    assert damaged.damaged == ("model.safetensors",)
    assert damaged.last_check is not None
    assert damaged.last_check.at_s == pytest.approx(time.time(), abs=60)
    assert here.changes()


async def test_without_a_service_a_check_is_over_when_it_returns(tmp_path: Path) -> None:
    """`weir models verify` works alone."""
    here = shelves(tmp_path)
    model(here.paths.models / "m")
    model(here.paths.models / "n")
    library = here.library()

    listed = await library.check(CheckRequest())

    assert [one.state.value for one in listed.checks] == ["done", "done"]
    assert [one.state for one in (await library.all()).models] == [ModelState.READY] * 2


async def test_files_that_may_be_the_same_are_compared_when_there_is_time(tmp_path: Path) -> None:
    """By nobody's order, and not while an engine is busy."""
    here = shelves(tmp_path)
    model(here.paths.models / "m", LARGE)
    model(here.paths.models / "n", LARGE)
    library = here.library()
    assert (await library.all()).not_compared_bytes == 2 * len(LARGE)

    async with running(library):
        await library.all()
        while not (found := await library.all()).doubles:
            assert found.not_compared_bytes <= 2 * len(LARGE)

    assert found.doubles[0].models == ("m", "n")
    assert found.not_compared_bytes == 0


async def test_a_model_that_nobody_knows_is_said(tmp_path: Path) -> None:
    """For every question and deed."""
    library = shelves(tmp_path).library()
    for call in (
        library.one("x"),
        library.remove(RemoveRequest(name="x")),
        library.check(CheckRequest(name="x")),
        library.stop_check("x"),
    ):
        with pytest.raises(NotFound):
            await call
    assert (await library.check(CheckRequest())).checks == ()
