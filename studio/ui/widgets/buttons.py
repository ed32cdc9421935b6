"""Buttons: icons that follow the theme, text from a view, and one that copies."""

from PySide6.QtCore import QObject, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QAbstractButton, QPushButton, QToolButton

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.words import COPIED, COPY, ButtonView

_COPIED_MS = 1_500
_ICON = 18


class _Tinted(QObject):
    """An icon on a button, tinted again when the theme changes; it goes when the button goes."""

    def __init__(self, look: Look, button: QAbstractButton, name: str, colour: str) -> None:
        super().__init__(button)
        self._look = look
        self._button = button
        self.name = name
        self._colour = colour
        button.setIconSize(QSize(_ICON, _ICON))
        look.changed.connect(self.tint)
        self.tint()

    def use(self, name: str) -> None:
        """Show another icon."""
        if name != self.name:
            self.name = name
            self.tint()

    def tint(self) -> None:
        """Draw the icon in the colours of now."""
        icon = QIcon(self._look.icons.icon(self.name, self._look.colour(self._colour), _ICON))
        faded = self._look.icons.icon(self.name, self._look.resting(), _ICON)
        icon.addPixmap(faded.pixmap(_ICON, _ICON), QIcon.Mode.Disabled)
        self._button.setIcon(icon)


class Button(QPushButton):
    """A button with words, and an icon where one helps."""

    def __init__(
        self, look: Look, name: str, text: str = "", *, kind: str = "", icon: str | None = None
    ) -> None:
        super().__init__(text)
        self.setObjectName(name)
        self.setProperty("kind", kind)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        colour = {"primary": "on_primary", "harm": "harm", "plain": "quiet"}.get(kind, "ink")
        self._icon = _Tinted(look, self, icon, colour) if icon else None
        self._compact = False
        self._shown_words = text

    def show_view(self, view: ButtonView) -> None:
        """Show text, tooltip, enabledness and visibility of `view`."""
        self.show_words(view.text)
        if self.toolTip() != view.tooltip:
            self.setToolTip(view.tooltip)
        if self.isEnabled() != view.enabled:
            self.setEnabled(view.enabled)
        if self.isHidden() == view.visible:
            self.setVisible(view.visible)

    def show_words(self, words: str) -> None:
        """Show `words`, or keep them for screen readers while only the icon is shown."""
        self._shown_words = words
        shown = "" if self._compact else words.replace("&", "&&")  # names have it, no key is meant
        if self.text() != shown:
            self.setText(shown)
        if self.accessibleName() != words:
            self.setAccessibleName(words)

    def words_width(self) -> int:
        """Return the room that the icon alone would save."""
        return self.fontMetrics().horizontalAdvance(f" {self._shown_words}")

    @property
    def is_compact(self) -> bool:
        """Tell whether only the icon is shown."""
        return self._compact

    def be_compact(self, compact: bool) -> None:
        """Show the icon alone, or icon and words."""
        self._compact = compact
        self.show_words(self._shown_words)

    def use_icon(self, name: str) -> None:
        """Show another icon."""
        if self._icon is not None:
            self._icon.use(name)


class IconButton(QToolButton):
    """A button that is an icon; its words are the tooltip and the accessible name."""

    def __init__(self, look: Look, name: str, icon: str, words: str, *, key: str = "") -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(words)
        self.setToolTip(words)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        if key:
            self.setShortcut(key)
        self._icon = _Tinted(look, self, icon, "ink")

    def use_icon(self, name: str) -> None:
        """Show another icon."""
        self._icon.use(name)


class CopyButton(Button):
    """Copies one text, and says so for a moment."""

    def __init__(self, look: Look, name: str, text: str = "", *, kind: str = "") -> None:
        words = text or t(COPY)
        super().__init__(look, name, words, kind=kind, icon="copy")
        self._words = words
        self._what = ""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_COPIED_MS)
        self._timer.timeout.connect(self._on_over)
        self.clicked.connect(self.copy)

    def offer(self, text: str) -> None:
        """Say what is copied; nothing to copy disables the button."""
        self._what = text
        self.setEnabled(bool(text))

    def copy(self) -> None:
        """Put the text on the clipboard."""
        if self._what:
            QGuiApplication.clipboard().setText(self._what)
            self.use_icon("check")
            self.show_words(t(COPIED))
            self._timer.start()

    def _on_over(self) -> None:
        self.use_icon("copy")
        self.show_words(self._words)
