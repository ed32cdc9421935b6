"""The look: tokens from `assets/tokens.toml` as colours, fonts, palette and style sheet.

Widgets and painters ask the one `Look` that they are handed; nothing else holds a colour, a size or
a font name. A change of theme is announced once, by `Look.changed`.
"""

import enum
import string
import tomllib
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Qt, QTemporaryDir, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from studio.ui.icons import Icons

_IMAGES = {
    "down": "quiet",
    "up": "quiet",
    "right": "quiet",
    "check": "on_primary",
    "dash": "on_primary",
}
"""Icons that the style sheet shows, and their colours."""


class ThemeChoice(enum.StrEnum):
    """What the person chose."""

    SYSTEM = "system"
    DARK = "dark"
    LIGHT = "light"


class Tokens(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`assets/tokens.toml`: lengths in logical pixels, shares as opacity of ink."""

    type: dict[str, int | str]
    space: dict[str, int]
    share: dict[str, float]
    stroke: dict[str, float]
    dark: dict[str, str]
    light: dict[str, str]


def read_tokens(assets: Path) -> Tokens:
    """Return the tokens of the bundled assets; a fault there is a fault of the build."""
    raw = tomllib.loads((assets / "tokens.toml").read_text(encoding="utf-8"))
    return msgspec.convert(raw, Tokens)


def blend(front: QColor, back: QColor, share: float) -> QColor:
    """Return `front` laid over `back` at the opacity `share`."""
    return QColor(
        round(front.red() * share + back.red() * (1 - share)),
        round(front.green() * share + back.green() * (1 - share)),
        round(front.blue() * share + back.blue() * (1 - share)),
    )


class Look(QObject):
    """The current theme. Signals: `changed` after colours were exchanged."""

    changed = Signal()

    def __init__(self, application: QApplication, assets: Path, choice: ThemeChoice) -> None:
        super().__init__()
        self._application = application
        self._template = string.Template((assets / "style.qss").read_text(encoding="utf-8"))
        self.tokens = read_tokens(assets)
        self.choice = choice
        for font in sorted((assets / "fonts").glob("*.woff2")):
            QFontDatabase.addApplicationFont(str(font))
        self.icons = Icons(assets / "icons")
        self._pictures = QTemporaryDir()
        """For the style sheet, which takes pictures from files; goes with this object."""
        application.setStyle("Fusion")
        application.setFont(self.font("body"))
        self._apply()
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system_changed)

    @property
    def is_dark(self) -> bool:
        """Tell whether the dark colours are shown; a desktop that does not say gets dark."""
        if self.choice is not ThemeChoice.SYSTEM:
            return self.choice is ThemeChoice.DARK
        return QGuiApplication.styleHints().colorScheme() is not Qt.ColorScheme.Light

    def choose(self, choice: ThemeChoice) -> None:
        """Show another theme from now on."""
        before = self.is_dark
        self.choice = choice
        if self.is_dark is not before:
            self._apply()
        self.changed.emit()

    def colour(self, name: str, share: float = 1.0) -> QColor:
        """Return the colour `name` of the current theme at the opacity `share`."""
        colour = QColor(self._colours[name])
        colour.setAlphaF(share)
        return colour

    def font(self, size: str = "body", *, weight: int = 400, mono: bool = False) -> QFont:
        """Return the bundled font at the size token `size`; figures are tabular."""
        font = QFont(str(self.tokens.type["mono_family" if mono else "family"]))
        font.setPixelSize(int(self.tokens.type[size]))
        font.setWeight(QFont.Weight(weight))
        font.setFeature(QFont.Tag("tnum"), 1)
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        if mono:
            font.setStyleHint(QFont.StyleHint.Monospace)
        return font

    def space(self, name: str) -> int:
        """Return a length token in logical pixels."""
        return self.tokens.space[name]

    def _on_system_changed(self) -> None:
        if self.choice is ThemeChoice.SYSTEM:
            self._apply()
            self.changed.emit()

    def _apply(self) -> None:
        self._colours = self.tokens.dark if self.is_dark else self.tokens.light
        self._application.setPalette(self._palette())
        self._application.setStyleSheet(self._template.substitute(self._sheet_values()))

    def _sheet_values(self) -> dict[str, object]:
        ink, ground = self.colour("ink"), self.colour("ground")
        raised, water = self.colour("raised"), self.colour("water")
        share = self.tokens.share
        return {
            **self._colours,
            **self.tokens.type,
            **self.tokens.space,
            "hairline": blend(ink, raised, share["hairline"]).name(),
            "hover": blend(ink, raised, share["hover"]).name(),
            "pressed": blend(ink, raised, share["pressed"]).name(),
            "outline": blend(ink, raised, 0.24).name(),
            "handle": blend(ink, raised, 0.24).name(),
            "disabled": blend(ink, raised, share["disabled"]).name(),
            "selected": blend(water, raised, 0.16).name(),
            "warn_wash": blend(self.colour("warn"), ground, 0.14).name(),
            **self._images(),
            "primary_hover": blend(ink, self.colour("primary"), 0.12).name(),
        }

    def _images(self) -> dict[str, str]:
        """Return the style sheet's pictures; without a place for them there are none."""
        shown = {}
        for name, role in _IMAGES.items():
            place = None
            if self._pictures.isValid():
                folder = Path(self._pictures.path())
                place = self.icons.save(name, self.colour(role), folder)
            shown[f"image_{name}"] = "none" if place is None else f'url("{place.as_posix()}")'
        return shown

    def _palette(self) -> QPalette:
        palette = QPalette()
        role = QPalette.ColorRole
        for target, name in (
            (role.Window, "ground"),
            (role.Base, "raised"),
            (role.AlternateBase, "ground"),
            (role.Button, "raised"),
            (role.WindowText, "ink"),
            (role.Text, "ink"),
            (role.ButtonText, "ink"),
            (role.ToolTipBase, "raised"),
            (role.ToolTipText, "ink"),
            (role.PlaceholderText, "quiet"),
            (role.Highlight, "deep"),
            (role.Link, "water"),
        ):
            palette.setColor(target, self.colour(name))
        palette.setColor(role.HighlightedText, QColor("#FFFFFF"))
        return palette
