"""Which model a client is pointed at."""

import pytest

from studio.app.clients_around import model_of
from studio.domain.errors import NotFound
from studio.domain.server import EngineSnapshot, EngineState
from studio.host.paths import Paths, bundled_root
from studio.presets.store import PresetStore

RUNNING = EngineSnapshot(
    state=EngineState.READY, preset="cpu-demo", served_name="served", max_model_len=4_096
)


@pytest.fixture
def presets(tmp_path: object) -> PresetStore:
    """Return the presets that come along."""
    return PresetStore(Paths(home=bundled_root() / "nowhere", catalogue=bundled_root()))


def test_what_runs_goes_before_what_ran_last(presets: PresetStore) -> None:
    """With the context that it really has."""
    for name in (None, "served", "cpu-demo"):
        found = model_of(name, RUNNING, presets, "27b-mtp")
        assert (found.name, found.context) == ("served", 4_096)


def test_a_preset_is_meant_by_its_id_and_by_its_served_name(presets: PresetStore) -> None:
    """A person knows the one, a client the other."""
    by_id = model_of("cpu-demo", EngineSnapshot(), presets, None)
    assert model_of(by_id.name, EngineSnapshot(), presets, None).name == by_id.name
    assert model_of(None, EngineSnapshot(), presets, "cpu-demo") == by_id
    assert by_id.context is not None


@pytest.mark.parametrize(
    ("name", "code"), [(None, "client-model-unknown"), ("x", "preset-unknown")]
)
def test_an_unknown_model_is_refused(presets: PresetStore, name: str | None, code: str) -> None:
    """A client that asks for nothing that is served fails much later."""
    with pytest.raises(NotFound) as caught:
        model_of(name, EngineSnapshot(), presets, None)
    assert caught.value.code == code
