"""Labels."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.widgets.text import Elided, breakable, label, selectable, show_text, unquoted

LONG = "A preset whose name somebody made much longer than any window is wide " * 3


def test_a_long_text_is_cut_and_stands_whole_in_the_tooltip(
    qtbot: QtBot, qapp: QApplication, look: Look
) -> None:
    """Names are made by people."""
    made = Elided()
    qtbot.addWidget(made)
    made.resize(120, 20)
    with qtbot.waitExposed(made):
        made.show()
    made.show_text(LONG)
    qtbot.waitUntil(lambda: made.toolTip() == LONG)

    made.show_text("short")
    qtbot.waitUntil(lambda: made.toolTip() == "")
    made.show_text("short", "a reason")
    assert made.toolTip() == "a reason"
    assert made.minimumSizeHint().width() <= 48


def test_text_is_never_read_as_markup(qtbot: QtBot, look: Look) -> None:
    """A model name or a log line may hold anything, a picture from afar included."""
    hostile = "<img src=file:///etc/passwd><b>x</b>"
    made = label("body", hostile)
    qtbot.addWidget(made)

    assert made.textFormat() is Qt.TextFormat.PlainText
    assert made.text() == hostile


def test_selectable_text_has_a_name_and_keyboard(qtbot: QtBot, look: Look) -> None:
    """Keys and errors are copied by hand where the clipboard fails."""
    made = selectable("mono", "The new key")
    qtbot.addWidget(made)
    show_text(made, "weir-key", "hint")

    flags = made.textInteractionFlags()
    assert flags & Qt.TextInteractionFlag.TextSelectableByKeyboard
    assert made.accessibleName() == "The new key"
    assert made.toolTip() == "hint"


def test_commands_in_a_sentence_stand_without_their_marks() -> None:
    """Backticks are for terminals and documents."""
    assert unquoted("Say yes with `--tls`.") == "Say yes with --tls."
    assert unquoted("One ` alone.") == "One  alone."


def test_a_command_of_several_words_does_not_run_into_its_sentence(
    qtbot: QtBot, look: Look
) -> None:
    """“Compare that with weir runtime signers list on the machine" cannot be read."""
    said = "Compare that with `weir runtime signers list` on it, with `--json`."
    shown = "Compare that with “weir runtime signers list” on it, with --json."
    made = label("small", said)
    qtbot.addWidget(made)

    assert unquoted(said) == shown
    assert made.text() == shown
    assert unquoted(shown) == shown


def test_a_very_long_word_may_go_on_in_the_next_line(qtbot: QtBot, look: Look) -> None:
    """A page is as wide as the longest word on it; what can be copied stays as it is."""
    word = "Qwen3.8_27B_W4A16_AutoRound_with_a_name_that_nobody_ever_ended"
    made, copied = label(wrap=True), selectable("body", "Place")
    copied.setWordWrap(True)
    for one in (made, copied):
        qtbot.addWidget(one)
        show_text(one, word)

    assert made.minimumSizeHint().width() < made.fontMetrics().horizontalAdvance(word) / 2
    assert made.text().replace("\u200b", "") == word
    assert copied.text() == word
    assert breakable(
        "Short words, /home/ada/.cache/huggingface/hub and 一二三四五六七八九十" * 3
    ) == ("Short words, /home/ada/.cache/huggingface/hub and 一二三四五六七八九十" * 3)
