"""Entries of a list."""

from studio.ui.viewmodels.picks import PickView
from studio.ui.viewmodels.words import Role, Shape


def test_a_screen_reader_hears_the_state_too() -> None:
    """The sign beside it cannot be heard."""
    view = PickView(
        id="a", group="Here", title="vLLM", detail="Damaged", shape=Shape.CROSS, role=Role.HARM
    )

    assert view.spoken == "vLLM, Damaged"
