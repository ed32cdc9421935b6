"""Which cards of a host are used, and what may be asked about them."""

from typing import Any

import msgspec
import pytest

from studio.domain.hardware import Gpu, GpuLink, HostSnapshot, Program, Toolchain
from studio.domain.manifests import Preset, RuntimeNeeds, RuntimeRecipe
from studio.domain.units import GIB
from studio.presets import cards
from tests.presets.samples import preset, recipe_of

BARE = HostSnapshot(system="linux", machine="x86_64", os_name="Debian", memory_bytes=64 * GIB)
SHAPES = [
    {"count": 4, "vram_bytes_each": 23 * GIB, "when": {"wsl": False}},
    {"count": 2, "vram_bytes_each": 23 * GIB, "when": {"wsl": False}},
    {"count": 1, "vram_bytes_each": 23 * GIB},
    {"count": 2, "vram_bytes_each": 15 * GIB},
]


def card(index: int, name: str = "RTX 3090", gib: int = 24, capability: str | None = "8.6") -> Gpu:
    """Return a card."""
    return Gpu(index=index, name=name, compute_capability=capability, total_bytes=gib * GIB)


def small(index: int) -> Gpu:
    """Return a card of 16 GB."""
    return card(index, "RTX 5060 Ti", 16, "12.0")


def host(*found: Gpu, **fields: Any) -> HostSnapshot:
    """Return a host with these cards."""
    return msgspec.structs.replace(BARE, gpus=found, **fields)


def asking(**needs: Any) -> Preset:
    """Return a preset with these needs."""
    return preset(needs={"min_compute_capability": "8.0", **needs})


def recipe(**needs: Any) -> RuntimeRecipe:
    """Return a runtime with these needs."""
    facts = {"platforms": ["linux-x86_64"], "disk_bytes": 1, "gpu": True, **needs}
    made = recipe_of("cpu-vllm-0.32.0")
    return msgspec.structs.replace(made, needs=msgspec.convert(facts, RuntimeNeeds))


@pytest.mark.parametrize(
    ("found", "wsl", "used"),
    [
        ([card(0)], False, (0,)),
        ([card(0), card(1)], False, (0, 1)),
        ([card(0), card(1)], True, (0,)),
        ([card(0), card(1), card(2)], False, (0, 1)),
        ([card(n) for n in range(5)], False, (0, 1, 2, 3)),
        ([small(0), small(1)], True, (0, 1)),
        ([small(0), card(1), small(2)], False, (1,)),
        ([card(0, "V100", 32, "7.0"), card(1)], False, (1,)),
        ([card(0, "A"), card(1, "B"), card(2, "B")], False, (1, 2)),
        ([card(0, "A"), card(1, "B")], False, (0, 1)),
        ([Gpu(index=0, name="mute")], False, (0,)),
    ],
)
def test_the_best_set_that_the_host_has_is_used(
    found: list[Gpu], wsl: bool, used: tuple[int, ...]
) -> None:
    """Two cards natively, one under WSL2, pairs of small ones, alike before mixed."""
    picked = cards.pick(asking(shapes=SHAPES), recipe(), host(*found, is_wsl=wsl))

    assert picked.gpus == used
    assert picked.reasons == ()


def test_the_chosen_cards_are_used_in_the_order_they_were_named() -> None:
    """Who writes `--gpus 1,0` means it."""
    two = host(card(0), card(1))

    assert cards.pick(asking(shapes=SHAPES), recipe(), two, (1, 0)).gpus == (1, 0)
    assert cards.pick(asking(shapes=SHAPES), recipe(), two, (1,)).gpus == (1,)


def test_a_number_of_cards_can_be_asked_for() -> None:
    """`tensor_parallel_size=1` on two cards uses one; a set nobody tried is judged by memory."""
    found = host(card(0), card(1), card(2))
    asked = asking(shapes=SHAPES)

    assert cards.pick(asked, recipe(), found, None, 1).gpus == (0,)
    assert cards.pick(asked, recipe(), found, None, 3).gpus == (0, 1, 2)
    assert cards.pick(asked, recipe(), found, None, 8).reasons
    assert cards.pick(asked, recipe(), found, None, 0).reasons


@pytest.mark.parametrize(
    ("found", "part"),
    [
        ([], "needs an NVIDIA card"),
        ([card(0, "V100", 32, "7.0")], "none is here"),
        ([small(0)], "or two cards with 15.00 GiB each; the one here has 16.00 GiB"),
    ],
)
def test_the_reason_names_what_is_asked_for_and_what_is_there(found: list[Gpu], part: str) -> None:
    """Both figures, so that nobody has to look them up."""
    (reason,) = cards.pick(asking(shapes=SHAPES), recipe(), host(*found)).reasons

    assert part in reason


def test_a_preset_without_needs_uses_no_card() -> None:
    """The demo leaves them all alone."""
    assert cards.pick(preset(), recipe(gpu=False), host(card(0))) == cards.Pick()


def test_facts_are_those_of_the_used_cards() -> None:
    """The smallest memory and the lowest capability decide."""
    found = host(
        card(0, gib=24), card(1, gib=32, capability="10.0"), card(2, gib=8, capability="7.0"),
        gpu_links=(GpuLink(first=0, second=1, nvlinks=4),), is_wsl=True,
        toolchain=Toolchain(nvcc=Program(path="/usr/bin/nvcc")),
    )  # fmt: skip

    facts = cards.facts_of(found, recipe(), (0, 1))

    assert facts.card_bytes == 24 * GIB
    assert facts.compute_capability == "8.6"
    assert facts.has_nvlink is True
    assert facts.has_nvcc is True
    assert facts.is_wsl is True
    assert facts.memory_bytes == 64 * GIB
    assert facts.has_desktop is None


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ((), None),
        ((GpuLink(first=0, second=1, nvlinks=0),), False),
        ((GpuLink(first=0, second=1, nvlinks=None),), None),
        ((GpuLink(first=0, second=1, nvlinks=2),), True),
    ],
)
def test_nvlink_is_known_or_it_is_not(links: tuple[GpuLink, ...], expected: bool | None) -> None:
    """A pair without a link is a no; silence of the driver is not."""
    found = host(card(0), card(1), gpu_links=links)

    assert cards.facts_of(found, recipe(), (0, 1)).has_nvlink is expected
    assert cards.facts_of(found, recipe(), (0,)).has_nvlink is None


@pytest.mark.parametrize(
    ("shown", "expected"),
    [((True, False), True), ((False, False), False), ((None, False), None), ((None, True), True)],
)
def test_a_desktop_on_one_of_the_cards_counts(
    shown: tuple[bool | None, ...], expected: bool | None
) -> None:
    """Its memory is gone from that card."""
    found = [
        msgspec.structs.replace(card(index), display_active=one) for index, one in enumerate(shown)
    ]

    assert cards.facts_of(host(*found), recipe(), (0, 1)).has_desktop is expected


def test_an_unknown_size_or_capability_stays_unknown() -> None:
    """One mute card, and nothing is said of the set."""
    facts = cards.facts_of(host(card(0), Gpu(index=1, name="mute")), recipe(), (0, 1))

    assert facts.card_bytes is None
    assert facts.compute_capability is None
    assert cards.facts_of(host(), recipe(), ()).has_nvcc is None
    assert cards.facts_of(host(toolchain=Toolchain()), recipe(), ()).has_nvcc is False


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([card(0)], "It needs four cards of compute capability 7.0 (V100); none is here."),
        (
            [card(0, "V100", 32, "7.0"), card(1)],
            "It needs four cards of compute capability 7.0 (V100); one is here.",
        ),
        (
            [card(0, "V100", 32, "7.0"), card(1, "V100", 32, "7.0")],
            "It needs four cards of compute capability 7.0 (V100); two are here.",
        ),
    ],
)
def test_cards_are_counted_in_words_and_called_by_their_name(found: list[Gpu], said: str) -> None:
    """`7.0 to 7.0` is a range of nothing, and nobody buys a compute capability."""
    made = recipe(cards="V100", max_compute_capability="7.0")
    wanted = asking(gpus=4, min_compute_capability="7.0")

    assert cards.pick(wanted, made, host(*found)).reasons == (said,)
