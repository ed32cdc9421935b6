"""The use of keys as a card."""

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.domain.keys import UsageBy
from studio.ui.theme import Look
from studio.ui.viewmodels.usage import usage_lines
from studio.ui.widgets.usage_card import UsageCard
from tests.ui.fake_keys import usage_row


def test_span_key_and_rows_are_chosen_and_a_key_that_is_gone_is_not(
    qtbot: QtBot, look: Look
) -> None:
    """Each choice is told, so that it is asked for."""
    card = UsageCard(look)
    qtbot.addWidget(card)
    card.show()
    told: list[object] = []
    card.changed.connect(lambda: told.append((card.days, card.by, card.chosen)))
    card.show_keys((("k1", "A"), ("k2", "B")))
    assert told == []

    card.key.setCurrentIndex(2)
    card.spans.button("90d").click()
    card.kinds.button("model").click()
    card.show_keys((("k1", "A"),))

    assert told == [
        (30, UsageBy.KEY, "k2"),
        (90, UsageBy.KEY, "k2"),
        (90, UsageBy.MODEL, "k2"),
    ]
    assert card.chosen == ""


def test_the_table_takes_the_room_of_its_rows_up_to_a_bound(qtbot: QtBot, look: Look) -> None:
    """Sixty keys do not push everything else off the page."""
    card = UsageCard(look)
    qtbot.addWidget(card)
    card.show()
    table = card.tables[UsageBy.KEY]

    card.show_use((), usage_lines([usage_row("k", "A", 10)]))
    small = table.height()
    card.show_use((), usage_lines([usage_row(f"k{n}", "A", 10) for n in range(60)]))
    assert small < 80 < table.height() < 400
    card.show_use((), ())

    assert table.isHidden()


def test_nothing_is_claimed_of_a_use_that_was_not_read_yet(qtbot: QtBot, look: Look) -> None:
    """On a slow service “no key was used” would be wrong for two seconds."""
    card = UsageCard(look)
    qtbot.addWidget(card)
    said = card.findChild(QLabel, "usage-said")
    assert said is not None
    card.show_use((), (), unread="Reading…")
    assert said.text() == "Reading…"

    card.show_use((), ())

    assert said.text() == "No key was used in this time."
