"""What checks ask of recipes and cards."""

import pytest

from studio.doctor.verdicts import is_lost, is_made_for, is_whole, label, listed, version, wanted
from tests.doctor.cases import CU13, RECIPES, SM70, card, host


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("580.95.05", (580, 95, 5)), ("13.0", (13, 0)), ("2.36-9", (2,)), ("", ()), ("x", ())],
)
def test_versions_are_compared_by_numbers(text: str, numbers: tuple[int, ...]) -> None:
    """As text 9 is newer than 10."""
    assert version(text) == numbers


def test_runtimes_are_wanted_for_the_cards_that_are_there() -> None:
    """The driver floor of another card's runtime is nobody's business."""
    assert tuple(recipe.name for recipe in wanted(host(), RECIPES)) == CU13
    assert tuple(recipe.name for recipe in wanted(host("v100-16x4-linux"), RECIPES)) == SM70
    assert wanted(host("none-linux"), RECIPES) == []


def test_a_card_of_unknown_capability_is_for_anything() -> None:
    """Unknown never counts against it."""
    unknown = card(compute_capability=None)

    assert all(is_made_for(recipe, unknown) for recipe in RECIPES if recipe.needs.gpu)


def test_a_card_is_whole_unless_split_forbidden_or_lost() -> None:
    """Only whole ones are given to an engine."""
    assert is_whole(card())
    assert not is_whole(card(mig_enabled=True))
    assert not is_whole(card(compute_mode="prohibited"))
    assert is_whole(card(faults=("Unknown Error",)))
    assert is_lost(card(faults=("GPU is lost",), total_bytes=None))


def test_words_are_listed_as_people_write() -> None:
    """One, two, many."""
    assert listed(()) == ""
    assert listed(("a",)) == "a"
    assert listed(("a", "b")) == "a and b"
    assert listed(("a", "b", "c")) == "a, b and c"
    assert label(card(), "memory") == "Card 0 memory"
