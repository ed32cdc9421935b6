"""What a published row was measured on, as its words say."""

import pytest

from studio.domain.manifests import Expected
from studio.domain.published import MeasuredOn, measured_on
from studio.domain.units import GIB
from studio.host.documents import read_toml
from studio.host.paths import bundled_root


def of(card: str | None, note: str | None = None) -> MeasuredOn:
    """Return what a row of these words was measured on."""
    return measured_on(Expected(card=card, note=note, source="somebody"))


@pytest.mark.parametrize(
    ("card", "note", "expected"),
    [
        ("RTX 3090, Linux", None, MeasuredOn(name="RTX 3090", system="Linux")),
        ("RTX 4090, WSL2", "at 250 W", MeasuredOn(name="RTX 4090", system="WSL2", power_w=250)),
        ("RTX 4090", "drops by 20 W", MeasuredOn(name="RTX 4090")),
        (
            "RTX 3090 at 250 W, Linux",
            None,
            MeasuredOn(name="RTX 3090", power_w=250, system="Linux"),
        ),
        (
            "2 × RTX 3060 12 GB, 130 W",
            None,
            MeasuredOn(name="RTX 3060", cards=2, memory_gib=12, power_w=130),
        ),
        (
            "2 × RTX 3090 with NVLink, 250 W",
            None,
            MeasuredOn(name="RTX 3090", cards=2, power_w=250),
        ),
        (
            "4 × V100-SXM2 32 GB, 62 GB of memory",
            None,
            MeasuredOn(name="V100-SXM2", cards=4, memory_gib=32),
        ),
        ("2 cores of an AMD EPYC, 24 GiB", None, MeasuredOn(name="AMD EPYC", cards=0, cores=2)),
        (None, None, MeasuredOn(name="")),
    ],
)
def test_words_are_read_as_they_were_meant(
    card: str | None, note: str | None, expected: MeasuredOn
) -> None:
    """A wrong reading compares a machine with another."""
    assert of(card, note) == expected


@pytest.mark.parametrize(
    ("card", "name", "gib", "is_it"),
    [
        ("RTX 3090, Linux", "NVIDIA GeForce RTX 3090", 24, True),
        ("RTX 3090, Linux", "NVIDIA GeForce RTX 3090 Ti", 24, False),
        ("RTX 4080 Super 32 GB, WSL2", "NVIDIA GeForce RTX 4080 SUPER", 32, True),
        ("RTX 4080 Super 32 GB, WSL2", "NVIDIA GeForce RTX 4080 SUPER", 16, False),
        ("RTX 4080 Super 32 GB, WSL2", "NVIDIA GeForce RTX 4080 SUPER", None, True),
        ("RTX 4090, WSL2", "NVIDIA GeForce RTX 4090 D", 24, False),
        ("4 × V100-SXM2 16 GB", "Tesla V100-SXM2-16GB", 16, True),
        ("2 cores of an AMD EPYC", "AMD EPYC", None, False),
        (None, "NVIDIA GeForce RTX 3090", 24, False),
    ],
)
def test_a_card_is_the_one_or_not(
    card: str | None, name: str, gib: int | None, *, is_it: bool
) -> None:
    """A Ti beside a plain card is a comparison that lies."""
    assert of(card).is_card(name, None if gib is None else gib * GIB) is is_it


def test_a_processor_needs_its_number_of_cores() -> None:
    """Two cores and sixty are not one machine."""
    two = of("2 cores of an AMD EPYC, 24 GiB")

    assert two.is_processor("AMD EPYC 7B13 64-Core Processor", 2)
    assert not two.is_processor("AMD EPYC 7B13 64-Core Processor", 64)
    assert not two.is_processor("Intel Xeon", 2)
    assert not two.is_processor(None, 2)
    assert not of("RTX 3090").is_processor("AMD EPYC", 1)


def test_every_shipped_row_names_a_machine() -> None:
    """One that nobody can read is one that nobody is compared with."""
    presets = (bundled_root() / "presets").glob("*.toml")
    rows = [row for path in presets for row in read_toml(path, dict).get("expected", [])]

    assert len(rows) > 20
    assert all(of(row["card"], row.get("note")).name for row in rows if "card" in row)
