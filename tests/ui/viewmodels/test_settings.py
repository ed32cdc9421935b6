"""What every part of the settings page has in common."""

import msgspec
import pytest

from studio.domain.errors import ErrorInfo
from studio.ui.viewmodels.settings import (
    CardView,
    Machine,
    RowView,
    Section,
    asks_consent,
    fact,
    section_view,
    section_words,
    switch,
)

CARD = CardView(id="one", title="One", rows=(switch("a.b", "B", is_on=True), fact("a.c", "C", "c")))
REFUSED = ErrorInfo(code="setting-value", message="It cannot be so.", hint="Write it so.")
EXPOSED = ErrorInfo(code="gateway-exposed", message="Everybody could.", hint="Say `--expose`.")


def row(machine: Machine, *, needs_service: bool = True) -> RowView:
    """Return the first setting of a section as it is shown."""
    view = section_view(Section.ENGINE, machine, (CARD,), needs_service=needs_service)
    return view.cards[0].rows[0]


def test_a_setting_rests_while_the_service_is_away_or_takes_it_up() -> None:
    """A press that nobody hears, or one too many, is worse than a grey switch."""
    live = Machine(is_live=True)

    assert row(live).is_enabled
    assert not row(Machine()).is_enabled
    assert not row(msgspec.structs.replace(live, pending=frozenset({"a.b"}))).is_enabled
    assert row(Machine(), needs_service=False).is_enabled


def test_a_refusal_stands_below_its_setting_with_what_to_do() -> None:
    """Nobody looks for it elsewhere."""
    shown = row(Machine(is_live=True, problems={"a.b": REFUSED, "other": EXPOSED})).problem

    assert shown is not None
    assert shown.text == "It cannot be so. Write it so."
    assert (shown.code, shown.consent) == ("setting-value", "")


def test_a_question_gets_a_button_in_place_of_the_hint_about_an_option() -> None:
    """`--expose` is no word of a window."""
    shown = row(Machine(is_live=True, problems={"a.b": EXPOSED})).problem

    assert shown is not None
    assert shown.text == "Everybody could."
    assert shown.consent == "Yes, do it"


@pytest.mark.parametrize(
    ("code", "asks"),
    [("gateway-exposed", True), ("unit-edited", True), ("proxy-invalid", False)],
)
def test_only_questions_are_answered_by_a_yes(code: str, *, asks: bool) -> None:
    """A yes to a mistake would send the mistake again."""
    assert asks_consent(ErrorInfo(code=code, message="")) is asks


def test_an_empty_section_says_why() -> None:
    """Half a page of nothing reads as a fault of the window."""
    waiting = section_view(Section.NETWORK, Machine(is_live=True), ())
    away = section_view(Section.NETWORK, Machine(), ())

    assert waiting.empty == "Asking the service."
    assert away.empty.startswith("The service does not answer yet")


@pytest.mark.parametrize("section", list(Section))
def test_every_section_has_a_name_and_says_what_it_is_about(section: Section) -> None:
    """One that is not in the table would take the page down."""
    words = section_words(section)

    assert words.text
    assert words.tooltip.endswith(".")
