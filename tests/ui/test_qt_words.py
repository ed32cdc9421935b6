"""Qt's own words in the window's language."""

from PySide6.QtCore import QCoreApplication

from studio.ui.language import LANGUAGES, SOURCE
from studio.ui.qt_words import QtWords


def test_qt_speaks_every_language_of_the_window_and_english_again(qapp: object) -> None:
    """A language whose words Qt does not bring along would be half English."""
    words = QtWords()

    def said() -> str:
        return QCoreApplication.translate("QWidgetTextControl", "Select All")

    for language in LANGUAGES:
        words.speak(language)
        assert (said() == "Select All") is (language == SOURCE)
    words.speak(SOURCE)
    assert said() == "Select All"
