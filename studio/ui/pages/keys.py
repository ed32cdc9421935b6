"""The keys page: make one, see its use, revoke it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from studio.ui.language import t
from studio.ui.state import Known
from studio.ui.theme import Look
from studio.ui.viewmodels.keys import HEADINGS, KeyRow, KeysView, keys_view, secret_view
from studio.ui.viewmodels.problem import problem_view
from studio.ui.viewmodels.words import KEY_NAME, MAKE_KEY
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card, ProblemCard, SecretCard
from studio.ui.widgets.text import Elided, label, show_text

_NAME_LENGTH = 64
_STRETCH = (28, 17, 26, 26, 13, 48, 0)
_RIGHT = (4, 5)
_BUTTON_WIDTH = 88


class KeysPage(QScrollArea):
    """Signals: `create_asked` (name), `revoke_asked` (key id)."""

    create_asked = Signal(str)
    revoke_asked = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("page-keys")
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._look = look
        self._known = Known()
        self.problem = ProblemCard(look, "key-problem")
        self.secret = SecretCard(look, "key-secret")
        self.field = QLineEdit()
        self.field.setObjectName("key-name")
        self.field.setPlaceholderText(t(KEY_NAME))
        self.field.setAccessibleName(t(KEY_NAME))
        self.field.setMaxLength(_NAME_LENGTH)
        self.field.textChanged.connect(self._on_name_changed)
        self.field.returnPressed.connect(self._on_create)
        self._create = Button(look, "make-key", t(MAKE_KEY), kind="primary", icon="plus")
        self._create.clicked.connect(self._on_create)
        self._summary = label("quiet")
        self._empty = label("quiet", wrap=True)
        self._rows: dict[str, _Row] = {}
        self._table = QVBoxLayout()
        self._lay_out()

    def show_known(self, known: Known) -> None:
        """Show the keys."""
        if known.secret is not None and known.secret != self._known.secret:
            self.field.clear()
        self._known = known
        view = keys_view(known, self.field.text())
        secret, problem = known.secret, known.key_problem
        base_url = known.gateway.base_url
        self.secret.show_secret(secret_view(secret, base_url) if secret else None)
        self.problem.show_problem(problem_view(problem, can_retry=False) if problem else None)
        self._show_view(view)

    def _show_view(self, view: KeysView) -> None:
        show_text(self._summary, view.summary)
        show_text(self._empty, view.empty)
        self._empty.setVisible(bool(view.empty))
        self._headings.setVisible(bool(view.rows))
        self._create.show_view(view.create)
        if [row.id for row in view.rows] != list(self._rows):
            self._rebuild(view.rows)
        for row in view.rows:
            self._rows[row.id].show_row(row)

    def _rebuild(self, rows: tuple[KeyRow, ...]) -> None:
        wanted = {row.id for row in rows}
        for gone in [key_id for key_id in self._rows if key_id not in wanted]:
            self._rows.pop(gone).deleteLater()
        kept = self._rows
        self._rows = {}
        for row in rows:
            widget = kept.get(row.id)
            if widget is None:
                widget = _Row(self._look, row.id)
                widget.revoke_asked.connect(self.revoke_asked)
            self._table.removeWidget(widget)
            self._table.addWidget(widget)
            self._rows[row.id] = widget

    def _on_name_changed(self) -> None:
        self._create.show_view(keys_view(self._known, self.field.text()).create)

    def _on_create(self) -> None:
        if self._create.isEnabled():
            self.create_asked.emit(self.field.text().strip())

    def _lay_out(self) -> None:
        content = QWidget()
        content.setObjectName("page")
        column = QVBoxLayout(content)
        margin = self._look.space("page_margin")
        column.setContentsMargins(margin, margin, margin, margin)
        column.setSpacing(self._look.space("card_gap"))
        make = QHBoxLayout()
        make.setSpacing(self._look.space("step") * 2)
        make.addWidget(self.field, 1)
        make.addWidget(self._create)
        card = Card(self._look, "keys")
        self._headings = _headings(self._look)
        card.column.addWidget(self._headings)
        card.column.addWidget(self._empty)
        self._table.setSpacing(0)
        card.column.addLayout(self._table)
        column.addWidget(self.problem)
        column.addWidget(self.secret)
        column.addLayout(make)
        column.addWidget(card)
        column.addWidget(self._summary)
        column.addStretch(1)
        self.setWidget(content)


class _Row(QFrame):
    """One key; the question before revoking is asked in place."""

    revoke_asked = Signal(str)

    def __init__(self, look: Look, key_id: str) -> None:
        super().__init__()
        self.setObjectName(f"key-{key_id}")
        self._key_id = key_id
        self._view: KeyRow | None = None
        self._cells = [Elided(kind) for kind in ("body", "mono", "quiet", "quiet", "body", "body")]
        self._revoke = Button(look, f"revoke-{key_id}")
        self._revoke.setFixedWidth(_BUTTON_WIDTH)
        self._revoke.clicked.connect(self._on_revoke)
        self._question = label(wrap=True)
        self._yes = Button(look, f"revoke-yes-{key_id}", t("Revoke"), kind="harm")
        self._yes.clicked.connect(self._on_yes)
        self._no = Button(look, f"revoke-no-{key_id}", t("Keep it"))
        self._no.clicked.connect(self._on_no)
        self._ask = QWidget()
        step = look.space("step")
        asking = QHBoxLayout(self._ask)
        asking.setContentsMargins(0, 0, 0, step * 2)
        asking.setSpacing(step * 2)
        asking.addWidget(self._question, 1)
        asking.addWidget(self._yes)
        asking.addWidget(self._no)
        self._ask.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(_rule())
        column.addLayout(_columns(look, self._cells, self._revoke))
        column.addWidget(self._ask)

    def show_row(self, row: KeyRow) -> None:
        """Show `row`."""
        if row == self._view:
            return
        self._view = row
        texts = (
            (row.name, ""),
            (row.prefix, ""),
            (row.created.text, row.created.tooltip),
            (row.last_used.text, row.last_used.tooltip),
            (row.requests.text, row.requests.tooltip),
            (row.tokens.text, row.tokens.tooltip),
        )
        for cell, (text, tooltip) in zip(self._cells, texts, strict=True):
            cell.show_text(text, tooltip)
        self._revoke.show_view(row.revoke)
        self._revoke.setAccessibleName(f"{row.revoke.text} {row.name}")
        show_text(self._question, row.question)
        if row.revoked:
            self._ask.hide()

    def _on_revoke(self) -> None:
        self._ask.show()
        self._no.setFocus()

    def _on_yes(self) -> None:
        self._ask.hide()
        self.revoke_asked.emit(self._key_id)

    def _on_no(self) -> None:
        self._ask.hide()
        self._revoke.setFocus()


def _headings(look: Look) -> QWidget:
    cells = [Elided("small") for _ in HEADINGS[:-1]]
    for cell, heading in zip(cells, HEADINGS, strict=False):
        cell.show_text(t(heading))
    spacer = QWidget()
    spacer.setFixedWidth(_BUTTON_WIDTH)
    holder = QWidget()
    holder.setLayout(_columns(look, cells, spacer))
    return holder


def _columns(look: Look, cells: list[Elided], last: QWidget) -> QGridLayout:
    step = look.space("step")
    grid = QGridLayout()
    grid.setContentsMargins(0, step, 0, step)
    grid.setHorizontalSpacing(step * 3)
    for place, cell in enumerate(cells):
        if place in _RIGHT:
            cell.setAlignment(Qt.AlignmentFlag.AlignRight)
        cell.setMinimumWidth(0)
        cell.setSizePolicy(cell.sizePolicy().Policy.Ignored, cell.sizePolicy().Policy.Fixed)
        grid.addWidget(cell, 0, place)
    grid.addWidget(last, 0, len(cells))
    for place, stretch in enumerate(_STRETCH):
        grid.setColumnStretch(place, stretch)
    return grid


def _rule() -> QFrame:
    rule = QFrame()
    rule.setProperty("kind", "rule")
    rule.setFixedHeight(1)
    return rule
