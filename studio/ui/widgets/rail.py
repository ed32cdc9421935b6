"""The rail of pages on the left: icon and word, or the icon alone."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QFrame, QToolButton, QVBoxLayout

from studio.ui.language import t
from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.frame import PageId, page_words, theme_words
from studio.ui.viewmodels.words import COLLAPSE, Text
from studio.ui.widgets.text import Elided

_THEME_ICONS = {
    ThemeChoice.SYSTEM: "system",
    ThemeChoice.DARK: "moon",
    ThemeChoice.LIGHT: "sun",
}


_ICONS = {"collapse": "rail", "theme": "system", "newer": "save"}
"""Of entries that are no page; a page's icon bears its name."""
_BESIDE = "  "
"""Sets the word apart from the icon; style sheets have no property for that gap."""


class Rail(QFrame):
    """Signals: `page_chosen` (PageId), `newer_asked`, `theme_asked`, `collapse_asked`."""

    page_chosen = Signal(object)
    newer_asked = Signal()
    theme_asked = Signal()
    collapse_asked = Signal()

    def __init__(self, look: Look, pages: tuple[PageId, ...]) -> None:
        super().__init__()
        self.setObjectName("rail")
        self._look = look
        self._collapsed = False
        self._group = QButtonGroup(self)
        self._group.buttonClicked.connect(self._on_page)
        self._pages = {page: self._entry(page.value, page_words(page)) for page in pages}
        self._newer = self._entry("newer", Text(text=""))
        self._newer.clicked.connect(self.newer_asked)
        self._newer.hide()
        self._theme = self._entry("theme", theme_words("system"))
        self._theme.clicked.connect(self.theme_asked)
        self._collapse = self._entry("collapse", Text(text=t("Collapse"), tooltip=t(COLLAPSE)))
        self._collapse.clicked.connect(self.collapse_asked)
        self._version = Elided("small")
        self._version.setObjectName("version")
        self._lay_out()
        look.changed.connect(self._tint)
        self._tint()

    @property
    def collapsed(self) -> bool:
        """Tell whether only icons are shown."""
        return self._collapsed

    def mark(self, page: PageId) -> None:
        """Mark the page that is shown."""
        had_focus = any(entry.hasFocus() for entry in self._pages.values())
        self._pages[page].setChecked(True)
        if had_focus:  # the mark and the ring would lie on two pages
            self._pages[page].setFocus()
        self._tint()

    def collapse(self, collapsed: bool) -> None:
        """Show icons only, or icons and words."""
        self._collapsed = collapsed
        self.setFixedWidth(self._look.space("rail_collapsed" if collapsed else "rail"))
        style = (
            Qt.ToolButtonStyle.ToolButtonIconOnly
            if collapsed
            else Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        )
        for button in self._entries():
            button.setToolButtonStyle(style)
        self._version.setVisible(not collapsed)

    def show_theme(self, choice: ThemeChoice) -> None:
        """Show which theme is chosen."""
        words = theme_words(choice.value)
        self._theme.setText(f"{_BESIDE}{words.text}")
        self._theme.setToolTip(words.tooltip)
        self._theme.setAccessibleName(words.tooltip)
        self._theme.setProperty("icon-name", _THEME_ICONS[choice])
        self._tint()

    def show_newer(self, words: Text | None) -> None:
        """Say that a newer version of the Studio is there, or nothing."""
        self._newer.setVisible(words is not None)
        if words is not None:
            self._newer.setText(f"{_BESIDE}{words.text}")
            self._newer.setToolTip(words.tooltip)
            self._newer.setAccessibleName(words.tooltip)

    def show_version(self, version: Text) -> None:
        """Show the service's version."""
        self._version.show_text(version.text, version.tooltip)

    def _entry(self, name: str, words: Text) -> QToolButton:
        button = QToolButton()
        button.setObjectName(f"rail-{name}")
        button.setProperty("kind", "rail")
        button.setProperty("icon-name", _ICONS.get(name, name))
        button.setText(f"{_BESIDE}{words.text}")
        button.setToolTip(words.tooltip)
        button.setAccessibleName(words.text)
        button.setAccessibleDescription(words.tooltip)
        button.setIconSize(QSize(20, 20))
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def _lay_out(self) -> None:
        step = self._look.space("step")
        column = QVBoxLayout(self)
        column.setContentsMargins(step * 2, step * 3, step * 2 + 1, step * 3)
        column.setSpacing(step)
        for button in self._pages.values():
            button.setCheckable(True)
            self._group.addButton(button)
        for button in self._entries():
            policy = button.sizePolicy()
            policy.setHorizontalPolicy(policy.Policy.Expanding)
            button.setSizePolicy(policy)
        for button in self._pages.values():
            column.addWidget(button)
        column.addStretch(1)
        column.addWidget(self._newer)
        column.addWidget(self._theme)
        column.addWidget(self._collapse)
        foot = QVBoxLayout()
        foot.setContentsMargins(step * 4 + 1, step, 0, 0)
        foot.addWidget(self._version)
        column.addLayout(foot)

    def _entries(self) -> tuple[QToolButton, ...]:
        return (*self._pages.values(), self._newer, self._theme, self._collapse)

    def _tint(self) -> None:
        for button in self._entries():
            is_news = button.isChecked() or button is self._newer
            colour = self._look.colour("water" if is_news else "quiet")
            button.setIcon(self._look.icons.icon(str(button.property("icon-name")), colour))

    def _on_page(self, button: QAbstractButton) -> None:
        page = next(page for page, entry in self._pages.items() if entry is button)
        self._tint()
        self.page_chosen.emit(page)
