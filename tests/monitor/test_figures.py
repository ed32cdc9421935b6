"""Which published figure speaks of this machine."""

import pytest

from studio.domain.manifests import Expected
from studio.domain.speed import SpeedSteps
from studio.host.paths import Paths, bundled_root
from studio.monitor.figures import Machine, published
from studio.presets.store import PresetStore


def row(card: str, decode: float | None = 100.0, **more: object) -> Expected:
    """Return a row of a preset."""
    return Expected(card=card, decode_tokens_per_s=decode, source="somebody", **more)


def machine(*cards: str, power_w: float | None = 350.0, is_wsl: bool = False) -> Machine:
    """Return a machine with an RTX 3090, or with these cards."""
    names = cards or ("NVIDIA GeForce RTX 3090",)
    return Machine(tuple((name, None) for name in names), power_w, is_wsl)


@pytest.mark.parametrize(
    ("card", "where", "fits"),
    [
        ("RTX 3090, Linux", machine(), True),
        ("RTX 3090", machine(is_wsl=True), True),
        ("RTX 3090, WSL2", machine(), False),
        ("RTX 3090, Linux", machine(is_wsl=True), False),
        ("RTX 3090 Ti, Linux", machine(), False),
        ("RTX 3090, Linux", machine("NVIDIA GeForce RTX 3090 Ti"), False),
        ("RTX 3090 at 250 W, Linux", machine(power_w=250.0), True),
        ("RTX 3090 at 250 W, Linux", machine(), False),
        ("RTX 3090 at 250 W, Linux", machine(power_w=None), False),
        ("2 × RTX 3090 with NVLink, 250 W", machine(power_w=250.0), False),
        (
            "2 × RTX 3090 with NVLink, 250 W",
            machine("NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 3090", power_w=250.0),
            True,
        ),
        ("RTX 4080 Super 32 GB, WSL2", machine("NVIDIA GeForce RTX 4080 SUPER", is_wsl=True), True),
        ("RTX 3090, Linux", Machine(), False),
        ("2 cores of an AMD EPYC, 24 GiB", Machine(processor="AMD EPYC 7", processors=2), True),
        ("2 cores of an AMD EPYC, 24 GiB", Machine(processor="AMD EPYC 7", processors=64), False),
        ("2 cores of an AMD EPYC, 24 GiB", machine(), False),
    ],
)
def test_card_power_and_system_must_be_the_same(card: str, where: Machine, fits: bool) -> None:
    """A figure of another machine makes a fast one look slow."""
    assert (published([row(card)], where) is not None) == fits


def test_a_row_of_other_settings_is_not_taken() -> None:
    """The preset is served as it is."""
    assert published([row("RTX 3090", case="max_model_len=8192")], machine()) is None


def test_a_stated_power_limit_goes_first() -> None:
    """It is the nearer one."""
    rows = [row("RTX 3090, Linux", 90.0), row("RTX 3090 at 350 W, Linux", 110.0)]

    found = published(rows, machine())

    assert found is not None
    assert (found.decode_tokens_per_s, found.power_w) == (110.0, 350.0)


def test_a_power_limit_in_the_note_counts() -> None:
    """`at 250 W` stands there in one preset."""
    note = row("RTX 3090, Linux", note="at 250 W")

    assert published([note], machine()) is None
    assert published([note], machine(power_w=250.0)) is not None


def test_tokens_per_step_may_stand_in_a_row_of_their_own() -> None:
    """Then the step time is computed from both, and said to be."""
    rows = [row("RTX 3090, Linux"), row("RTX 3090, Linux", None, tokens_per_step=4.0)]

    found = published(rows, machine())

    assert found is not None
    assert found.step_s == pytest.approx(0.04)
    assert found.steps_of is SpeedSteps.COMPUTED
    same = published([row("RTX 3090, Linux", tokens_per_step=5.0)], machine())
    assert same is not None
    assert same.step_s == pytest.approx(0.05)
    assert same.steps_of is SpeedSteps.FIGURE


def test_tokens_per_step_of_another_version_are_not_taken() -> None:
    """They were measured with other prompts, and are not to be compared."""
    rows = [
        row("RTX 3090, Linux", pin="vLLM 0.27.1"),
        row("RTX 3090, Linux", None, tokens_per_step=4.0, pin="vLLM 0.31.0"),
    ]

    found = published(rows, machine())

    assert found is not None
    assert found.tokens_per_step is found.step_s is None


def test_the_shipped_presets_have_figures_for_the_cards_that_they_name(tmp_path: object) -> None:
    """Their rows are read as they were meant."""
    store = PresetStore(Paths(home=bundled_root() / "none", catalogue=bundled_root()))
    rows = store.get("27b-dflash2").expected

    found = published(rows, machine(power_w=250.0))
    assert found is not None
    assert found.decode_tokens_per_s == 121.8
    assert published(rows, machine(power_w=350.0)) is None
