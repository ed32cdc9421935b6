"""Error card and secret card."""

from PySide6.QtWidgets import QAbstractButton, QLabel
from pytestqt.qtbot import QtBot

from studio.ui.state import Secret
from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.keys import secret_view
from studio.ui.viewmodels.problem import Remedy, problem_view
from studio.ui.widgets.cards import ProblemCard, SecretCard
from tests.ui.fake_service import BASE_URL, BOOT_FAILED, CONSENT, PORT_TAKEN


def buttons(card: ProblemCard) -> list[str]:
    """Return the texts of the buttons that can be seen."""
    found = card.findChildren(QAbstractButton)
    return [item.text() for item in found if item.isVisibleTo(card) and item.text()]


def test_a_card_shows_one_problem_after_another(qtbot: QtBot, look: Look) -> None:
    """The buttons of the last problem must not act on this one."""
    card = ProblemCard(look, "problem")
    qtbot.addWidget(card)

    card.show_problem(problem_view(PORT_TAKEN))
    assert buttons(card) == ["Use port 18021", "Try again", "Copy report"]
    card.show_problem(problem_view(CONSENT))
    assert buttons(card) == ["Yes, download 17.30 GiB"]
    assert card.property("kind") == "question"
    card.show_problem(None)
    assert card.isHidden()


def test_a_theme_change_after_a_problem_is_harmless(qtbot: QtBot, look: Look) -> None:
    """Buttons that are gone must not be tinted: that raised once."""
    card = ProblemCard(look, "problem")
    qtbot.addWidget(card)
    card.show_problem(problem_view(PORT_TAKEN))
    gone = card.findChild(QAbstractButton, "problem-copy")
    assert gone is not None
    with qtbot.waitSignal(gone.destroyed):
        card.show_problem(problem_view(CONSENT))

    look.choose(ThemeChoice.LIGHT)

    assert buttons(card) == ["Yes, download 17.30 GiB"]


def test_a_button_says_which_remedy_was_chosen(qtbot: QtBot, look: Look) -> None:
    """The card acts through its owner."""
    card = ProblemCard(look, "problem")
    qtbot.addWidget(card)
    card.show_problem(problem_view(PORT_TAKEN))
    button = card.findChild(QAbstractButton, "problem-take-port")
    assert button is not None

    with qtbot.waitSignal(card.chosen) as chosen:
        button.click()

    assert chosen.args == [Remedy.TAKE_PORT]


def test_evidence_is_folded_again_for_the_next_problem(qtbot: QtBot, look: Look) -> None:
    """Calm first, proof on request."""
    card = ProblemCard(look, "problem")
    qtbot.addWidget(card)
    card.show_problem(problem_view(BOOT_FAILED))
    card.unfold()
    evidence = card.findChild(QLabel, "problem-evidence")
    assert evidence is not None

    card.show_problem(problem_view(PORT_TAKEN))
    card.show_problem(problem_view(BOOT_FAILED))

    assert evidence.isHidden()


def test_a_dismissed_secret_is_nowhere_in_the_card(qtbot: QtBot, look: Look) -> None:
    """Shown once means once."""
    card = SecretCard(look, "secret")
    qtbot.addWidget(card)
    card.show_secret(secret_view(Secret(key="weir-secret", name="Zed"), BASE_URL))
    label = card.findChild(QLabel, "secret-key")
    assert label is not None
    assert label.text() == "weir-secret"

    card.show_secret(None)

    assert label.text() == ""
    assert card.isHidden()
