"""The disk as a bar of what takes its room, each part named below with its size."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QFontMetrics, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.disk import DiskPart, DiskView
from studio.ui.widgets.cards import Card
from studio.ui.widgets.hatch import fill
from studio.ui.widgets.text import Elided, label, show_text

_BAR = 12
_LEAST = 4.0
"""So narrow a part would not be seen otherwise: 4 GB on a disk of 4 TB."""
_SWATCH = 8


class DiskBar(QWidget):
    """The bar alone."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("disk-bar")
        self._look = look
        self._parts: tuple[DiskPart, ...] = ()
        self.setFixedHeight(_BAR)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        look.changed.connect(self.update)

    def show_parts(self, parts: tuple[DiskPart, ...]) -> None:
        """Show `parts` from left to right."""
        if parts != self._parts:
            self._parts = parts
            self.update()

    def widths(self, whole: float) -> list[float]:
        """Return how wide each part is drawn; what widens a small one is taken from the largest."""
        shares = [part.share for part in self._parts]
        found = [max(_LEAST, share * whole) if share > 0 else 0.0 for share in shares]
        if found:
            largest = max(range(len(found)), key=found.__getitem__)
            found[largest] = max(0.0, found[largest] - max(0.0, sum(found) - whole))
        return found

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the parts."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect())
        frame = QPainterPath()
        frame.addRoundedRect(area, 4, 4)
        painter.setClipPath(frame)
        painter.fillRect(area, self._look.colour("ink", 0.05))
        left = 0.0
        for part, width in zip(self._parts, self.widths(area.width()), strict=True):
            here = QRectF(left, 0, max(0.0, width - 1), area.height())
            fill(painter, here, self._look.colour(part.role, part.opacity), hatched=part.is_free)
            left += width
        painter.end()


class _Swatch(QWidget):
    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._part: DiskPart | None = None
        self.setFixedSize(_SWATCH, _SWATCH)
        look.changed.connect(self.update)

    def show_part(self, part: DiskPart) -> None:
        """Show the colour of `part`."""
        self._part = part
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw it as the bar does; what is free is hatched there, so it is framed here."""
        part = self._part
        if part is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = self._look.colour(part.role, part.opacity)
        style = Qt.BrushStyle.NoBrush if part.is_free else Qt.BrushStyle.SolidPattern
        painter.setBrush(QBrush(colour, style))
        painter.setPen(self._look.colour("quiet") if part.is_free else Qt.GlobalColor.transparent)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
        painter.end()


class DiskMeter(Card):
    """The card: place, bar, parts. Buttons of a page may be added to its head."""

    def __init__(self, look: Look) -> None:
        super().__init__(look, "disk")
        self._look = look
        self._title = label("lead", t("Disk"))
        self._place = Elided("code")
        self._place.setObjectName("disk-place")
        self._empty = label("quiet")
        self._empty.setObjectName("disk-empty")
        lines = (QFontMetrics(look.font(kind)).height() for kind in ("small", "body"))
        room = _BAR + self.column.spacing() + sum(lines)
        self._empty.setMinimumHeight(room)  # what stands below must not jump under a mouse
        self.bar = DiskBar(look)
        self._legend = QGridLayout()
        self._legend.setHorizontalSpacing(look.space("step") * 3)
        self._legend.setVerticalSpacing(0)
        self._rows: list[tuple[_Swatch, Elided, Elided]] = []
        self._head = QHBoxLayout()
        self._head.setSpacing(look.space("step") * 2)
        self._head.addWidget(self._title)
        self._head.addWidget(self._place, 1)
        self.column.addLayout(self._head)
        self.column.addWidget(self._empty)
        self.column.addWidget(self.bar)
        self.column.addLayout(self._legend)

    def add_button(self, button: QWidget) -> None:
        """Add a button at the right end of the head."""
        self._head.addWidget(button)

    def show_view(self, view: DiskView) -> None:
        """Show `view`."""
        self._place.show_text(view.place.text, view.place.tooltip)
        show_text(self._empty, view.empty)
        self._empty.setVisible(bool(view.empty))
        self.bar.setVisible(not view.empty)
        self.bar.show_parts(view.parts)
        self.bar.setAccessibleName(t("Disk"))
        self.bar.setAccessibleDescription(view.spoken)
        while len(self._rows) < len(view.parts):
            self._add_row()
        for place, (swatch, title, size) in enumerate(self._rows):
            for widget in (swatch, title, size):
                widget.setVisible(place < len(view.parts))
            if place < len(view.parts):
                part = view.parts[place]
                swatch.show_part(part)
                title.show_text(part.title, part.tooltip)
                size.show_text(part.size, part.tooltip)

    def _add_row(self) -> None:
        row = (_Swatch(self._look), Elided("small"), Elided("body"))
        place = len(self._rows) * 2
        self._legend.addWidget(row[0], 0, place, Qt.AlignmentFlag.AlignLeft)
        self._legend.addWidget(row[1], 0, place + 1)
        self._legend.addWidget(row[2], 1, place + 1)
        self._legend.setColumnStretch(place + 1, 1)
        self._rows.append(row)
