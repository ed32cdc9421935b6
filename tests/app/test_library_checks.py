"""Checks wait for engines, go on after a death, and end when they are told to."""

from pathlib import Path

import pytest

from studio.app import library_checks
from studio.domain.library import CheckRequest, CheckState
from studio.domain.proofs import ModelState
from studio.host import quiet_reading
from tests.app.library_support import over, running, shelves
from tests.fakes.waiting import until_async
from tests.models.made_models import model, safetensors


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_checks, "_LOOK_S", 0.02)


async def test_a_check_waits_while_an_engine_needs_the_machine(tmp_path: Path) -> None:
    """Nobody's tokens get slower for it."""
    here = shelves(tmp_path)
    model(here.paths.models / "m")
    here.is_busy = True
    async with running(here.library()) as library:
        await library.check(CheckRequest(name="m"))

        def state() -> CheckState:
            return library.checks().checks[0].state

        await until_async(lambda: state() is CheckState.WAITING, "the check to wait")
        held = (await library.one("m")).model
        here.is_busy = False
        await over(library)
        after = (await library.one("m")).model

    assert held.check is not None
    assert held.state is ModelState.UNPROVEN
    assert after.state is ModelState.READY


async def test_what_was_read_before_the_service_died_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model of 200 GB is checked in several evenings."""
    here = shelves(tmp_path)
    folder = model(here.paths.models / "m")
    (folder / "z.safetensors").write_bytes(safetensors({"z": ("U8", [9000])}))
    read: list[str] = []
    real = quiet_reading.content
    is_held = True

    def content(path: Path, **given: object) -> quiet_reading.Content:
        read.append(path.name)
        if path.name == "z.safetensors" and is_held:
            here.is_busy = True
            raise library_checks.Stopped
        return real(path, **given)

    monkeypatch.setattr(quiet_reading, "content", content)
    async with running(here.library()) as library:
        await library.check(CheckRequest(name="m"))
        await until_async(lambda: "z.safetensors" in read, "the last file")
    is_held, here.is_busy = False, False
    read.clear()
    async with running(here.library()) as library:
        await until_async(lambda: bool(library.checks().checks), "the check taken up")
        await over(library)
        state = (await library.one("m")).model.state

    assert read == ["z.safetensors"]
    assert state is ModelState.READY


async def test_a_check_ends_when_it_is_told_to(tmp_path: Path) -> None:
    """And a model whose check is under way is not removed."""
    here = shelves(tmp_path)
    model(here.paths.models / "m")
    here.is_busy = True
    async with running(here.library()) as library:
        await library.check(CheckRequest(name="m"))
        listed = await library.stop_check("m")
        here.is_busy = False
        again = await library.check(CheckRequest(name="m"))
        await over(library)

    assert listed.checks == ()
    assert len(again.checks) == 1


async def test_a_model_that_went_meanwhile_is_no_failure(tmp_path: Path) -> None:
    """Its check goes with it."""
    here = shelves(tmp_path)
    folder = model(here.paths.models / "m")
    here.is_busy = True
    async with running(here.library()) as library:
        await library.check(CheckRequest())
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        here.is_busy = False
        checks = await over(library)

    assert all(one.error is None for one in checks)


async def test_a_damaged_queue_is_an_empty_one(tmp_path: Path) -> None:
    """The service starts all the same."""
    here = shelves(tmp_path)
    here.paths.models.mkdir(parents=True)
    (here.paths.models / library_checks.QUEUE).write_text("[")
    async with running(here.library()) as library:
        assert library.checks().checks == ()


async def test_a_file_that_cannot_be_read_is_not_tried_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would keep a processor busy for nothing."""
    here = shelves(tmp_path)
    large = safetensors({"w": ("U8", [2 << 20])})
    model(here.paths.models / "m", large)
    model(here.paths.models / "n", large)
    tried: list[Path] = []

    def refuse(path: Path, **_given: object) -> quiet_reading.Content:
        tried.append(path)
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(quiet_reading, "content", refuse)
    async with running(here.library()) as library:
        await library.all()
        await until_async(lambda: len(tried) == 2, "both tried")
        await library.all()
        here.is_busy = True
        await library.check(CheckRequest(name="m"))  # taken up only when no double is left

        await until_async(lambda: bool(library.checks().checks), "the check")

    assert len(tried) == 2
