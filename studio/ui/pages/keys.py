"""The keys page: make one, see its use, revoke it."""

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from studio.ui.language import t
from studio.ui.state import Known, Link
from studio.ui.theme import Look
from studio.ui.viewmodels.keys import (
    HEADINGS,
    KeyDeed,
    KeyRow,
    KeysView,
    keys_view,
    secret_view,
)
from studio.ui.viewmodels.problem import problem_view
from studio.ui.viewmodels.usage import DayView
from studio.ui.viewmodels.words import KEY_NAME, MAKE_KEY, Role, Shape
from studio.ui.widgets.buttons import Button, IconButton
from studio.ui.widgets.cards import Card, ProblemCard, SecretCard
from studio.ui.widgets.day_bars import Spark
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import Elided, label, show_text
from studio.ui.widgets.usage_card import UsageCard

_NAME_LENGTH = 64
_STRETCH = (27, 18, 26, 24, 0, 14, 18, 0)
_STRETCH_NARROW = (43, 0, 30, 26, 0, 0, 18, 0)
_RIGHT = (5, 6)
_PREFIX, _SPARK, _REQUESTS = 1, 4, 5
_SPARED = (_PREFIX, _REQUESTS)
"""What a narrow page leaves out: neither tells one key from another, and the use below counts."""
_NARROW = 900
"""Of the page: the rail is not part of it."""
_BUTTON_WIDTH = 88
_MENU_WIDTH = 40


class KeysPage(QScrollArea):
    """Signals: `create_asked` (name), `form_asked` (name), `revoke_asked` and `rotate_asked` (key
    id), `deed_asked` (key id, KeyDeed), `connect_asked`.
    """

    create_asked = Signal(str)
    form_asked = Signal(str)
    revoke_asked = Signal(str)
    rotate_asked = Signal(str)
    deed_asked = Signal(str, object)
    connect_asked = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("page-keys")
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._look = look
        self._known = Known()
        self._narrow = False
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
        self._form = Button(look, "make-key-form", t("With limits…"))
        self._form.setToolTip(t("Models, routes, addresses, rates, an end; or kept to be shown"))
        self._form.clicked.connect(self._on_form)
        self._connect = Button(look, "key-connect", t("Put it into a client…"), icon="connect")
        self._connect.clicked.connect(self.connect_asked)
        self.secret.add_button(self._connect)
        self.usage = UsageCard(look)
        self._days: dict[str, tuple[DayView, ...]] = {}
        self._summary = label("quiet")
        self._empty = label("quiet", wrap=True)
        self._rows: dict[str, KeyLine] = {}
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
        self._form.setEnabled(known.link is Link.LIVE)
        self.problem.show_problem(problem_view(problem, can_retry=False) if problem else None)
        self._show_view(view)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave columns out where names would be cut."""
        super().resizeEvent(event)
        narrow = self.width() < _NARROW
        if narrow is not self._narrow:
            self._narrow = narrow
            for holder in (self._headings, *self._rows.values()):
                _spare(holder, is_narrow=narrow, step=self._look.space("step"))

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
        self.show_days(self._days)

    def show_days(self, days: dict[str, tuple[DayView, ...]]) -> None:
        """Show the last days of each key beside its name."""
        self._days = days
        for key, row in self._rows.items():
            row.spark.show_days(days.get(key, ()))

    def _rebuild(self, rows: tuple[KeyRow, ...]) -> None:
        wanted = {row.id for row in rows}
        for gone in [key_id for key_id in self._rows if key_id not in wanted]:
            self._rows.pop(gone).deleteLater()
        kept = self._rows
        self._rows = {}
        for row in rows:
            widget = kept.get(row.id)
            if widget is None:
                widget = KeyLine(self._look, row.id)
                widget.revoke_asked.connect(self.revoke_asked)
                widget.rotate_asked.connect(self.rotate_asked)
                widget.deed_asked.connect(self.deed_asked)
                _spare(widget, is_narrow=self._narrow, step=self._look.space("step"))
            self._table.removeWidget(widget)
            self._table.addWidget(widget)
            self._rows[row.id] = widget
        self._order()

    def _order(self) -> None:
        """Let Tab go through the keys where they stand: Qt's own order is that of making them."""
        before: QWidget = self._create
        for row in self._rows.values():
            for stop in row.stops():
                self.setTabOrder(before, stop)
                before = stop

    def _on_name_changed(self) -> None:
        self._create.show_view(keys_view(self._known, self.field.text()).create)

    def _on_create(self) -> None:
        if self._create.isEnabled():
            self.create_asked.emit(self.field.text().strip())

    def _on_form(self) -> None:
        self.form_asked.emit(self.field.text().strip())

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
        make.addWidget(self._form)
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
        column.addWidget(self.usage)
        column.addStretch(1)
        self.setWidget(content)


class KeyLine(QFrame):
    """One key; questions before revoking and before a new secret are asked in place."""

    revoke_asked = Signal(str)
    rotate_asked = Signal(str)
    deed_asked = Signal(str, object)

    def __init__(self, look: Look, key_id: str) -> None:
        super().__init__()
        self.setObjectName(f"key-{key_id}")
        self._key_id = key_id
        self._view: KeyRow | None = None
        self._rotates = False
        kinds = ("body", "mono", "body", "quiet", "body", "body")
        self._cells = [Elided(kind) for kind in kinds]
        self._sign = Sign(look)
        self._sign.show_sign(Shape.TRIANGLE, Role.HARM)
        self._sign.setAccessibleName(t("prompts are kept"))
        self._sign.hide()
        self.spark = Spark(look)
        self._more = IconButton(look, f"more-{key_id}", "more", t("More"))
        self._more.clicked.connect(self._on_more)
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
        column.addLayout(_columns(look, self._widgets(step), self._last(step)))
        column.addWidget(self._ask)

    def stops(self) -> tuple[QWidget, ...]:
        """Return what Tab stops at, in the order in which it stands."""
        return self._more, self._revoke, self._yes, self._no

    def show_row(self, row: KeyRow) -> None:
        """Show `row`."""
        if row == self._view:
            return
        self._view = row
        texts = (
            (row.name, f"{row.name} · {row.prefix.text}\n{row.prefix.tooltip}"),
            (row.prefix.text, row.prefix.tooltip),
            (row.state.text, row.state.tooltip),
            (row.last_used.text, row.last_used.tooltip),
            (row.requests.text, row.requests.tooltip),
            (row.tokens.text, row.tokens.tooltip),
        )
        for cell, (text, tooltip) in zip(self._cells, texts, strict=True):
            cell.show_text(text, tooltip)
        self._sign.setVisible(row.is_recorded)
        self._sign.setToolTip(row.state.tooltip)
        self._revoke.show_view(row.revoke)
        self._revoke.setAccessibleName(f"{row.revoke.text} {row.name}")
        self._more.setAccessibleName(t("More about {name}").format(name=row.name))
        show_text(self._question, row.rotate_question if self._rotates else row.question)
        if row.revoked:
            self._ask.hide()

    def menu(self) -> QMenu:
        """Return what else can be done with this key."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        for view in self._view.deeds if self._view is not None else ():
            action = menu.addAction(view.text)
            action.setToolTip(view.tooltip)
            action.setEnabled(view.enabled)
            action.setData(view.deed.value)
            action.triggered.connect(self._on_deed)
        return menu

    def _on_more(self) -> None:
        menu = self.menu()
        corner = self._more.mapToGlobal(self._more.rect().bottomRight())
        menu.popup(corner - QPoint(menu.sizeHint().width(), -2))

    def _on_deed(self) -> None:
        action = self.sender()
        if not isinstance(action, QAction):
            return
        deed = KeyDeed(str(action.data()))
        if deed is KeyDeed.ROTATE:
            self._ask_first(rotates=True)
        else:
            self.deed_asked.emit(self._key_id, deed)

    def _on_revoke(self) -> None:
        self._ask_first(rotates=False)

    def _ask_first(self, *, rotates: bool) -> None:
        if self._view is None:
            return
        self._rotates = rotates
        show_text(self._question, self._view.rotate_question if rotates else self._view.question)
        self._yes.show_words(t("New secret") if rotates else t("Revoke"))
        self._no.show_words(t("Keep the old one") if rotates else t("Keep it"))
        self._ask.show()
        self._no.setFocus()

    def _on_yes(self) -> None:
        self._ask.hide()
        (self.rotate_asked if self._rotates else self.revoke_asked).emit(self._key_id)

    def _on_no(self) -> None:
        self._ask.hide()
        (self._more if self._rotates else self._revoke).setFocus()

    def _widgets(self, step: int) -> list[QWidget]:
        state = QWidget()
        row = QHBoxLayout(state)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(step)
        row.addWidget(self._sign)
        row.addWidget(self._cells[2], 1)
        return [*self._cells[:2], state, self._cells[3], self.spark, *self._cells[4:]]

    def _last(self, step: int) -> QWidget:
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(step)
        row.addWidget(self._more)
        row.addWidget(self._revoke)
        return holder


def _headings(look: Look) -> QWidget:
    cells = [Elided("small") for _ in HEADINGS[:-1]]
    for cell, heading in zip(cells, HEADINGS, strict=False):
        cell.show_text(t(heading))
    cells[_SPARK].setFixedWidth(Spark(look).width())
    spacer = QWidget()
    spacer.setFixedWidth(_BUTTON_WIDTH + _MENU_WIDTH)
    holder = QWidget()
    holder.setLayout(_columns(look, list(cells), spacer))
    return holder


def _columns(look: Look, cells: list[QWidget], last: QWidget) -> QGridLayout:
    step = look.space("step")
    grid = QGridLayout()
    grid.setContentsMargins(0, step, 0, step)
    grid.setHorizontalSpacing(step * 3)
    last.setFixedWidth(_BUTTON_WIDTH + _MENU_WIDTH)
    for place, cell in enumerate(cells):
        if place in _RIGHT and isinstance(cell, QLabel):
            cell.setAlignment(Qt.AlignmentFlag.AlignRight)
        if place != _SPARK:
            cell.setMinimumWidth(0)
            cell.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
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


def _spare(holder: QWidget, *, is_narrow: bool, step: int) -> None:
    """Leave columns of a row or of the headings out, or show all, and share the room anew."""
    for grid in holder.findChildren(QGridLayout):
        items = [grid.itemAtPosition(0, column) for column in _SPARED]
        widgets = [item.widget() for item in items if item is not None]
        if len(widgets) == len(_SPARED):
            for widget in widgets:
                if widget is not None:
                    widget.setVisible(not is_narrow)
            grid.setHorizontalSpacing(step * (2 if is_narrow else 3))
            for place, stretch in enumerate(_STRETCH_NARROW if is_narrow else _STRETCH):
                grid.setColumnStretch(place, stretch)
