"""What lies where now, which presets it is for, and what is missed."""

import shutil
from pathlib import Path

from studio.domain.library import RemoveRequest, RootChange
from studio.domain.manifests import Preset
from tests.app.library_support import shelves
from tests.models.made_models import COMMIT, cached, model
from tests.presets.samples import preset


def of_hub(preset_id: str) -> Preset:
    """Return a preset that serves a repository as it comes."""
    source = {"repository": "owner/name", "revision": COMMIT, "download_bytes": 1}
    return preset(
        id=preset_id,
        model={
            "id": "from-hub", "title": "From a hub", "licence": "none", "origin": "made here",
            "disk_bytes": 1, "files": ["config.json"], "sources": [source],
        },
    )  # fmt: skip


async def test_a_model_tells_which_presets_serve_it(tmp_path: Path) -> None:
    """Under the presets' names, whatever the model is called in them."""
    here = shelves(tmp_path)
    here.presets += [of_hub("b"), of_hub("a"), preset(id="c")]
    cached(here.cache)
    model(here.paths.models / "x")

    uses = {one.name: one.uses for one in (await here.library().all()).models}

    assert uses == {"owner/name": ("a", "b"), "x": ()}


async def test_a_model_that_another_hand_took_away_is_missed_by_the_next_service_too(
    tmp_path: Path,
) -> None:
    """Until it is back; what no preset serves is nobody's loss."""
    here = shelves(tmp_path)
    here.presets.append(of_hub("fast"))
    snapshot = cached(here.cache)
    model(here.paths.models / "x")
    before = await here.library().all()
    away = here.cache.rename(tmp_path / "elsewhere")
    here.cache.mkdir()
    shutil.rmtree(here.paths.models / "x")

    library = here.library()
    (lost,) = (await library.all()).lost
    still = (await library.all()).lost
    here.cache.rmdir()
    (unmounted,) = (await library.all()).lost
    away.rename(here.cache)
    back = await library.all()

    assert before.lost == ()
    assert (lost.name, lost.path, lost.uses) == ("owner/name", str(snapshot), ("fast",))
    assert not lost.is_folder_gone
    assert still == (lost,)
    assert unmounted.is_folder_gone
    assert back.lost == ()


async def test_what_the_studio_itself_removes_is_not_missed(tmp_path: Path) -> None:
    """The person who said so needs no news of it."""
    here = shelves(tmp_path)
    here.presets.append(of_hub("fast"))
    cached(here.cache)
    library = here.library()
    await library.all()

    await library.remove(RemoveRequest(name="owner/name"))

    assert (await library.all()).lost == ()


async def test_the_version_counts_differences_and_not_looks(tmp_path: Path) -> None:
    """A window reads the list anew when it changed, and only then."""
    here = shelves(tmp_path)
    model(here.paths.models / "x")
    library = here.library()

    versions = []
    for step in range(4):
        if step == 2:
            model(here.paths.models / "y")
        await library.all()
        await library.change_roots(RootChange())
        versions.append(here.changes()[-1].version)

    assert versions == [1, 1, 2, 2]
