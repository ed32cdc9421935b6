"""What goes out of the library, and what stands in the way."""

import asyncio
import sys
from pathlib import Path

import pytest

from studio.domain.errors import Busy
from studio.domain.library import CheckRequest, RemoveRequest
from studio.domain.proofs import ModelState
from studio.host.files import exclusive
from studio.models import removing
from tests.app.library_support import running, shelves
from tests.models.made_models import COMMIT, cached, model, safetensors
from tests.presets.samples import preset

LARGE = safetensors({"w": ("U8", [2 << 20])})


async def test_a_model_in_use_stays(tmp_path: Path) -> None:
    """Its engine would read a file that is no more; a dry run says so without an error."""
    here = shelves(tmp_path)
    folder = model(here.paths.models / "m")
    library = here.library()

    with (folder / "model.safetensors").open("rb") as held:
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "import sys; sys.stdin.read()",
            stdin=asyncio.subprocess.PIPE,
            pass_fds=(held.fileno(),),
        )
        try:
            planned = await library.remove(RemoveRequest(name="m", dry_run=True))
            with pytest.raises(Busy) as refused:
                await library.remove(RemoveRequest(name="m"))
        finally:
            child.kill()
            await child.communicate()

    assert planned.refusal is not None
    assert planned.refusal.code == refused.value.code == "model-in-use"
    assert str(child.pid) in refused.value.message
    done = await library.remove(RemoveRequest(name="m"))
    assert done.is_done
    assert not folder.exists()
    assert (await library.all()).models == ()


async def test_nothing_that_was_known_of_a_model_outlives_it(tmp_path: Path) -> None:
    """Another one in its place is another one."""
    here = shelves(tmp_path)
    cached(here.cache)
    library = here.library()
    await library.check(CheckRequest())
    assert (await library.one("owner/name")).model.state is ModelState.READY

    await library.remove(RemoveRequest(name="owner/name"))
    cached(here.cache, files={"config.json": b"{}", "model.safetensors": LARGE})

    again = (await library.one("owner/name")).model
    assert (again.state, again.last_check) == (ModelState.UNKNOWN, None)
    left = [path.name for path in here.paths.models.rglob("*") if path.is_file()]
    assert set(left) <= {".digests.json", ".removing.lock"}


async def test_a_removal_that_a_kill_cut_off_is_finished_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person said that it should go."""
    here = shelves(tmp_path)
    folder = model(here.paths.models / "m")

    def killed(_removal: object) -> None:
        raise KeyboardInterrupt

    library = here.library()
    (found,) = (await library._scanner.scan()).models
    with monkeypatch.context() as patched:
        patched.setattr(removing, "_empty", killed)
        with pytest.raises(KeyboardInterrupt):
            library._removal._remove(found)
    assert not folder.exists()
    assert list(here.paths.models.glob(".removing-*"))

    async with running(here.library()):
        pass

    assert [path.name for path in here.paths.models.iterdir()] == [".removing.lock"]


async def test_what_is_being_made_of_a_model_keeps_it(tmp_path: Path) -> None:
    """Half of its files would be linked, and the rest gone: the preparation would fail."""
    here = shelves(tmp_path)
    source = {"repository": "owner/name", "revision": COMMIT, "download_bytes": 1}
    made = {
        "id": "made", "title": "Made", "licence": "none", "origin": "here", "disk_bytes": 1,
        "files": ["config.json"], "sources": [source],
        "preparation": [{"name": "a", "what": "A.", "changes": [{"file": "config.json"}]}],
    }  # fmt: skip
    here.presets.append(preset(id="p", model=made))
    cached(here.cache)
    model(here.paths.models / "other")
    library = here.library()

    with exclusive(here.paths.models / ".made.lock") as is_ours:
        assert is_ours
        with pytest.raises(Busy) as refused:
            await library.remove(RemoveRequest(name="owner/name"))
        await library.remove(RemoveRequest(name="other"))
    done = await library.remove(RemoveRequest(name="owner/name"))

    assert refused.value.code == "model-in-use"
    assert "the preparation of Made" in refused.value.message
    assert done.is_done
