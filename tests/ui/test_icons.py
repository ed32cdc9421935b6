"""Icons: all there, tinted, one stroke."""

import re
from pathlib import Path

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication

from studio.ui.icons import Icons
from studio.ui.theme import Look


def test_every_icon_is_drawn_on_our_grid_with_our_stroke(assets: Path) -> None:
    """One icon of another kit is seen at once."""
    for path in (assets / "icons").glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        if path.name != "app.svg":
            assert 'viewBox="0 0 20 20"' in text, path.name
            assert 'stroke="currentColor" stroke-width="1.5"' in text, path.name


def test_every_icon_that_code_names_exists(assets: Path) -> None:
    """A missing file is a crash at the first click."""
    sources = Path(__file__).resolve().parents[2] / "studio" / "ui"
    named = set()
    for path in sources.rglob("*.py"):
        named |= set(re.findall(r'(?:icon=|use_icon\()"([a-z]+)"', path.read_text("utf-8")))

    assert named
    assert named <= {path.stem for path in (assets / "icons").glob("*.svg")}


def test_an_icon_takes_its_colour_and_is_rendered_once(qapp: QApplication, assets: Path) -> None:
    """Icons follow the theme, and cost nothing the second time."""
    icons = Icons(assets / "icons")
    image = QImage(20, 20, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    icons.paint(painter, "stop", QColor("#ff0000"), QRectF(0, 0, 20, 20))
    painter.end()

    painted = {image.pixelColor(x, y).name() for x in range(20) for y in range(20)}
    assert "#ff0000" in painted
    assert icons.icon("stop", QColor("#ff0000")) is icons.icon("stop", QColor("#ff0000"))
    assert not icons.application().isNull()


def test_icons_for_the_style_sheet_are_files_in_two_sizes(look: Look, tmp_path: Path) -> None:
    """Style sheets take pictures from files; a folder that is gone gives none, and no crash."""
    place = look.icons.save("down", QColor("#112233"), tmp_path)

    assert place == tmp_path / "down-112233.png"
    assert {file.name for file in tmp_path.iterdir()} == {"down-112233.png", "down-112233@2x.png"}
    assert look.icons.save("down", QColor("#112233"), tmp_path / "gone") is None
