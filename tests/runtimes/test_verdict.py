"""Whether a runtime works on a host: facts against facts, and an unknown fact is no reason."""

import msgspec
import pytest

from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.manifests import RuntimeNeeds, RuntimeRecipe
from studio.domain.units import GIB
from studio.host.paths import Paths, bundled_root
from studio.runtimes import verdict
from studio.runtimes.catalog import Catalog

RECIPES = {
    one.name: one
    for one in Catalog(Paths(home=bundled_root() / "none", catalogue=bundled_root())).recipes()
}
CPU, CU13, SM70 = (
    RECIPES[name] for name in ("cpu-vllm-0.31.0", "cu13-hyperqwen-0.31.0", "sm70-1cat-1.5.0")
)
HOST = HostSnapshot(
    system="linux",
    machine="x86_64",
    os_name="Debian",
    glibc="2.36",
    memory_bytes=64 * GIB,
    disk_free_bytes=500 * GIB,
    driver="580.105.08",
    gpus=(Gpu(index=0, name="RTX 3090", compute_capability="8.6"),),
)


def host(*capabilities: str | None, **changes: object) -> HostSnapshot:
    """Return a host with cards of these compute capabilities."""
    cards = tuple(
        Gpu(index=index, name=f"Card {index}", compute_capability=one)
        for index, one in enumerate(capabilities)
    )
    return msgspec.structs.replace(HOST, gpus=cards, **changes)


def needing(**facts: object) -> RuntimeRecipe:
    """Return a recipe with these needs."""
    raw = {"platforms": ["linux-x86_64"], "disk_bytes": 1, **facts}
    return msgspec.structs.replace(CPU, needs=msgspec.convert(raw, RuntimeNeeds))


@pytest.mark.parametrize("recipe", [CPU, CU13], ids=lambda recipe: recipe.name)
def test_a_host_that_has_everything_gets_no_reason(recipe: RuntimeRecipe) -> None:
    """The ordinary case of a 24 GB card."""
    assert verdict.reasons_against(recipe, HOST) == ()


@pytest.mark.parametrize(
    ("recipe", "capability", "works"),
    [
        (CU13, "7.0", False),
        (CU13, "7.5", False),
        (CU13, "8.0", True),
        (CU13, "8.9", True),
        (CU13, "10.0", True),
        (CU13, "12.0", True),
        (CU13, "12.1", False),
        (SM70, "6.1", False),
        (SM70, "7.0", True),
        (SM70, "7.5", False),
        (SM70, "8.6", False),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_the_range_of_cards_has_two_ends(
    recipe: RuntimeRecipe, capability: str, works: bool
) -> None:
    """Binaries for one card do not run on a newer one; 10.0 comes after 8.6."""
    assert (verdict.reasons_against(recipe, host(capability)) == ()) is works


def test_one_card_that_suits_is_enough() -> None:
    """A display card beside it does not count."""
    assert verdict.reasons_against(SM70, host("8.6", "7.0")) == ()
    (reason,) = verdict.reasons_against(SM70, host("8.6", "6.1"))
    assert reason == (
        "It needs a card of compute capability 7.0; here: Card 0 (8.6), Card 1 (6.1)."
    )


def test_no_card_is_said_in_the_probes_words() -> None:
    """The driver may be missing, or the library, and that is what helps."""
    note = "No NVIDIA driver was found on this machine."

    assert verdict.reasons_against(CU13, host(gpu_note=note)) == (note,)
    (reason,) = verdict.reasons_against(CU13, host())
    assert reason == "It needs an NVIDIA card; none was found."


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"machine": "aarch64"}, "this is linux-aarch64"),
        ({"glibc": "2.17"}, "It needs glibc 2.31 or newer; this is 2.17."),
        ({"glibc": "2.4"}, "glibc 2.31 or newer"),
        ({"memory_bytes": 2 * GIB}, "this machine has 2.00 GiB"),
        ({"disk_free_bytes": GIB}, "1.00 GiB is free"),
    ],
    ids=str,
)
def test_each_fact_of_the_host_is_looked_at(changes: dict[str, object], said: str) -> None:
    """Found before a download of gigabytes and not after it."""
    (reason,) = verdict.reasons_against(CPU, msgspec.structs.replace(HOST, **changes))

    assert said in reason


def test_the_driver_has_a_floor() -> None:
    """CUDA 13 does not start on a driver of the 570 line."""
    (reason,) = verdict.reasons_against(CU13, host("8.6", driver="570.211.01"))

    assert reason == "It needs NVIDIA driver 580 or newer; this is 570.211.01."


def test_the_disk_does_not_count_once_it_is_installed() -> None:
    """A full disk must not make a runtime unusable that is there."""
    full = msgspec.structs.replace(HOST, disk_free_bytes=0)

    assert verdict.reasons_against(CPU, full, is_installed=True) == ()


def test_what_is_not_known_is_no_reason() -> None:
    """A driver that does not answer must not turn a good card into a bad one."""
    blank = HostSnapshot(
        system="linux", machine="x86_64", os_name="?", gpus=(Gpu(index=0, name="?"),)
    )

    assert verdict.reasons_against(CU13, blank) == ()
    assert verdict.warnings_about(SM70, blank) == ()


@pytest.mark.parametrize(
    ("driver", "warned"),
    [("550.163.01", False), ("580.173.02", False), ("581.1", True), ("590.44", True)],
)
def test_a_driver_beyond_what_is_known_is_warned_of(driver: str, warned: bool) -> None:
    """The V100's last branch is believed to be 580; newer ones are not refused for a belief."""
    newer = host("7.0", driver=driver)

    assert verdict.reasons_against(SM70, newer) == ()
    assert bool(verdict.warnings_about(SM70, newer)) is warned


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"min_compute_capability": "8.0"}, "of compute capability 8.0 or newer"),
        ({"max_compute_capability": "8.0"}, "of compute capability 8.0 or older"),
        (
            {"min_compute_capability": "7.0", "max_compute_capability": "8.0"},
            "of compute capability 7.0 to 8.0",
        ),
        ({}, "an NVIDIA card"),
    ],
    ids=str,
)
def test_requirements_are_said_in_words(facts: dict[str, object], said: str) -> None:
    """What `weir runtime show` prints is what is checked."""
    assert any(said in one for one in verdict.requirements(needing(gpu=True, **facts)))


def test_what_is_not_needed_is_not_said() -> None:
    """A runtime for the processor names no driver."""
    assert verdict.requirements(needing()) == ("linux-x86_64", "1 B on the disk")


@pytest.mark.parametrize("changes", [{"mig_enabled": True}, {"compute_mode": "prohibited"}])
def test_a_card_that_is_split_or_forbidden_is_no_card(changes: dict[str, object]) -> None:
    """The engine would start and find no memory, or no device."""
    split = msgspec.structs.replace(HOST.gpus[0], **changes)
    alone = msgspec.structs.replace(HOST, gpus=(split,))
    beside = msgspec.structs.replace(HOST, gpus=(split, HOST.gpus[0]))

    assert "whole card" in verdict.reasons_against(CU13, alone)[0]
    assert verdict.reasons_against(CU13, beside) == ()


def test_alike_cards_are_named_once() -> None:
    """Eight of them would fill the screen."""
    card = Gpu(index=0, name="Tesla V100", compute_capability="7.0")
    four = tuple(msgspec.structs.replace(card, index=index) for index in range(4))

    (reason,) = verdict.reasons_against(CU13, msgspec.structs.replace(HOST, gpus=four))

    assert reason.count("Tesla V100") == 1
