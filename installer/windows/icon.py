"""The icon of Windows' programs, drawn from the Studio's own picture."""

import struct
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from studio import __version__

SIZES = (16, 24, 32, 48, 64, 128, 256)
_NUMBERS = ",".join([*__version__.split("."), "0"][:4])
RESOURCE = f"""\
1 ICON "weir.ico"
1 VERSIONINFO
FILEVERSION {_NUMBERS}
PRODUCTVERSION {_NUMBERS}
BEGIN
  BLOCK "StringFileInfo"
  BEGIN
    BLOCK "040904b0"
    BEGIN
      VALUE "FileDescription", "Weir Studio"
      VALUE "FileVersion", "{__version__}"
      VALUE "LegalCopyright", "Weir Studio contributors, Apache-2.0"
      VALUE "ProductName", "Weir Studio"
      VALUE "ProductVersion", "{__version__}"
    END
  END
  BLOCK "VarFileInfo"
  BEGIN
    VALUE "Translation", 0x409, 1200
  END
END
"""
"""What `windres` puts into a program: the icon beside it, and what Windows shows of it."""


def write(picture: Path, target: Path) -> None:
    """Write an icon file: a header, a row of 16 bytes a size, then PNGs (from Vista on)."""
    renderer = QSvgRenderer(str(picture))
    drawn = [_png(renderer, size) for size in SIZES]
    rows, place = b"", 6 + 16 * len(SIZES)
    for size, png in zip(SIZES, drawn, strict=True):
        rows += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(png), place)
        place += len(png)
    target.write_bytes(struct.pack("<HHH", 0, 1, len(SIZES)) + rows + b"".join(drawn))


def _png(renderer: QSvgRenderer, size: int) -> bytes:
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(data.data())
