"""The look: tokens, contrast, fonts."""

from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QFontDatabase, QFontMetricsF, QGuiApplication
from PySide6.QtWidgets import QApplication

from studio.ui.theme import Look, ThemeChoice, blend, read_tokens

THEMES = ("dark", "light")


def contrast(front: str, back: str) -> float:
    """Return the contrast of two colours after WCAG 2.1."""

    def luminance(name: str) -> float:
        colour = QColor(name)
        parts = (colour.redF(), colour.greenF(), colour.blueF())
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(front), luminance(back)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    ("front", "back", "least"),
    [
        ("ink", "ground", 4.5),
        ("ink", "raised", 4.5),
        ("quiet", "ground", 4.5),
        ("quiet", "raised", 4.5),
        ("on_primary", "primary", 4.5),
        ("harm", "raised", 4.5),
        ("water", "raised", 3.0),
        ("clear", "raised", 3.0),
        ("warn", "raised", 3.0),
        ("ok", "raised", 3.0),
    ],
)
def test_text_and_figures_have_enough_contrast(
    assets: Path, theme: str, front: str, back: str, least: float
) -> None:
    """Text wants 4.5:1, lines and figures 3:1, in both themes."""
    colours = getattr(read_tokens(assets), theme)

    assert contrast(colours[front], colours[back]) >= least


def test_both_themes_name_the_same_colours(assets: Path) -> None:
    """A colour that exists in one theme only is a crash in the other."""
    tokens = read_tokens(assets)

    assert tokens.dark.keys() == tokens.light.keys()
    assert min(value for value in tokens.type.values() if isinstance(value, int)) >= 11


def test_bundled_fonts_carry_their_licence_and_have_tabular_figures(
    look: Look, assets: Path
) -> None:
    """The licence asks to go along, and figures that jitter cannot be read."""
    fonts = {path.name.partition("-latin")[0] for path in (assets / "fonts").glob("*.woff2")}
    licences = {path.name for path in (assets / "fonts").glob("*-OFL.txt")}
    metrics = QFontMetricsF(look.font("figure"))

    assert fonts == {"inter", "jetbrains-mono"}
    assert licences == {"Inter-OFL.txt", "JetBrainsMono-OFL.txt"}
    assert {"Inter", "JetBrains Mono"} <= set(QFontDatabase.families())
    assert len({metrics.horizontalAdvance(digit) for digit in "0123456789"}) == 1


def test_choosing_a_theme_exchanges_palette_and_sheet(look: Look, qapp: QApplication) -> None:
    """Style sheet, palette and painters speak of one theme, never of two."""
    for choice in (ThemeChoice.LIGHT, ThemeChoice.DARK):
        look.choose(choice)

        ground = look.colour("ground").name().upper()
        assert QGuiApplication.palette().window().color().name().upper() == ground
        assert ground in qapp.styleSheet().upper()
        assert look.is_dark is (choice is ThemeChoice.DARK)


def test_a_desktop_that_says_nothing_gets_dark(look: Look) -> None:
    """Offscreen and bare X11 say nothing."""
    look.choose(ThemeChoice.SYSTEM)

    assert look.is_dark


def test_blend_lays_one_colour_over_another() -> None:
    """Hairlines are ink at 12 per cent."""
    assert blend(QColor("#FFFFFF"), QColor("#000000"), 0.5).name() == "#808080"
    assert blend(QColor("#123456"), QColor("#000000"), 1.0).name() == "#123456"
