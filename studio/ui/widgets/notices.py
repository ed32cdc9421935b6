"""Alarms as cards: cause and remedies in words, and buttons that act."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.ui.theme import Look
from studio.ui.viewmodels.live import Deed, NoticeView
from studio.ui.viewmodels.words import Role
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import label


class Notice(Card):
    """One alarm. Signals: `done` (Deed)."""

    done = Signal(object)

    def __init__(self, look: Look, view: NoticeView) -> None:
        kind = {Role.HARM: "problem", Role.WARN: "question"}.get(view.role, "card")
        super().__init__(look, f"alarm-{view.code}", kind=kind)
        self._deeds: dict[str, Deed] = {}
        self.setAccessibleName(view.title)
        sign = Sign(look)
        sign.show_sign(view.shape, view.role)
        title = label("lead" if view.body else "quiet", view.title, wrap=True)
        self.setToolTip(view.evidence)
        top = QHBoxLayout()
        top.setSpacing(look.space("step") * 2)
        top.addWidget(sign, 0, Qt.AlignmentFlag.AlignVCenter)
        top.addWidget(title, 1)
        self.column.addLayout(top)
        row = QHBoxLayout()
        row.setSpacing(look.space("step") * 2)
        for deed in view.deeds:
            name = f"alarm-{view.code}-{deed.kind}-{deed.what}"
            button = Button(look, name, deed.text)
            button.setToolTip(deed.tooltip)
            button.setEnabled(view.enabled)
            button.clicked.connect(self._on_clicked)
            self._deeds[name] = deed
            row.addWidget(button)
        if view.body:
            self.column.addWidget(label("body", view.body, wrap=True))
            row.addStretch(1)
            self.column.addLayout(row)
        else:
            top.addLayout(row)

    def _on_clicked(self) -> None:
        self.done.emit(self._deeds[self.sender().objectName()])


class Notices(QWidget):
    """All alarms that hold, the worst first. Signals: `done` (Deed)."""

    done = Signal(object)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("alarms")
        self._look = look
        self._views: tuple[NoticeView, ...] = ()
        self._cards: list[Notice] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(look.space("card_gap"))
        self.hide()

    def show_notices(self, views: tuple[NoticeView, ...]) -> None:
        """Show `views`; nothing is touched where nothing changed."""
        if views == self._views:
            return
        self._views = views
        for card in self._cards:
            self._column.removeWidget(card)
            card.hide()
            card.setParent(None)
            card.deleteLater()
        self._cards = [Notice(self._look, view) for view in views]
        for card in self._cards:
            card.done.connect(self.done)
            self._column.addWidget(card)
        self.setVisible(bool(views))
