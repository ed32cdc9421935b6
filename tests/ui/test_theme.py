"""The look: tokens, contrast, fonts."""

from pathlib import Path

import pytest
import shiboken6
from PySide6.QtGui import QColor, QFontDatabase, QFontMetricsF, QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look, ThemeChoice, blend, read_tokens
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.dialog import Dialog

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


TEXT, FIGURE = 4.5, 3.0
"""Least contrast after WCAG 2.1: of text, and of lines and large figures."""


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    ("fronts", "backs", "least"),
    [
        (("ink", "quiet"), ("ground", "raised", "hover", "pressed", "selected", "warn"), TEXT),
        (("primary",), ("ground", "raised"), TEXT),
        (("harm", "ok"), ("ground", "raised"), TEXT),
        (("on_primary",), ("primary", "primary-hover"), TEXT),
        (("white",), ("deep",), TEXT),
        (("water", "clear", "warn"), ("ground", "raised"), FIGURE),
    ],
)
def test_text_and_figures_have_enough_contrast(
    assets: Path, theme: str, fronts: tuple[str, ...], backs: tuple[str, ...], least: float
) -> None:
    """Text wants 4.5:1, lines and figures 3:1, on every ground that the style sheet lays."""
    tokens = read_tokens(assets)
    colours = {**getattr(tokens, theme), "white": "#FFFFFF"}

    def laid(name: str, back: str, share: float) -> str:
        return blend(QColor(colours[name]), QColor(colours[back]), share).name()

    grounds = {
        **colours,
        "hover": laid("ink", "raised", tokens.share["hover"]),
        "pressed": laid("ink", "raised", tokens.share["pressed"]),
        "selected": laid("water", "raised", 0.16),
        "warn": laid("warn", "ground", 0.14),
        "primary-hover": laid("ink", "primary", 0.12),
    }
    for front in fronts:
        for back in backs:
            assert contrast(colours[front], grounds[back]) >= least, (front, back)


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


def test_chinese_shapes_are_asked_for_by_name(look: Look) -> None:
    """Without it a desktop that is not Chinese shows Japanese shapes of the same characters."""
    for mono, first in ((False, "Inter"), (True, "JetBrains Mono")):
        families = look.font(mono=mono).families()

        assert families[0] == first
        assert "Noto Sans CJK SC" in families
        assert "Microsoft YaHei UI" in families
        assert all("JP" not in one for one in families)


def test_choosing_a_theme_exchanges_palette_and_sheet(qtbot: QtBot, look: Look) -> None:
    """Style sheet, palette and painters speak of one theme, never of two."""
    window = QWidget()
    qtbot.addWidget(window)
    look.dress(window)
    for choice in (ThemeChoice.LIGHT, ThemeChoice.DARK):
        look.choose(choice)

        ground = look.colour("ground").name().upper()
        assert QGuiApplication.palette().window().color().name().upper() == ground
        assert ground in window.styleSheet().upper()
        assert look.is_dark is (choice is ThemeChoice.DARK)


def test_a_window_that_is_gone_is_not_dressed_anew(look: Look) -> None:
    """A window is made anew in another language, and the old one is deleted by Qt."""
    window = QWidget()
    look.dress(window)
    shiboken6.delete(window)

    look.choose(ThemeChoice.LIGHT)

    assert not look.is_dark


def test_a_desktop_that_says_nothing_gets_dark(look: Look) -> None:
    """Offscreen and bare X11 say nothing."""
    look.choose(ThemeChoice.SYSTEM)

    assert look.is_dark


def test_blend_lays_one_colour_over_another() -> None:
    """Hairlines are ink at 12 per cent."""
    assert blend(QColor("#FFFFFF"), QColor("#000000"), 0.5).name() == "#808080"
    assert blend(QColor("#123456"), QColor("#000000"), 1.0).name() == "#123456"


def test_what_a_dressed_window_opens_is_dressed(qtbot: QtBot, look: Look) -> None:
    """The style sheet lies on windows alone; dialogs have to get it from theirs."""
    window = QWidget()
    qtbot.addWidget(window)
    look.dress(window)
    dialog = Dialog(look, "question", "Question", parent=window)
    button = Button(look, "yes", "Yes", kind="primary")
    dialog.add_button(button)
    with qtbot.waitExposed(dialog):
        dialog.open()

    image = button.grab().toImage()

    assert image.pixelColor(button.width() // 2, 4) == look.colour("primary")
    dialog.close()
