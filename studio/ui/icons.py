"""Icons drawn by us: SVG files on a 20-pixel grid, tinted with a colour of the theme."""

from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

GRID = 20
"""Logical pixels an icon is drawn on."""

_SCALES = (1.0, 2.0)


class Icons:
    """Tinted icons, rendered once for each name and colour."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._cache: dict[tuple[str, str, int], QIcon] = {}

    def icon(self, name: str, colour: QColor, size: int = GRID) -> QIcon:
        """Return the icon `name` in one colour, `size` logical pixels wide."""
        key = (name, colour.name(), size)
        if key not in self._cache:
            icon = QIcon()
            for scale in _SCALES:
                icon.addPixmap(self._pixmap(name, colour, size, scale))
            self._cache[key] = icon
        return self._cache[key]

    def application(self) -> QIcon:
        """Return the product's icon in the sizes that desktops ask for."""
        icon = QIcon()
        for size in (16, 24, 32, 48, 64, 128, 256):
            icon.addPixmap(self._pixmap("app", QColor("#000000"), size, 1.0))
        return icon

    def paint(self, painter: QPainter, name: str, colour: QColor, target: QRectF) -> None:
        """Draw the icon into `target`."""
        self._renderer(name, colour).render(painter, target)

    def save(self, name: str, colour: QColor, folder: Path, size: int = GRID) -> Path | None:
        """Write the icon as PNG, with its `@2x` beside it; None where the disk refuses.

        Style sheets take pictures from files only.
        """
        place = folder / f"{name}-{colour.name()[1:]}.png"
        dense = place.with_name(f"{place.stem}@2x.png")
        targets = ((1.0, place), (2.0, dense))
        if place.exists() and dense.exists():
            return place
        written = [
            self._pixmap(name, colour, size, scale).save(str(file)) for scale, file in targets
        ]
        return place if all(written) else None

    def _pixmap(self, name: str, colour: QColor, size: int, scale: float) -> QPixmap:
        renderer = self._renderer(name, colour)
        pixmap = QPixmap(QSize(round(size * scale), round(size * scale)))
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        renderer.render(painter)
        painter.end()
        pixmap.setDevicePixelRatio(scale)
        return pixmap

    def _renderer(self, name: str, colour: QColor) -> QSvgRenderer:
        text = (self._folder / f"{name}.svg").read_text(encoding="utf-8")
        return QSvgRenderer(QByteArray(text.replace("currentColor", colour.name()).encode()))
