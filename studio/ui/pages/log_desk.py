"""What the logs page holds: the log, the diagnosis, the boots; one of them in front."""

import enum

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from studio.ui.language import t
from studio.ui.pages.diagnosis import BootsPage, DiagnosisPage
from studio.ui.pages.logs import LogsPage
from studio.ui.theme import Look
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.segments import Segments
from studio.ui.widgets.text import label, show_text

_TIME_WIDTH = 168


class Part(enum.StrEnum):
    """What is in front."""

    LIVE = "live"
    """Lines as they come."""
    ENGINE = "engine"
    """The engine's files, also of earlier boots."""
    SERVICE = "service"
    DIAGNOSIS = "diagnosis"
    BOOTS = "boots"


class LogDesk(QWidget):
    """Signals: `part_chosen` (Part), `older_asked`, `time_asked` (text)."""

    part_chosen = Signal(object)
    older_asked = Signal()
    time_asked = Signal(str)

    def __init__(self, look: Look, log: LogsPage) -> None:
        super().__init__()
        self.setObjectName("page")
        self.part = Part.LIVE
        self.log = log
        self.files = LogsPage(look)
        self.files.setObjectName("page-files")
        for child in self.files.findChildren(QWidget):
            if child.objectName().startswith("log"):
                child.setObjectName(f"files-{child.objectName()}")
        self.diagnosis = DiagnosisPage(look)
        self.boots = BootsPage(look)
        words = {
            Part.LIVE: t("Live"),
            Part.ENGINE: t("Engine, all boots"),
            Part.SERVICE: t("Service"),
            Part.DIAGNOSIS: t("Diagnosis"),
            Part.BOOTS: t("Boots"),
        }
        self._tabs = Segments(
            "part", t("What to show"), [(part.value, word) for part, word in words.items()]
        )
        self._tabs.chosen.connect(self._on_tab)
        self._time = QLineEdit()
        self._time.setObjectName("log-time")
        self._time.setPlaceholderText(t("Go to 14:30, 10m, …"))
        self._time.setAccessibleName(t("Go to a time"))
        self._time.setFixedWidth(_TIME_WIDTH)
        self._time.returnPressed.connect(self._on_time)
        self._older = Button(look, "log-older", t("Older lines"), icon="up")
        self._older.clicked.connect(self.older_asked)
        self._said = label("small")
        self._said.setObjectName("log-said")
        self._stack = QStackedWidget()
        margin = look.space("page_margin")
        self._side = (self._framed(self.diagnosis, margin), self._framed(self.boots, margin))
        for page in (self.log, self.files, *self._side):
            self._stack.addWidget(page)
        self._lay_out(look)
        self.show_part(Part.LIVE)

    def show_part(self, part: Part) -> None:
        """Bring a part to the front."""
        self.part = part
        pages = {
            Part.LIVE: self.log,
            Part.ENGINE: self.files,
            Part.SERVICE: self.files,
            Part.DIAGNOSIS: self._side[0],
            Part.BOOTS: self._side[1],
        }
        self._stack.setCurrentWidget(pages[part])
        self._tabs.show_chosen(part.value)
        is_log = part in (Part.LIVE, Part.ENGINE, Part.SERVICE)
        self._time.setVisible(is_log)
        self._older.setVisible(part in (Part.ENGINE, Part.SERVICE))

    def show_files(self, said: str, *, has_older: bool) -> None:
        """Say how far the files were read."""
        show_text(self._said, said)
        self._older.setEnabled(has_older)

    @property
    def front(self) -> LogsPage:
        """Return the log in front."""
        return self.log if self.part is Part.LIVE else self.files

    def _framed(self, page: QWidget, margin: int) -> QWidget:
        frame = QWidget()
        column = QVBoxLayout(frame)
        column.setContentsMargins(margin, margin // 2, margin, margin // 2)
        column.addWidget(page)
        return frame

    def _on_tab(self, value: str) -> None:
        self.part_chosen.emit(Part(value))

    def _on_time(self) -> None:
        if self._time.text().strip():
            self.time_asked.emit(self._time.text())

    def _lay_out(self, look: Look) -> None:
        margin, step = look.space("page_margin"), look.space("step")
        row = QHBoxLayout()
        row.setContentsMargins(margin, margin, margin, 0)
        row.setSpacing(step * 2)
        row.addWidget(self._tabs)
        row.addWidget(self._said, 1)
        row.addWidget(self._older)
        row.addWidget(self._time)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(self._stack, 1)
