"""The connect page: clients on the left, one of them on the right, and trying it."""

from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from studio.domain.clients import Labelled, Snippet
from studio.domain.errors import ErrorInfo
from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.connect import ChoiceView, ConnectView, KeyChoice, is_masked
from studio.ui.viewmodels.problem import problem_view
from studio.ui.widgets.box import Box
from studio.ui.widgets.buttons import Button, CopyButton
from studio.ui.widgets.cards import Card, ProblemCard
from studio.ui.widgets.client_list import ClientList
from studio.ui.widgets.code import CodeBlock
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import Elided, label, selectable, show_text
from studio.ui.widgets.try_panel import TryPanel

_DIFF_LINES = 18
_SNIPPET_LINES = 14
_LABEL_WIDTH = 128
_KEY_WIDTH = 200


class ConnectPage(QWidget):
    """Signals: `client_chosen` (id), `key_chosen` (name, `new` or None), `write_asked`,
    `undo_asked`, `file_asked`, `problem_dismissed`.
    """

    client_chosen = Signal(str)
    key_chosen = Signal(object)
    write_asked = Signal()
    undo_asked = Signal()
    file_asked = Signal()
    problem_dismissed = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("page")
        self._look = look
        self.clients = ClientList(look)
        self.clients.chosen.connect(self.client_chosen)
        self.problem = ProblemCard(look, "connect-problem")
        self.problem.dismissed.connect(self.problem_dismissed)
        self.detail = _Detail(look)
        self.detail.key.activated.connect(self._on_key)
        self.detail.write.clicked.connect(self.write_asked)
        self.detail.undo.clicked.connect(self.undo_asked)
        self.detail.file.clicked.connect(self.file_asked)
        self.try_panel = TryPanel(look)
        self._empty = label("quiet", wrap=True)
        self._empty.setObjectName("connect-empty")
        self._notes = label("quiet", wrap=True)
        self._keys: tuple[KeyChoice, ...] = ()
        self._lay_out()

    def show_list(self, views: tuple[ChoiceView, ...], chosen: str | None, notes: str) -> None:
        """Show the clients, and what is to be said of all of them."""
        self.clients.show_choices(views, chosen)
        self.clients.setVisible(bool(views))
        self._align(has_list=bool(views))
        show_text(self._notes, notes)
        self._notes.setVisible(bool(notes))

    def show_client(self, view: ConnectView | None, empty: str) -> None:
        """Show the client in front, or why there is none."""
        show_text(self._empty, empty)
        self._empty.setVisible(bool(empty))
        self.detail.setVisible(view is not None)
        if view is not None:
            self.detail.show_view(view)

    def show_keys(self, keys: tuple[KeyChoice, ...], chosen: str | None) -> None:
        """Offer the keys that may be put into the client."""
        box = self.detail.key
        if keys != self._keys:
            self._keys = keys
            box.clear()
            box.addItems([one.text for one in keys])
        values = [one.value for one in keys]
        box.setCurrentIndex(values.index(chosen) if chosen in values else 0)

    def show_problem(self, error: ErrorInfo | None) -> None:
        """Show what was refused, or nothing."""
        self.problem.show_problem(problem_view(error, can_retry=False) if error else None)

    def _on_key(self, index: int) -> None:
        if 0 <= index < len(self._keys):
            self.key_chosen.emit(self._keys[index].value)

    def _align(self, *, has_list: bool) -> None:
        """Let the list's words, or what stands there without a list, begin at the margin."""
        margin, gap = self._look.space("page_margin"), self._look.space("card_gap")
        layout = self.layout()
        if layout is not None:
            layout.setContentsMargins(
                margin - gap if has_list else margin, margin, margin, margin - gap
            )

    def _lay_out(self) -> None:
        gap = self._look.space("card_gap")
        content = QWidget()
        content.setObjectName("page")
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(gap)
        for widget in (self.problem, self._empty, self.detail, self.try_panel, self._notes):
            column.addWidget(widget)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setObjectName("connect-scroll")
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(content)
        row = QHBoxLayout(self)
        row.setSpacing(gap)
        self._align(has_list=True)
        row.addWidget(self.clients)
        row.addWidget(scroll, 1)


class _Detail(Card):
    """One client."""

    def __init__(self, look: Look) -> None:
        super().__init__(look, "client")
        self._look = look
        self._title = label("title")
        self._title.setObjectName("client-title")
        self._sign = Sign(look)
        self._state = label("quiet")
        self._state.setObjectName("client-state")
        self._summary = label("quiet", wrap=True)
        self._facts = _Pairs(look, "client-facts")
        self.key = Box()
        self.key.setObjectName("connect-key")
        self.key.setAccessibleName(t("Key for this client"))
        self.key.setMinimumWidth(_KEY_WIDTH)
        self.file = Button(look, "connect-file")
        self.write = Button(look, "connect-write", kind="primary")
        self.undo = Button(look, "connect-undo", icon="restart")
        self._copy = CopyButton(look, "connect-copy", t("Copy"))
        self._done = label(wrap=True)
        self._done.setObjectName("connect-done")
        self._copy.setAccessibleDescription(t("What changes in the file"))
        self._diff_title = label("quiet")
        self._diff = CodeBlock(
            look, "connect-diff", t("What changes in the file"), lines=_DIFF_LINES, marks=True
        )
        self._values = _Values(look)
        self._steps = label(wrap=True)
        self._steps.setObjectName("connect-steps")
        self._snippets = _Snippets(look)
        self._notes = label("small", wrap=True)
        self._notes.setObjectName("connect-notes")
        self._lay_out()

    def show_view(self, view: ConnectView) -> None:
        """Show `view`."""
        show_text(self._title, view.title)
        show_text(self._summary, view.summary)
        show_text(self._state, view.sign.text)
        self._sign.show_sign(view.sign.shape, view.sign.role)
        self._sign.setVisible(bool(view.sign.text))
        self._facts.show_pairs([(name, text.text, text.tooltip) for name, text in view.facts])
        self.write.show_view(view.write)
        self.undo.show_view(view.undo)
        self.file.show_view(view.file)
        self._copy.offer(view.copy)
        show_text(self._done, view.done)
        self._done.setVisible(bool(view.done))
        show_text(self._diff_title, view.diff_title)
        self._diff_title.setVisible(bool(view.diff_title))
        self._diff.show_text(view.diff)
        self._diff.setVisible(bool(view.diff))
        self._values.show_values(view.values)
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(view.steps, 1))
        show_text(self._steps, steps)
        self._steps.setVisible(bool(steps))
        self._snippets.show_snippets(view.snippets)
        show_text(self._notes, "\n".join(view.notes))
        self._notes.setVisible(bool(view.notes))

    def _lay_out(self) -> None:
        step = self._look.space("step")
        head = QHBoxLayout()
        head.setSpacing(step * 2)
        head.addWidget(self._title)
        head.addStretch(1)
        head.addWidget(self._sign)
        head.addWidget(self._state)
        keys, buttons = QHBoxLayout(), QHBoxLayout()  # in one row they are wider than 900 allows
        for row in (keys, buttons):
            row.setSpacing(step * 2)
        keys.addWidget(self.key, 1)
        keys.addWidget(self._copy)
        buttons.addWidget(self.file)
        buttons.addStretch(1)
        buttons.addWidget(self.undo)
        buttons.addWidget(self.write)
        self.column.addLayout(head)
        self.column.addWidget(self._summary)
        self.column.addWidget(self._facts)
        self.column.addLayout(keys)
        self.column.addLayout(buttons)
        for widget in (
            self._done,
            self._diff_title,
            self._diff,
            self._steps,
            self._values,
            self._snippets,
            self._notes,
        ):
            self.column.addWidget(widget)


class _Pairs(QWidget):
    """Names with their values, in two columns."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(look.space("step") * 3)
        self._grid.setVerticalSpacing(look.space("step"))
        self._grid.setColumnMinimumWidth(0, _LABEL_WIDTH)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[Elided, QLabel]] = []

    def show_pairs(self, pairs: Iterable[tuple[str, str, str]]) -> None:
        """Show name, value and what the value says on hover."""
        wanted = list(pairs)
        while len(self._rows) < len(wanted):
            row = (Elided("quiet"), selectable("mono", ""))
            row[1].setWordWrap(True)
            row[1].setFocusPolicy(Qt.FocusPolicy.ClickFocus)
            self._grid.addWidget(row[0], len(self._rows), 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(row[1], len(self._rows), 1)
            self._rows.append(row)
        for number, (name, value) in enumerate(self._rows):
            is_used = number < len(wanted)
            name.setVisible(is_used)
            value.setVisible(is_used)
            if is_used:
                name.show_text(wanted[number][0])
                show_text(value, wanted[number][1], wanted[number][2])
                value.setAccessibleName(f"{wanted[number][0]}: {wanted[number][1]}")


class _Values(QWidget):
    """Values to type, each with a button that copies it."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("connect-values")
        self._look = look
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(look.space("step") * 3)
        self._grid.setVerticalSpacing(look.space("step"))
        self._grid.setColumnMinimumWidth(0, _LABEL_WIDTH)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[Elided, Elided, CopyButton]] = []

    def show_values(self, values: tuple[Labelled, ...]) -> None:
        """Show the values."""
        while len(self._rows) < len(values):
            number = len(self._rows)
            row = (
                Elided("quiet"),
                Elided("mono"),
                CopyButton(self._look, f"connect-copy-{number}", t("Copy"), kind="plain"),
            )
            for column, cell in enumerate(row):
                self._grid.addWidget(cell, number, column)
            self._rows.append(row)
        for number, row in enumerate(self._rows):
            for cell in row:
                cell.setVisible(number < len(values))
            if number < len(values):
                row[0].show_text(values[number].label)
                row[1].show_text(values[number].value)
                value = values[number].value
                row[2].offer("" if values[number].is_secret and is_masked(value) else value)
                copy = t("Copy")
                row[2].setAccessibleName(f"{copy} {values[number].label}")
        self.setVisible(bool(values))


class _Snippets(QWidget):
    """Pieces to copy, one in front; a button each chooses."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("connect-snippets")
        self._look = look
        self._snippets: tuple[Snippet, ...] = ()
        self._front = 0
        self._tabs: list[Button] = []
        self._row = QHBoxLayout()
        self._row.setSpacing(look.space("step"))
        self._copy = CopyButton(look, "connect-copy-snippet", t("Copy"), kind="plain")
        self._copy.setAccessibleDescription(t("Snippet"))
        self._row.addStretch(1)
        self._row.addWidget(self._copy)
        self._text = CodeBlock(look, "connect-snippet", t("Snippet"), lines=_SNIPPET_LINES)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(look.space("step"))
        column.addLayout(self._row)
        column.addWidget(self._text)

    def show_snippets(self, snippets: tuple[Snippet, ...]) -> None:
        """Show the pieces."""
        if [one.title for one in snippets] != [one.title for one in self._snippets]:
            self._front = 0
        self._snippets = snippets
        while len(self._tabs) < len(snippets):
            tab = Button(self._look, f"connect-tab-{len(self._tabs)}")
            tab.setCheckable(True)
            tab.clicked.connect(self._on_tab)
            self._row.insertWidget(len(self._tabs), tab)
            self._tabs.append(tab)
        for number, tab in enumerate(self._tabs):
            tab.setVisible(number < len(snippets))
            tab.setChecked(number == self._front)
            if number < len(snippets):
                tab.show_words(snippets[number].title)
        self.setVisible(bool(snippets))
        text = snippets[self._front].text if snippets else ""
        self._text.show_text(text)
        self._copy.offer(text)

    def _on_tab(self) -> None:
        tab = self.sender()
        self._front = next(number for number, one in enumerate(self._tabs) if one is tab)
        self.show_snippets(self._snippets)
