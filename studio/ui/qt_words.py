"""Qt's own words in the language of the window: menus of text fields, its dialogs for files.

Qt brings them along (`qtbase_zh_CN.qm`), and loads none by itself.
"""

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QObject, QTranslator

from studio.ui.language import SOURCE


class QtWords(QObject):
    """Held as long as the application lives: a translator that is gone says nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._translator = QTranslator(self)

    def speak(self, language: str) -> None:
        """Use `language` from now on; English is what stands in Qt's code."""
        QCoreApplication.removeTranslator(self._translator)
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        if language != SOURCE and self._translator.load(f"qtbase_{language}", folder):
            QCoreApplication.installTranslator(self._translator)
