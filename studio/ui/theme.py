"""The look: tokens from `assets/tokens.toml` as colours, fonts, palette and style sheet.

Widgets and painters ask the one `Look` that they are handed; nothing else holds a colour, a size or
a font name. A change of theme is announced once, by `Look.changed`.
"""

import enum
import string
import tomllib
import weakref
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QIcon, QPalette
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import Shiboken

from studio.ui.icons import Icons
from studio.ui.lettering import Lettering
from studio.ui.motion import Motion, MotionChoice
from studio.ui.pictures import Pictures

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
    system_fonts: dict[str, tuple[str, ...]]
    """Where characters come from that the bundled fonts lack, best first."""
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


_FONTS = frozenset({".woff2", ".otf", ".ttf"})
"""The package for Windows holds the latter two: Windows reads no woff2."""


class Look(QObject):
    """The current theme. Signals: `changed` after colours were exchanged."""

    changed = Signal()

    def __init__(self, application: QApplication, assets: Path, choice: ThemeChoice) -> None:
        super().__init__()
        self._application = application
        self._template = string.Template((assets / "style.qss").read_text(encoding="utf-8"))
        self.tokens = read_tokens(assets)
        self.choice = choice
        self.motion = Motion(MotionChoice.SYSTEM)
        """Whoever paints something that moves asks it."""
        self._dressed: weakref.WeakSet[QWidget] = weakref.WeakSet()
        """Windows, and menus without one."""
        self._fonts: dict[tuple[str, int, bool], QFont] = {}
        self.lettering = Lettering(self._plain_font)
        """For painters: words that are in each picture."""
        for font in sorted((assets / "fonts").iterdir()):
            if font.suffix in _FONTS:
                QFontDatabase.addApplicationFont(str(font))
        self.icons = Icons(assets / "icons")
        self._pictures = Pictures()
        # All icons are ours; else the first field with a button that clears it would read the
        # folders of the desktop's icon theme, for longer than a page takes.
        QIcon.setThemeSearchPaths([":/icons"])
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

    def end(self) -> None:
        """Remove what was written for the style sheet: the window is closed."""
        self._pictures.end()

    def sweep(self) -> None:
        """Remove what windows left among the temporary files that were killed."""
        self._pictures.sweep()

    def choose(self, choice: ThemeChoice) -> None:
        """Show another theme from now on."""
        before = self.is_dark
        self.choice = choice
        if self.is_dark is not before:
            self._apply()
        self.changed.emit()

    @property
    def sheet(self) -> str:
        """Return the style sheet in the colours of now."""
        return self._sheet

    def dress(self, target: QWidget) -> None:
        """Put the style sheet on a window, and on everything in it, from now on.

        On a window and not on the application: there, each part of a page would be styled anew as
        often as it is put into something, which was three quarters of the making of a page.
        """
        self._dressed.add(target)
        target.setStyleSheet(self._sheet)

    def colour(self, name: str, share: float = 1.0) -> QColor:
        """Return the colour `name` of the current theme at the opacity `share`."""
        colour = QColor(self._read[name])
        if share < 1.0:
            colour.setAlphaF(share)
        return colour

    def resting(self) -> QColor:
        """Return the colour of what cannot be used now."""
        share = self.tokens.share["disabled"]
        return blend(self.colour("ink"), self.colour("raised"), share)

    def font(self, size: str = "body", *, weight: int = 400, mono: bool = False) -> QFont:
        """Return the bundled font at the size token `size`; figures are tabular.

        A copy of one that is kept: Qt looks the engine of a font up once for all its copies, and
        painters ask in every picture.
        """
        key = (size, weight, mono)
        if key not in self._fonts:
            self._fonts[key] = self._made_font(size, weight=weight, mono=mono)
        return QFont(self._fonts[key])

    def _plain_font(self, size: str, weight: int) -> QFont:
        return self.font(size, weight=weight)

    def _made_font(self, size: str, *, weight: int, mono: bool) -> QFont:
        font = QFont(self._families("mono_family" if mono else "family"))
        font.setPixelSize(int(self.tokens.type[size]))
        font.setWeight(QFont.Weight(weight))
        font.setFeature(QFont.Tag("tnum"), 1)
        font.setFeature(QFont.Tag("calt"), 0)  # addresses are read: `/=` is two signs, not `≠`
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        if mono:
            font.setStyleHint(QFont.StyleHint.Monospace)
        return font

    def _families(self, kind: str) -> list[str]:
        """Return a bundled font, and those of the system for what it lacks."""
        others = dict.fromkeys(
            (*self.tokens.system_fonts[kind], *self.tokens.system_fonts["family"])
        )
        return [str(self.tokens.type[kind]), *others]

    def space(self, name: str) -> int:
        """Return a length token in logical pixels."""
        return self.tokens.space[name]

    def _on_system_changed(self) -> None:
        if self.choice is ThemeChoice.SYSTEM:
            self._apply()
            self.changed.emit()

    def _apply(self) -> None:
        self._colours = self.tokens.dark if self.is_dark else self.tokens.light
        self._read = {name: QColor(value) for name, value in self._colours.items()}
        self._application.setPalette(self._palette())
        self._sheet = self._template.substitute(self._sheet_values())
        for target in filter(Shiboken.isValid, tuple(self._dressed)):
            target.setStyleSheet(self._sheet)

    def _sheet_values(self) -> dict[str, object]:
        ink, ground = self.colour("ink"), self.colour("ground")
        raised, water = self.colour("raised"), self.colour("water")
        share = self.tokens.share
        return {
            **self._colours,
            **self.tokens.type,
            **self.tokens.space,
            "mono_families": ", ".join(f'"{one}"' for one in self._families("mono_family")),
            "hairline": blend(ink, raised, share["hairline"]).name(),
            "hover": blend(ink, raised, share["hover"]).name(),
            "pressed": blend(ink, raised, share["pressed"]).name(),
            "outline": blend(ink, raised, 0.24).name(),
            "handle": blend(ink, raised, 0.24).name(),
            "disabled": self.resting().name(),
            "selected": blend(water, raised, 0.16).name(),
            "warn_wash": blend(self.colour("warn"), ground, 0.14).name(),
            **self._images(),
            "primary_hover": blend(ink, self.colour("primary"), 0.12).name(),
        }

    def _images(self) -> dict[str, str]:
        """Return the style sheet's pictures; without a place for them there are none."""
        shown = {}
        for name, role in _IMAGES.items():
            folder = self._pictures.folder
            place = None if folder is None else self.icons.save(name, self.colour(role), folder)
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
            (role.Link, "primary"),
        ):
            palette.setColor(target, self.colour(name))
        palette.setColor(role.HighlightedText, QColor("#FFFFFF"))
        return palette
