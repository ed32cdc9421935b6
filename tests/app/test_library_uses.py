"""Who needs a model now."""

from pathlib import Path

import msgspec
import pytest

from studio.app.library_uses import in_use_by, places_of, require_free, uses_of
from studio.domain.downloads import DownloadInfo, DownloadKind, DownloadList, DownloadState
from studio.domain.errors import Busy
from studio.domain.library import CheckInfo, CheckState, RootKind
from studio.domain.manifests import ModelSource, ModelSpec
from studio.domain.server import EngineSnapshot, EngineState
from studio.host.paths import Paths, bundled_root
from studio.models.digests import DigestBook
from studio.models.roots import Root
from studio.models.shelf import Model, Shelf
from studio.presets.store import PresetStore
from tests.models.made_models import COMMIT, cached

NOBODY = (EngineSnapshot(), DownloadList())


@pytest.fixture
def model(tmp_path: Path) -> Model:
    """Return a model that the preset `p` serves."""
    cached(tmp_path / "hub")
    shelf = Shelf(tmp_path / "own", tmp_path / "cache", DigestBook(tmp_path / "own"))
    (found,) = shelf.scan([Root(path=str(tmp_path / "hub"), kind=RootKind.CACHE)]).models
    return msgspec.structs.replace(found, entry=msgspec.structs.replace(found.entry, uses=("p",)))


@pytest.mark.parametrize("state", list(EngineState))
def test_an_engine_that_is_there_or_coming_holds_its_model(
    model: Model, state: EngineState
) -> None:
    """One that is stopped, or somebody else's, does not."""
    held = in_use_by(model, EngineSnapshot(state=state, preset="p"), DownloadList())
    other = in_use_by(model, EngineSnapshot(state=state, preset="q"), DownloadList())

    is_at_rest = state in ("stopped", "failed", "adopted", "gone")
    assert (held is None) == is_at_rest
    assert other is None


def test_a_download_or_a_check_holds_it_too(model: Model) -> None:
    """A paused download does not."""

    def fetching(state: DownloadState) -> DownloadList:
        one = DownloadInfo(id="1", kind=DownloadKind.MODEL, title="owner/name", state=state)
        return DownloadList(downloads=(one,))

    check = CheckInfo(model="owner/name", path="/", state=CheckState.RUNNING)
    for state, check_now in ((DownloadState.RUNNING, None), (DownloadState.PAUSED, check)):
        with pytest.raises(Busy) as refused:
            require_free(model, EngineSnapshot(), fetching(state), check_now)
        assert refused.value.code == "model-in-use"
    require_free(model, EngineSnapshot(), fetching(DownloadState.PAUSED), None)
    require_free(model, *NOBODY, None)


def test_presets_are_known_by_their_models(tmp_path: Path) -> None:
    """A drafter belongs to each preset that guesses with it."""
    presets = PresetStore(Paths(home=tmp_path, catalogue=bundled_root())).all()

    uses = uses_of(presets)

    assert "cpu-demo" in uses["smollm2-135m-instruct-f32"]
    assert len(uses["qwen3.8-27b-w4a16"]) > 1


def test_a_model_is_served_from_where_it_lies(tmp_path: Path) -> None:
    """In a hub's cache at whatever commit, as the start of a preset looks for it."""
    paths = Paths(home=tmp_path / "home", catalogue=tmp_path)
    snapshot = cached(paths.models / "modelscope")
    source = ModelSource(repository="owner/name", hub="ModelScope", revision=COMMIT)
    spec = ModelSpec(
        id="m", title="M", licence="", origin="", disk_bytes=1, sources=(source,),
        files=("config.json", "model.safetensors"),
    )  # fmt: skip

    assert places_of(paths, [spec]) == {str(snapshot.resolve()): ("m",)}
    (snapshot / "model.safetensors").unlink()
    assert places_of(paths, [spec]) == {}
