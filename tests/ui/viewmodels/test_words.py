"""Words and the splitting of numbers."""

import pytest

from studio.domain.server import BootPhase
from studio.ui.viewmodels.words import PHASE_WORDS, number, number_and_unit, plural


def test_every_boot_phase_has_words() -> None:
    """A phase without words would be a crash in the middle of a boot."""
    assert set(PHASE_WORDS) == set(BootPhase)


@pytest.mark.parametrize(
    ("text", "parts"),
    [("68,605 tokens", ("68,605", "tokens")), ("0 B", ("0", "B")), ("–", ("–", ""))],
)
def test_a_number_and_its_unit_come_apart(text: str, parts: tuple[str, str]) -> None:
    """Big figure, small unit; an unknown has none."""
    assert number_and_unit(text) == parts
    assert number(text) == parts[0]


def test_one_is_not_many() -> None:
    """`1 keys` reads like a machine."""
    assert plural(1, "key", "keys") == "1 key"
    assert plural(1_200, "key", "keys") == "1,200 keys"
