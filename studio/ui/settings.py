"""What the window remembers between starts: `window.ini` in the Studio's folder."""

from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

from studio.ui.language import LANGUAGES
from studio.ui.theme import ThemeChoice

FILE_NAME = "window.ini"


class WindowSettings:
    """Theme, frame and rail; values that make no sense read as never set."""

    def __init__(self, home: Path) -> None:
        self._store = QSettings(str(home / FILE_NAME), QSettings.Format.IniFormat)

    @property
    def theme(self) -> ThemeChoice:
        """Return the chosen theme; the system's unless chosen otherwise."""
        try:
            return ThemeChoice(str(self._store.value("theme", ThemeChoice.SYSTEM.value)))
        except ValueError:
            return ThemeChoice.SYSTEM

    @theme.setter
    def theme(self, choice: ThemeChoice) -> None:
        self._store.setValue("theme", choice.value)

    @property
    def language(self) -> str | None:
        """Return the chosen language; None is the system's."""
        value = self._store.value("language")
        return str(value) if value in LANGUAGES else None

    @language.setter
    def language(self, value: str | None) -> None:
        self._store.setValue("language", value or "")

    @property
    def geometry(self) -> QByteArray | None:
        """Return the frame as the window left it."""
        value = self._store.value("geometry")
        return value if isinstance(value, QByteArray) and not value.isEmpty() else None

    @geometry.setter
    def geometry(self, value: QByteArray) -> None:
        self._store.setValue("geometry", value)

    @property
    def rail_collapsed(self) -> bool | None:
        """Return whether the rail shows icons only; None lets the width decide."""
        value = self._store.value("rail_collapsed")
        return None if value is None else str(value).lower() == "true"

    @rail_collapsed.setter
    def rail_collapsed(self, value: bool) -> None:
        self._store.setValue("rail_collapsed", value)

    def save(self) -> None:
        """Write to the disk now."""
        self._store.sync()
