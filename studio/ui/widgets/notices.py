"""Alarms as cards: cause and remedies in words, and buttons that act."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.ui.theme import Look
from studio.ui.viewmodels.live import Deed, NoticeView
from studio.ui.viewmodels.words import Role
from studio.ui.widgets.buttons import Button, CopyButton
from studio.ui.widgets.cards import Card
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import label, show_text


class Notice(Card):
    """One alarm. Signals: `done` (Deed).

    Words change in place and buttons are kept while their deed is offered, so that whoever reads
    or is about to press loses neither the focus nor the button.
    """

    done = Signal(object)

    def __init__(self, look: Look, view: NoticeView) -> None:
        super().__init__(look, f"alarm-{view.code}", kind=_frame(view))
        self._look = look
        self._buttons: dict[tuple[str, str], Button] = {}
        self._deeds: dict[str, Deed] = {}
        self._sign = Sign(look)
        self._title = label("lead", wrap=True)
        self._body = label("body", wrap=True)
        self._row = QHBoxLayout()
        self._row.setSpacing(look.space("step") * 2)
        self._top = QHBoxLayout()
        self._top.setSpacing(look.space("step") * 2)
        self._top.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignVCenter)
        self._top.addWidget(self._title, 1)
        self.column.addLayout(self._top)
        self.column.addWidget(self._body)
        if view.body:
            self.column.addLayout(self._row)
        else:
            self._top.addLayout(self._row)
        self.has_body = bool(view.body)
        self.show_view(view)
        if view.body:
            self._row.addStretch(1)

    def show_view(self, view: NoticeView) -> None:
        """Show `view`."""
        self.setAccessibleName(view.title)
        self.setToolTip(view.evidence)
        self._be(_frame(view))
        self._sign.show_sign(view.shape, view.role)
        show_text(self._title, view.title)
        show_text(self._body, view.body)
        self._body.setVisible(bool(view.body))
        wanted = [(deed.kind, deed.what) for deed in view.deeds]
        for identity in [one for one in self._buttons if one not in wanted]:
            self._drop(identity)
        for place, deed in enumerate(view.deeds):
            self._show_deed(view, deed, place)

    def _show_deed(self, view: NoticeView, deed: Deed, place: int) -> None:
        identity = (deed.kind, deed.what)
        button = self._buttons.get(identity)
        if button is None:
            name = f"alarm-{view.code}-{deed.kind}-{deed.what}"
            button = self._buttons[identity] = self._made(name, deed)
            self._row.insertWidget(place, button)
            button.show()  # a child that comes later is not shown by itself
        self._deeds[button.objectName()] = deed
        button.setToolTip(deed.tooltip)
        if deed.kind != "copy":
            button.show_words(deed.text)
            button.setEnabled(view.enabled)

    def _made(self, name: str, deed: Deed) -> Button:
        if deed.kind == "copy":
            copy = CopyButton(self._look, name, deed.text)
            copy.offer(deed.what)
            return copy
        button = Button(self._look, name, deed.text)
        button.clicked.connect(self._on_clicked)
        return button

    def _drop(self, identity: tuple[str, str]) -> None:
        button = self._buttons.pop(identity)
        self._row.removeWidget(button)
        button.hide()
        button.deleteLater()

    def _be(self, kind: str) -> None:
        """Take the frame of `kind`; a style sheet reads a changed property only when told."""
        if self.property("kind") != kind:
            self.setProperty("kind", kind)
            self.style().unpolish(self)
            self.style().polish(self)

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
        self._cards: dict[str, Notice] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(look.space("card_gap"))
        self.hide()

    def show_notices(self, views: tuple[NoticeView, ...]) -> None:
        """Show `views`; a card that is there already only changes its words."""
        if views == self._views:
            return
        self._views = views
        wanted = {view.code: view for view in views}
        for code in list(self._cards):
            view = wanted.get(code)
            if view is None or bool(view.body) is not self._cards[code].has_body:
                self._drop(code)
        for place, view in enumerate(views):
            self._show(view, place)
        self.setVisible(bool(views))

    def _show(self, view: NoticeView, place: int) -> None:
        card = self._cards.get(view.code)
        if card is None:
            card = self._cards[view.code] = Notice(self._look, view)
            card.done.connect(self.done)
            self._column.insertWidget(place, card)
            card.show()
            return
        card.show_view(view)
        if self._column.indexOf(card) != place:
            self._column.insertWidget(place, card)

    def _drop(self, code: str) -> None:
        card = self._cards.pop(code)
        self._column.removeWidget(card)
        card.hide()
        card.deleteLater()


def _frame(view: NoticeView) -> str:
    return {Role.HARM: "problem", Role.WARN: "question"}.get(view.role, "card")
