"""All settings: rows are kept, so that the focus stays; another kind of control is made anew."""

from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.knobs import knobs_view
from studio.ui.widgets.knob_list import KnobList
from tests.ui.fake_planning import recorded_detail

DETAIL = recorded_detail()


def test_rows_stay_the_same_widgets_while_values_change(qtbot: QtBot, look: Look) -> None:
    """A rebuilt row loses caret and focus at every key."""
    cards = KnobList(look)
    qtbot.addWidget(cards)
    cards.show_knobs(knobs_view(DETAIL, {}, unfolded=False), unfolded=False)
    before = cards.row("max_num_seqs")

    cards.show_knobs(knobs_view(DETAIL, {"max_num_seqs": "4"}, unfolded=False), unfolded=False)

    assert cards.row("max_num_seqs") is before


def test_the_fold_shows_the_rest_and_a_search_shows_what_matches(qtbot: QtBot, look: Look) -> None:
    """What does not match is hidden and not dropped."""
    cards = KnobList(look)
    qtbot.addWidget(cards)
    cards.show()
    cards.show_knobs(knobs_view(DETAIL, {}, unfolded=False), unfolded=False)
    assert cards.row("attention_backend") is None
    cards.show_knobs(knobs_view(DETAIL, {}, unfolded=True), unfolded=True)
    backend = cards.row("attention_backend")
    assert backend is not None
    assert backend.isVisible()

    view = knobs_view(DETAIL, {}, searched="context length", unfolded=True)
    cards.show_knobs(view, unfolded=True)

    assert not backend.isVisible()
    first = cards.row("max_model_len")
    assert first is not None
    assert first.isVisible()
