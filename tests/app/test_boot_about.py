"""What is known of a boot before it begins."""

import dataclasses
from pathlib import Path

import msgspec

from studio.app.boot_about import about, weights_in
from studio.app.up import decide
from studio.domain.manifests import Expected
from studio.domain.units import GIB
from studio.host.paths import Paths, bundled_root
from studio.presets.store import PresetStore
from studio.runtimes.catalog import Catalog
from tests.app.boot_samples import about as sample
from tests.app.boot_samples import plan
from tests.app.test_boot_tries import launch
from tests.planner.plan_samples import card, host


def test_a_start_on_a_card_knows_its_place_its_card_and_its_weights(tmp_path: Path) -> None:
    """All that later explains a pool that differs."""
    paths = Paths(home=tmp_path, catalogue=bundled_root())
    model = tmp_path / "mödel"
    model.mkdir()
    (model / "model-00001-of-00002.safetensors").write_bytes(b"x" * 100)
    (model / "model-00002-of-00002.safetensors").write_bytes(b"x" * 50)
    (model / "tokenizer.json").write_bytes(b"x" * 999)
    machine = msgspec.structs.replace(host(card(uuid="GPU-1", free=20 * GIB)), driver="580.1")
    preset = PresetStore(paths).get("27b-mtp")
    choice = decide(Catalog(paths), preset, machine, None, {"max_num_seqs": "4"})

    found = about(launch(), choice, [model], plan(kv_gib=5.0), tmp_path / "cache")

    assert (found.place.preset, found.place.runtime_id, found.place.cards) == (
        "27b-mtp",
        "r1",
        "GPU-1",
    )
    assert found.settings["max_num_seqs"] == 4
    assert found.can_pin
    assert found.uses_cards
    assert (found.checkpoint_bytes, found.drafter_bytes) == (150, None)
    assert (found.held_bytes, found.driver) == (4 * GIB, "580.1")
    assert found.cache == str(tmp_path / "cache")
    assert found.asked == {"max_num_seqs": "4"}

    pinned = dataclasses.replace(choice, overrides={"kv_cache_memory_bytes": "5G"})
    told = about(launch(VLLM_CACHE_ROOT="/c"), pinned, [], None, tmp_path)
    assert (told.is_pinned, told.can_pin, told.checkpoint_bytes, told.cache) == (
        True,
        False,
        None,
        "/c",
    )


def test_published_times_are_of_the_preset_as_it_is(tmp_path: Path) -> None:
    """The demo was published without compilation; with it the first boot takes minutes."""
    paths = Paths(home=tmp_path, catalogue=bundled_root())
    preset = PresetStore(paths).get("cpu-demo")

    def published(**overrides: str) -> list[float | None]:
        choice = decide(Catalog(paths), preset, host(), None, overrides)
        planned = plan(kv_gib=1.0, boot_cold_s=53.0, boot_warm_s=33.0)
        start = about(launch(), choice, [], planned, tmp_path)
        return [start.published_s(is_cold=True), start.published_s(is_cold=False), start.rough_s]

    assert published() == [53.0, 33.0, 53.0]
    assert published(max_num_seqs="4") == [53.0, 33.0, 53.0]
    assert published(enforce_eager="false") == [None, None, None]


def test_weights_that_cannot_be_seen_are_not_known(tmp_path: Path) -> None:
    """A folder without any, and one that is not there."""
    assert weights_in(tmp_path) is None
    assert weights_in(tmp_path / "gone") is None
    (tmp_path / "m.gguf").write_bytes(b"x" * 7)
    assert weights_in(tmp_path) == 7


def test_the_planners_boot_times_go_before_the_presets(tmp_path: Path) -> None:
    """They know this host; the preset's rows are of any."""
    rows = (
        Expected(source="s", boot_s=218.0),
        Expected(source="s", boot_s=333.0, boot_warm_s=81.0),
    )
    planned = sample(plan=plan(kv_gib=1.0, boot_cold_s=252.0), expected=rows)

    assert planned.published_s(is_cold=True) == 252.0
    assert planned.published_s(is_cold=False) == 81.0
    assert sample(expected=rows).published_s(is_cold=True) == 333.0
    assert sample(expected=rows[:1]).published_s(is_cold=True) is None
    assert sample(expected=rows).rough_s == 218.0
    assert sample().published_s(is_cold=True) is None
    assert sample().rough_s is None
