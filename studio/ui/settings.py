"""What the window remembers between starts: `window.ini` in the Studio's folder."""

from pathlib import Path

import msgspec
from PySide6.QtCore import QByteArray, QSettings

from studio.ui.language import LANGUAGES
from studio.ui.motion import MotionChoice
from studio.ui.theme import ThemeChoice

FILE_NAME = "window.ini"


class WindowSettings:
    """Theme, frame, rail and manners; values that make no sense read as never set."""

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

    @property
    def charts(self) -> dict[str, bool]:
        """Return which charts of the monitor a person showed or hid, by their ids."""
        try:
            return msgspec.json.decode(str(self._store.value("charts", "{}")), type=dict[str, bool])
        except msgspec.DecodeError:
            return {}

    @charts.setter
    def charts(self, value: dict[str, bool]) -> None:
        self._store.setValue("charts", msgspec.json.encode(value).decode())

    @property
    def span(self) -> str | None:
        """Return how far back the monitor looked last."""
        value = self._store.value("span")
        return None if value is None else str(value)

    @span.setter
    def span(self, value: str) -> None:
        self._store.setValue("span", value)

    @property
    def motion(self) -> MotionChoice:
        """Return how much may move; the system's wish unless chosen otherwise."""
        try:
            return MotionChoice(str(self._store.value("motion", MotionChoice.SYSTEM.value)))
        except ValueError:
            return MotionChoice.SYSTEM

    @motion.setter
    def motion(self, choice: MotionChoice) -> None:
        self._store.setValue("motion", choice.value)

    @property
    def notifies(self) -> bool:
        """Return whether the desktop is told when an engine is ready, failed or spills."""
        return self._flag("notifies", default=True)

    @notifies.setter
    def notifies(self, value: bool) -> None:
        self._store.setValue("notifies", value)

    @property
    def told_version(self) -> str | None:
        """Return the newer version of the Studio that the desktop was told of."""
        value = self._store.value("told_version")
        return None if value is None else str(value)

    @told_version.setter
    def told_version(self, value: str) -> None:
        self._store.setValue("told_version", value)

    @property
    def to_tray(self) -> bool:
        """Return whether closing puts the window into the tray, where there is one."""
        return self._flag("to_tray", default=True)

    @to_tray.setter
    def to_tray(self, value: bool) -> None:
        self._store.setValue("to_tray", value)

    @property
    def tray_is_explained(self) -> bool:
        """Return whether a person knows where a closed window goes."""
        return self._flag("tray_is_explained", default=False)

    @tray_is_explained.setter
    def tray_is_explained(self, value: bool) -> None:
        self._store.setValue("tray_is_explained", value)

    def _flag(self, name: str, *, default: bool) -> bool:
        """Return a yes or no; any other word is the default."""
        word = str(self._store.value(name, default)).lower()
        return word == "true" if word in ("true", "false") else default

    def save(self) -> None:
        """Write to the disk now."""
        self._store.sync()
