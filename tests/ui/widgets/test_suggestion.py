"""Presets that fit, side by side."""

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.welcome import SuggestionView
from studio.ui.viewmodels.words import Role, Shape, Text
from studio.ui.widgets.suggestion import Suggestion, Suggestions

ONE = SuggestionView(
    id="a", title="Chat", summary="For one.", verdict="Fits this machine", role=Role.OK,
    shape=Shape.TICK, figures=(("Pool", Text(text="68,605 tokens")),), chosen=True,
    spoken="Chat. For one.",
)  # fmt: skip
TWO = msgspec.structs.replace(ONE, id="b", title="Long", chosen=False)


def test_a_press_and_the_arrow_keys_choose(qtbot: QtBot, look: Look) -> None:
    """Cards are kept, so that the focus stays when a figure comes in."""
    row = Suggestions(look)
    qtbot.addWidget(row)
    row.show_views((ONE, TWO))
    row.show()
    cards = row.findChildren(Suggestion)
    chosen: list[str] = []
    row.chosen.connect(chosen.append)

    qtbot.mouseClick(cards[1], Qt.MouseButton.LeftButton)
    row.show_views((msgspec.structs.replace(ONE, chosen=False), TWO))

    assert chosen == ["b"]
    assert row.findChildren(Suggestion) == cards
    assert cards[0].accessibleName() == "Chat. For one."


def test_a_card_is_as_tall_as_its_words_and_one_alone_is_not_stretched(
    qtbot: QtBot, look: Look
) -> None:
    """A narrow window wraps; a wide one keeps a card readable."""
    row = Suggestions(look)
    qtbot.addWidget(row)
    row.show_views((msgspec.structs.replace(ONE, summary="word " * 60),))
    row.resize(1_200, 400)
    row.show()
    card = row.findChild(Suggestion)
    assert card is not None

    assert card.width() <= 480
    assert card.heightForWidth(200) > card.heightForWidth(480)


def test_long_names_widen_nothing_and_no_figure_is_cut(qtbot: QtBot, look: Look) -> None:
    """A name without blanks pushed two cards aside and the page out of the window."""
    name = "Qwen3.8_27B_W4A16_AutoRound_with_a_name_that_nobody_ever_ended" * 2
    speed = (("Speed", Text(text="122 tok/s · RTX 3090 at 250 W")),)
    views = tuple(
        msgspec.structs.replace(ONE, id=one, title=title, summary=title, figures=speed)
        for one, title in (("a", "Chat"), ("b", name), ("c", "Long documents"))
    )
    row = Suggestions(look)
    qtbot.addWidget(row)
    row.show_views(views)
    row.resize(790, row.heightForWidth(790))
    row.show()
    row.grab()

    assert row.minimumSizeHint().width() <= 790
    widths = [card.width() for card in row.findChildren(Suggestion)]
    assert max(widths) - min(widths) <= 1
    for words in row.findChildren(QLabel):
        assert words.height() >= words.heightForWidth(words.width()), words.text()
