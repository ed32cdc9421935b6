"""The dialog that takes a model in that lies on the service's machine."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from studio.domain.library import ImportWay, ModelImport
from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.widgets.path_dialog import PathDialog, Wanted
from studio.ui.widgets.segments import Segments
from studio.ui.widgets.text import label, show_text


class ImportDialog(PathDialog):
    """Signal: `wanted` (ModelImport)."""

    wanted = Signal(object)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(
            look,
            "take-in",
            t("Take a model in"),
            about=t("A model folder, or a GGUF file, on the machine of the service."),
            verb=t("Take it in"),
            wanted=Wanted.EITHER,
            more=t("Name in the library; empty: as the folder"),
            parent=parent,
        )
        choices = [
            (ImportWay.REFERENCE.value, t("Leave it there")),
            (ImportWay.LINK.value, t("Link")),
            (ImportWay.COPY.value, t("Copy")),
        ]
        self.way = Segments("take-in-way", t("How"), choices)
        self.way.show_chosen(ImportWay.REFERENCE.value)
        self.way.chosen.connect(self._on_way)
        self._meaning = label("small", wrap=True)
        place = self.body.count() - 1
        self.body.insertWidget(place, self.way)
        self.body.insertWidget(place + 1, self._meaning)
        self.given.connect(self._on_given)
        self._on_way(ImportWay.REFERENCE.value)

    def _on_way(self, way: str) -> None:
        words = {
            ImportWay.REFERENCE: t("It stays where it is; the library only mentions it."),
            ImportWay.LINK: t("Hard links: no space, one content under two names."),
            ImportWay.COPY: t("A copy of its own; it shares blocks where the disk can do that."),
        }
        show_text(self._meaning, words[ImportWay(way)])

    def _on_given(self, path: str, name: str) -> None:
        way = ImportWay(self.way.value or ImportWay.REFERENCE.value)
        self.wanted.emit(ModelImport(path=path, by=way, name=name or None))
