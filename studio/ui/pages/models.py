"""The models page: library, downloads and folders, and the buttons that bring models in."""

import enum

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from studio.ui.language import t
from studio.ui.pages.model_library import LibraryPart
from studio.ui.pages.model_places import FoldersPart, QueuePart
from studio.ui.theme import Look
from studio.ui.viewmodels.boot import StageView
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card, ProblemCard
from studio.ui.widgets.done import DoneCard
from studio.ui.widgets.progress import StageRow
from studio.ui.widgets.segments import Segments


class Part(enum.StrEnum):
    """What may be in front."""

    LIBRARY = "library"
    DOWNLOADS = "downloads"
    FOLDERS = "folders"


class ModelsPage(QWidget):
    """Signals: `get_asked`, `import_asked`, `hubs_asked`, `check_all_asked`."""

    get_asked = Signal()
    import_asked = Signal()
    hubs_asked = Signal()
    check_all_asked = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("page")
        self._look = look
        self.parts = Segments(
            "models-part",
            t("Parts of this page"),
            [
                (Part.LIBRARY.value, t("Library")),
                (Part.DOWNLOADS.value, t("Downloads")),
                (Part.FOLDERS.value, t("Folders")),
            ],
        )
        self.parts.chosen.connect(self._on_part)
        self.get = Button(look, "model-get", t("Get a model…"), kind="primary", icon="plus")
        self.get.clicked.connect(self.get_asked)
        self.take = Button(look, "model-import", t("Take one in…"))
        self.take.clicked.connect(self.import_asked)
        self.check = Button(look, "models-check", t("Check all"))
        self.check.clicked.connect(self.check_all_asked)
        self.hubs = Button(look, "models-hubs", t("Hubs…"))
        self.hubs.clicked.connect(self.hubs_asked)
        self.problem = ProblemCard(look, "models-problem")
        self.said = DoneCard(look, "model-done")
        self._work = Card(look, "model-work")
        self._stage = StageRow(look, "model-import-stage")
        self._work.column.addWidget(self._stage)
        self._work.hide()
        self.library = LibraryPart(look)
        self.queue = QueuePart(look)
        self.folders = FoldersPart(look)
        self._stack = QStackedWidget()
        self._lay_out()
        self.show_part(Part.LIBRARY)

    @property
    def part(self) -> Part:
        """Return what is in front."""
        return Part(self.parts.value or Part.LIBRARY)

    def show_part(self, part: Part) -> None:
        """Bring a part to the front."""
        self.parts.show_chosen(part.value)
        self._on_part(part.value)

    def show_open(self, count: int) -> None:
        """Say on its segment how many downloads are not over."""
        words = t("Downloads")
        text = f"{words} · {count}" if count else words
        button = self.parts.button(Part.DOWNLOADS.value)
        if button.text() != text:
            button.setText(text)
            button.setAccessibleName(text)

    def show_enabled(self, *, can_act: bool) -> None:
        """Let the buttons of the head rest where nothing can be asked."""
        for button in (self.get, self.take, self.check, self.hubs):
            button.setEnabled(can_act)

    def show_import(self, view: StageView | None) -> None:
        """Show how far an import is."""
        self._work.setVisible(view is not None)
        if view is not None:
            self._stage.show_stage(view)

    def _on_part(self, part: str) -> None:
        self._stack.setCurrentIndex([one.value for one in Part].index(part))

    def _lay_out(self) -> None:
        margin, gap = self._look.space("page_margin"), self._look.space("card_gap")
        head = QHBoxLayout()
        head.setSpacing(self._look.space("step") * 2)
        head.addWidget(self.parts)
        head.addStretch(1)
        for button in (self.hubs, self.check, self.take, self.get):
            head.addWidget(button)
        for widget in (self.library, self.queue, self.folders):
            self._stack.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(margin, margin, margin, margin - gap // 2)
        column.setSpacing(gap)
        column.addLayout(head)
        for card in (self.problem, self.said, self._work):
            column.addWidget(card)
        column.addWidget(self._stack, 1)
