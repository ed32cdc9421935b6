"""Which preset suits which machine: facts against facts."""

import msgspec
import pytest

from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.manifests import Preset, PresetNeeds, RuntimeNeeds, RuntimeRecipe
from studio.domain.units import GIB
from studio.presets import choose
from tests.presets.samples import bundled_all, recipe_of
from tests.serving.test_command import preset as any_preset
from tests.serving.test_command import recipe as any_recipe

CPU = HostSnapshot(
    system="linux",
    machine="x86_64",
    os_name="Debian",
    memory_bytes=24 * GIB,
    gpu_note="No NVIDIA driver was found on this machine.",
)
RTX_3090 = Gpu(index=0, name="RTX 3090", compute_capability="8.6", total_bytes=24 * GIB)
V100 = Gpu(index=1, name="V100", compute_capability="7.0", total_bytes=16 * GIB)


def preset(rank: int = 0, **needs: object) -> Preset:
    """Return a preset with these needs."""
    return msgspec.structs.replace(
        any_preset(), id=f"rank-{rank}", rank=rank, needs=msgspec.convert(needs, PresetNeeds)
    )


def recipe(**needs: object) -> RuntimeRecipe:
    """Return a runtime with these needs."""
    facts = {"platforms": ["linux-x86_64"], "disk_bytes": 1, **needs}
    return msgspec.structs.replace(any_recipe(), needs=msgspec.convert(facts, RuntimeNeeds))


def with_cards(*cards: Gpu) -> HostSnapshot:
    """Return a machine with these cards."""
    return msgspec.structs.replace(CPU, gpus=cards, gpu_note=None)


def test_a_preset_without_needs_runs_anywhere() -> None:
    """The demo must never be refused for a card it does not use."""
    assert choose.reasons_against(preset(), recipe(), CPU) == ()


def test_a_runtime_that_the_catalogue_lacks_is_a_reason() -> None:
    """A preset of a newer version must not end in a traceback."""
    (reason,) = choose.reasons_against(preset(), None, CPU)

    assert "not in this version's catalogue" in reason


def test_a_runtime_for_another_platform_is_a_reason() -> None:
    """Windows and macOS meet this one."""
    mac = msgspec.structs.replace(CPU, system="darwin", machine="aarch64")
    (reason,) = choose.reasons_against(preset(), recipe(), mac)

    assert "darwin-aarch64" in reason


def test_too_little_memory_is_a_reason_with_both_figures() -> None:
    """The person sees what is asked for and what is there."""
    (reason,) = choose.reasons_against(preset(memory_bytes=64 * GIB), recipe(), CPU)

    assert "64.00 GiB" in reason
    assert "24.00 GiB" in reason


def test_no_card_says_why_none_was_found() -> None:
    """A missing driver and a missing card are different problems."""
    assert choose.reasons_against(preset(gpus=1), recipe(), CPU) == (CPU.gpu_note,)


@pytest.mark.parametrize(
    ("needs", "cards", "fits"),
    [
        ({"gpus": 1, "min_compute_capability": "8.0"}, (RTX_3090,), True),
        ({"gpus": 1, "min_compute_capability": "8.0"}, (V100,), False),
        ({"gpus": 1, "min_compute_capability": "10.0"}, (RTX_3090,), False),
        ({"gpus": 2}, (RTX_3090,), False),
        ({"gpus": 2}, (RTX_3090, V100), True),
        ({"gpus": 1, "vram_bytes_each": 20 * GIB}, (V100,), False),
        ({"gpus": 2, "vram_bytes_each": 20 * GIB}, (RTX_3090, V100), False),
    ],
)
def test_cards_are_judged_by_capability_and_memory(
    needs: dict[str, object], cards: tuple[Gpu, ...], fits: bool
) -> None:
    """8.6 is less than 10.0 although the text is not."""
    assert (choose.reasons_against(preset(**needs), recipe(), with_cards(*cards)) == ()) is fits


def test_only_the_chosen_cards_count() -> None:
    """`--gpus 1` on a mixed machine means the V100."""
    asked = preset(gpus=1, min_compute_capability="8.0")

    assert choose.reasons_against(asked, recipe(), with_cards(RTX_3090, V100), gpus=(1,))
    assert not choose.reasons_against(asked, recipe(), with_cards(RTX_3090, V100), gpus=(0,))


def test_an_unknown_fact_never_counts_against_a_host() -> None:
    """A driver that keeps a figure to itself must not lock its owner out."""
    mute = Gpu(index=0, name="card")
    asked = preset(gpus=1, vram_bytes_each=GIB, min_compute_capability="8.0")

    assert choose.reasons_against(asked, recipe(), with_cards(mute)) == ()


def test_the_best_ranked_preset_that_fits_is_proposed() -> None:
    """On a card the card's preset, without one the demo."""
    small, large = preset(0), preset(10, gpus=1, min_compute_capability="8.0")
    recipes = {small.runtime: recipe()}

    assert choose.best([small, large], recipes, CPU) == small
    assert choose.best([small, large], recipes, with_cards(RTX_3090)) == large
    assert choose.best([large], recipes, CPU) is None


def test_a_card_newer_than_the_runtime_knows_is_a_reason() -> None:
    """Binaries for the V100 do not run on a 3090, however much newer it is."""
    needs = recipe(gpu=True, min_compute_capability="7.0", max_compute_capability="7.0")

    assert choose.reasons_against(preset(), needs, with_cards(V100)) == ()
    (reason,) = choose.reasons_against(preset(), needs, with_cards(RTX_3090))

    assert "of compute capability 7.0; none" in reason


def test_windows_is_pointed_to_wsl() -> None:
    """The same machine serves inside it."""
    windows = HostSnapshot(system="windows", machine="AMD64", os_name="Windows 11")
    demo = next(one for one in bundled_all() if one.id == "cpu-demo")

    (reason, *_) = choose.reasons_against(demo, recipe_of(demo.runtime), windows)

    assert "windows-AMD64. Inside WSL 2 it would do." in reason
