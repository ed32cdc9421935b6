"""The settings that are the window's own: kept by it, carried out by it."""

from studio.ui.desk import Desk
from studio.ui.motion import MotionChoice
from studio.ui.theme import ThemeChoice
from studio.ui.viewmodels.settings import ON, Edit, WindowChoices
from studio.ui.viewmodels.settings_window import SYSTEM


class WindowPart:
    """Reads and keeps what stands in `window.ini`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def choices(self, *, has_tray: bool) -> WindowChoices:
        """Return what holds."""
        settings = self._desk.settings
        return WindowChoices(
            language=settings.language,
            theme=self._desk.look.choice.value,
            motion=settings.motion.value,
            notifies=settings.notifies,
            to_tray=settings.to_tray,
            has_tray=has_tray,
            system_is_reduced=self._desk.look.motion.system_is_reduced,
        )

    def takes(self, edit: Edit) -> bool:
        """Carry a wish out, if it is the window's; tell whether it was."""
        settings, guide = self._desk.settings, self._desk.guide
        match edit.row:
            case "window.language":
                settings.language = None if edit.value == SYSTEM else edit.value
                settings.save()
                guide.language_asked.emit(settings.language)
                return True
            case "window.theme":
                guide.theme_asked.emit(ThemeChoice(edit.value))
                return True
            case "window.motion":
                settings.motion = MotionChoice(edit.value)
            case "window.notifies":
                settings.notifies = edit.value == ON
            case "window.to-tray":
                settings.to_tray = edit.value == ON
            case _:
                return False
        settings.save()
        guide.manners_changed.emit()
        return True
