"""One runtime in full: its state, facts and buttons, and what stands beside it."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.runtimes import DeedView, RuntimeView
from studio.ui.viewmodels.runtimes_beside import OpenView, UpdateView, VersionView
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card
from studio.ui.widgets.code import CodeBlock
from studio.ui.widgets.facts import Facts
from studio.ui.widgets.flow import Flow
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import Elided, label, show_text

_CHANGE_LINES = 14


class RuntimeCard(Card):
    """The runtime in front. Signal: `done` (Deed)."""

    done = Signal(object)

    def __init__(self, look: Look) -> None:
        super().__init__(look, "runtime")
        self._look = look
        self._title = label("title", wrap=True)
        self._title.setObjectName("runtime-title")
        self._name = label("code")
        self._sign = Sign(look)
        self._state = label("quiet")
        self._state.setObjectName("runtime-state")
        self._reasons = label(wrap=True)
        self._reasons.setObjectName("runtime-reasons")
        self._deeds: tuple[DeedView, ...] = ()
        self._buttons: list[Button] = []
        self._row = QWidget()
        self._flow = Flow(look.space("step") * 2, self._row)
        self._facts = Facts(look, "runtime-facts")
        self._steps = label("quiet", wrap=True)
        self._steps.setObjectName("runtime-steps")
        self._lay_out()

    def show_view(self, view: RuntimeView) -> None:
        """Show `view`."""
        show_text(self._title, view.title)
        show_text(self._name, view.name)
        show_text(self._state, view.sign.text)
        self._sign.show_sign(view.sign.shape, view.sign.role)
        show_text(self._reasons, "\n".join(f"• {one}" for one in view.reasons))
        self._reasons.setVisible(bool(view.reasons))
        self._show_deeds(view.deeds)
        self._facts.show_facts(view.facts)
        steps = t("Made on this machine:")
        show_text(self._steps, "\n".join((steps, *(f"• {one}" for one in view.steps))))
        self._steps.setVisible(bool(view.steps))

    def _show_deeds(self, deeds: tuple[DeedView, ...]) -> None:
        shape = [(one.deed, one.kind) for one in deeds]
        if shape != [(one.deed, one.kind) for one in self._deeds]:
            for old in self._buttons:
                self._flow.removeWidget(old)
                old.hide()
                old.deleteLater()
            self._buttons = [
                Button(self._look, f"runtime-{one.deed.value}", kind=one.kind) for one in deeds
            ]
            for button in self._buttons:
                button.clicked.connect(self._on_clicked)
                self._flow.addWidget(button)
        self._deeds = deeds
        for button, one in zip(self._buttons, deeds, strict=True):
            button.show_view(one.button)

    def _on_clicked(self) -> None:
        pairs = zip(self._buttons, self._deeds, strict=True)
        self.done.emit(next(one.deed for button, one in pairs if button is self.sender()))

    def _lay_out(self) -> None:
        step = self._look.space("step")
        head = QHBoxLayout()
        head.setSpacing(step * 2)
        names = QVBoxLayout()
        names.setSpacing(2)
        names.addWidget(self._title)
        names.addWidget(self._name)
        head.addLayout(names, 1)
        top = Qt.AlignmentFlag.AlignTop
        self._sign.setContentsMargins(0, 0, 0, 0)
        head.addWidget(self._sign, 0, top)
        head.addWidget(self._state, 0, top)
        self.column.addLayout(head)
        for widget in (self._reasons, self._row, self._facts, self._steps):
            self.column.addWidget(widget)


class UpdateCards(QWidget):
    """What could take its place. Signal: `asked` (UpdateView)."""

    asked = Signal(object)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._views: tuple[UpdateView, ...] = ()
        self._cards: list[tuple[Card, Button]] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(look.space("card_gap"))
        self.hide()

    def show_views(self, views: tuple[UpdateView, ...]) -> None:
        """Show `views`; cards are made anew only where more than a button changed."""
        if [_still(one) for one in views] != [_still(one) for one in self._views]:
            for card, _button in self._cards:
                self._column.removeWidget(card)
                card.hide()
                card.deleteLater()
            self._cards = [self._card(one) for one in views]
        self._views = views
        for (_card, button), view in zip(self._cards, views, strict=True):
            button.show_view(view.button)
        self.setVisible(bool(views))

    def _card(self, view: UpdateView) -> tuple[Card, Button]:
        card = Card(self._look, f"update-{view.target}", view.title)
        button = Button(self._look, f"update-{view.target}-do", kind="primary")
        button.clicked.connect(self._on_clicked)
        card.column.addWidget(label("quiet", view.cost, wrap=True))
        for reason in view.reasons:
            card.column.addWidget(label("body", reason, wrap=True))
        if view.changes:
            words = t("What the update changes")
            block = CodeBlock(
                self._look, f"update-{view.target}-changes", words, lines=_CHANGE_LINES, marks=True
            )
            block.show_text(view.changes)
            card.column.addWidget(block)
        card.column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addWidget(card)
        card.show()
        return card, button

    def _on_clicked(self) -> None:
        pairs = zip(self._cards, self._views, strict=True)
        self.asked.emit(next(view for (_, button), view in pairs if button is self.sender()))


class VersionsCard(Card):
    """The installations that are kept."""

    def __init__(self, look: Look) -> None:
        super().__init__(look, "runtime-versions", t("Installations"))
        self._look = look
        self._views: tuple[VersionView, ...] = ()
        self._rows: list[QWidget] = []
        self.hide()

    def show_views(self, views: tuple[VersionView, ...]) -> None:
        """Show `views`, the newest first."""
        if views == self._views:
            return
        self._views = views
        _clear(self.column, self._rows)
        for view in views:
            row = QWidget()
            line = QHBoxLayout(row)
            line.setContentsMargins(0, 0, 0, 0)
            line.setSpacing(self._look.space("step") * 3)
            text = Elided("mono")
            text.show_text(view.text, view.tooltip)
            line.addWidget(text, 1)
            line.addWidget(label("quiet", view.word))
            line.addWidget(label("body", view.size))
            self.column.addWidget(row)
            self._rows.append(row)
        self.setVisible(bool(views))


class OpenCard(Card):
    """What it waits for. Signals: `supplied` (OpenView, what was typed), `forgotten`."""

    supplied = Signal(object, str)
    forgotten = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__(look, "runtime-open", t("What it waits for"))
        self._look = look
        self._views: tuple[OpenView, ...] = ()
        self._rows: list[QWidget] = []
        self._fields: list[QLineEdit | None] = []
        self._buttons: list[Button] = []
        self._forget = Button(look, "runtime-forget", t("Take back what I supplied"), kind="plain")
        self._forget.clicked.connect(self.forgotten)
        self.column.addWidget(self._forget, 0, Qt.AlignmentFlag.AlignLeft)
        self.hide()

    def show_views(self, views: tuple[OpenView, ...], *, can_forget: bool, can_act: bool) -> None:
        """Show `views`; a field that somebody types in stays as it is."""
        if views != self._views:
            self._views = views
            _clear(self.column, self._rows)
            self._fields, self._buttons = [], []
            for place, view in enumerate(views):
                row = self._row(view, place)
                self.column.insertWidget(1 + place, row)
                self._rows.append(row)
        for button in self._buttons:
            button.setEnabled(can_act)
        self._forget.setVisible(can_forget)
        self._forget.setEnabled(can_act)
        show_text(self.heading, t("What it waits for") if views else t("What you supplied"))
        self.setVisible(bool(views) or can_forget)

    def _row(self, view: OpenView, place: int) -> QWidget:
        row = QWidget()
        column = QVBoxLayout(row)
        step = self._look.space("step")
        column.setContentsMargins(0, 0, 0, step)
        column.setSpacing(step)
        column.addWidget(label("body", view.text, wrap=True))
        line = QHBoxLayout()
        line.setSpacing(step * 2)
        field = QLineEdit() if view.field else None
        if field is not None:
            field.setObjectName(f"open-{place}-field")
            field.setPlaceholderText(view.field)
            field.setAccessibleName(f"{view.name}: {view.field}")
            line.addWidget(field, 1)
        button = Button(self._look, f"open-{place}", view.button)
        button.setAccessibleName(f"{view.button}: {view.name}")
        button.clicked.connect(self._on_clicked)
        line.addWidget(button)
        if field is None:
            line.addStretch(1)
        column.addLayout(line)
        self._fields.append(field)
        self._buttons.append(button)
        return row

    def _on_clicked(self) -> None:
        place = next(place for place, one in enumerate(self._buttons) if one is self.sender())
        field = self._fields[place]
        self.supplied.emit(self._views[place], field.text().strip() if field is not None else "")


class NotesCard(Card):
    """How it is known to fail, folded."""

    def __init__(self, look: Look) -> None:
        super().__init__(look, "runtime-notes")
        self._fold = Button(look, "runtime-notes-fold", kind="plain", icon="right")
        self._fold.setCheckable(True)
        self._fold.toggled.connect(self._on_folded)
        self.column.addWidget(self._fold, 0, Qt.AlignmentFlag.AlignLeft)
        self._view: RuntimeView | None = None
        self._texts: list[QWidget] = []
        self.hide()

    def show_view(self, view: RuntimeView) -> None:
        """Show the notes of `view`."""
        self.setVisible(bool(view.notes))
        if self._view is not None and view.notes == self._view.notes:
            return
        self._view = view
        _clear(self.column, self._texts)
        for note in view.notes:
            title, text = label("body", note.title, wrap=True), label("quiet", note.text, wrap=True)
            self._add(title)
            self._add(text)
        self._fold.show_words(view.notes_title)
        self._fold.setChecked(False)
        self._on_folded(False)

    def _add(self, text: QLabel) -> None:
        self.column.addWidget(text)
        self._texts.append(text)

    def _on_folded(self, unfolded: bool) -> None:
        for text in self._texts:
            text.setVisible(unfolded)
        self._fold.use_icon("down" if unfolded else "right")


def _still(view: UpdateView) -> Sequence[object]:
    """Return what a card shows, without its button."""
    return (view.target, view.title, view.cost, view.reasons, view.changes)


def _clear(column: QVBoxLayout, rows: list[QWidget]) -> None:
    for row in rows:
        column.removeWidget(row)
        row.hide()
        row.deleteLater()
    rows.clear()
