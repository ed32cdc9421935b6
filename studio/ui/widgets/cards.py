"""Cards: the plain one, the error card, and the card that shows a key once."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.keys import SecretView
from studio.ui.viewmodels.problem import ProblemView, Remedy, RemedyView
from studio.ui.viewmodels.words import DISMISS, Role, Shape
from studio.ui.widgets.buttons import Button, CopyButton, IconButton
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import Elided, label, selectable, show_text


class Card(QFrame):
    """A raised surface with a heading and a column of content."""

    def __init__(self, look: Look, name: str, heading: str = "", *, kind: str = "card") -> None:
        super().__init__()
        self.setObjectName(name)
        self.setProperty("kind", kind)
        pad = look.space("card_padding")
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(pad, pad, pad, pad)
        self.column.setSpacing(look.space("step") * 2)
        self.heading = label("lead", heading)
        if heading:
            self.column.addWidget(self.heading)


class ProblemCard(Card):
    """What failed and why, the lines that prove it folded, and buttons that act.

    Signals: `chosen` (Remedy), `fix_asked` (number of a remedy), `dismissed`.
    """

    chosen = Signal(object)
    fix_asked = Signal(int)
    dismissed = Signal()

    def __init__(self, look: Look, name: str) -> None:
        super().__init__(look, name, kind="problem")
        self._look = look
        self._view: ProblemView | None = None
        self._sign = Sign(look)
        self._title = selectable("lead", t("What went wrong"))
        self._title.setWordWrap(True)
        self._title.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._title.setContentsMargins(0, 4, 0, 0)
        self._hint = selectable("body", t("What to do"))
        self._hint.setWordWrap(True)
        self._code = label("code")
        close = IconButton(look, f"{name}-close", "close", t(DISMISS))
        close.clicked.connect(self.dismissed)
        self._fold = Button(look, f"{name}-evidence-button", kind="plain", icon="right")
        self._fold.setCheckable(True)
        self._fold.toggled.connect(self._on_folded)
        self._evidence = selectable("evidence", t("Lines of the log that prove it"))
        self._evidence.setObjectName(f"{name}-evidence")
        self._evidence.setWordWrap(True)
        self._evidence.hide()
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(look.space("step") * 2)
        self._lay_out(close)
        self.hide()

    def show_problem(self, view: ProblemView | None) -> None:
        """Show `view`, or nothing."""
        if view == self._view:
            return
        self._view = view
        if view is None:
            self.hide()
            return
        self._be("question" if view.is_question else "problem")
        role = Role.WARN if view.is_question else Role.HARM
        self._sign.show_sign(Shape.TRIANGLE if view.is_question else Shape.CROSS, role)
        show_text(self._title, view.title)
        show_text(self._hint, view.hint)
        self._hint.setVisible(bool(view.hint))
        show_text(self._code, view.code)
        show_text(self._evidence, view.evidence)
        self._fold.setText(view.evidence_button)
        self._fold.setVisible(bool(view.evidence))
        self._fold.setChecked(False)
        self.setAccessibleName(view.title)
        self._offer(view.remedies)
        self.show()

    def unfold(self) -> None:
        """Show the evidence."""
        self._fold.setChecked(True)

    def _lay_out(self, close: IconButton) -> None:
        top = QHBoxLayout()
        top.setSpacing(self._look.space("step") * 2)
        sign = QVBoxLayout()
        sign.setContentsMargins(0, 7, 0, 0)
        sign.addWidget(self._sign)
        sign.addStretch(1)
        top.addLayout(sign)
        top.addWidget(self._title, 1)
        top.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self.column.addLayout(top)
        self.column.addWidget(self._hint)
        self.column.addWidget(self._fold, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self._evidence)
        foot = QHBoxLayout()
        foot.addLayout(self._buttons)
        foot.addStretch(1)
        foot.addWidget(self._code)
        self.column.addLayout(foot)

    def _be(self, kind: str) -> None:
        """Take the frame of `kind`; a style sheet reads a changed property only when told."""
        if self.property("kind") != kind:
            self.setProperty("kind", kind)
            self.style().unpolish(self)
            self.style().polish(self)

    def _offer(self, remedies: tuple[RemedyView, ...]) -> None:
        while (item := self._buttons.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                old.hide()
                old.deleteLater()
        for remedy in remedies:
            name = f"{self.objectName()}-{remedy.remedy.value}"
            kind = "primary" if remedy.primary else ""
            if remedy.remedy in (Remedy.COPY, Remedy.COMMAND) and self._view is not None:
                copy = CopyButton(self._look, name, remedy.text)
                copy.setToolTip(remedy.tooltip)
                copy.offer(remedy.command or self._view.report)
                self._buttons.addWidget(copy)
                copy.show()
                continue
            button = Button(self._look, name, remedy.text, kind=kind)
            if remedy.number is not None:
                button.setObjectName(f"{name}-{remedy.number}")
                button.setProperty("number", remedy.number)
            button.setToolTip(remedy.tooltip)
            button.setProperty("remedy", remedy.remedy.value)
            button.clicked.connect(self._on_clicked)
            self._buttons.addWidget(button)
            button.show()

    def _on_clicked(self) -> None:
        button = self.sender()
        number: object = button.property("number")
        if isinstance(number, int):
            self.fix_asked.emit(number)
        else:
            self.chosen.emit(Remedy(str(button.property("remedy"))))

    def _on_folded(self, unfolded: bool) -> None:
        self._evidence.setVisible(unfolded)
        self._fold.use_icon("down" if unfolded else "right")


class SecretCard(Card):
    """A new key and where to use it. Signals: `dismissed`."""

    dismissed = Signal()

    def __init__(self, look: Look, name: str) -> None:
        super().__init__(look, name, kind="secret")
        self._view: SecretView | None = None
        self._title = label("lead")
        self._hint = label("quiet", wrap=True)
        self._key = selectable("mono", t("The new key"))
        self._key.setObjectName(f"{name}-key")
        self._copy = CopyButton(look, f"{name}-copy", t("Copy key"), kind="primary")
        self._url = Elided("mono")
        self._copy_url = CopyButton(look, f"{name}-copy-url", t("Copy address"))
        self._done = Button(look, f"{name}-done", kind="plain")
        self._done.clicked.connect(self.dismissed)
        self.column.addWidget(self._title)
        self.column.addWidget(self._hint)
        self.column.addWidget(self._well(look))
        self.hide()

    def show_secret(self, view: SecretView | None) -> None:
        """Show `view`, or nothing, and then keep nothing."""
        if view == self._view:
            return
        self._view = view
        self.setVisible(view is not None)
        show_text(self._key, view.key if view else "")
        self._copy.offer(view.key if view else "")
        self._copy_url.offer(view.base_url if view else "")
        if view is not None:
            show_text(self._title, view.title)
            show_text(self._hint, view.hint)
            self._done.setText(t(view.dismiss))

    def add_button(self, button: Button) -> None:
        """Add what else can be done with the key, below it."""
        self.column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)

    def _well(self, look: Look) -> QWidget:
        well = QFrame()
        well.setProperty("kind", "well")
        row = QHBoxLayout(well)
        step = look.space("step")
        row.setContentsMargins(step * 3, step * 2, step * 2, step * 2)
        row.setSpacing(step * 2)
        row.addWidget(self._key, 1)
        row.addWidget(self._copy)
        row.addWidget(self._copy_url)
        row.addWidget(self._done)
        return well
