"""The way to a Linux for the engines on Windows, in the place of the first run."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.words import Role
from studio.ui.viewmodels.wsl import WslStepView, WslView
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card
from studio.ui.widgets.foot import Foot
from studio.ui.widgets.progress import Bar
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import label, selectable, show_text


class WslPart(QWidget):
    """Signals: `go_on_asked`, `look_asked`. `foot` is laid out by whoever holds this."""

    go_on_asked = Signal()
    look_asked = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("wsl")
        self._look = look
        self._heading = label("title")
        self._about = label("quiet", wrap=True)
        self._again = Button(look, "wsl-look-again", kind="plain", icon="restart")
        self._again.clicked.connect(self.look_asked)
        self._problem = selectable("body", t("What went wrong"))
        self._problem.setObjectName("wsl-problem")
        self._problem.setWordWrap(True)
        self._wrong = Card(look, "wsl-wrong", kind="problem")
        self._wrong.column.addWidget(self._problem)
        self._busy = label("body", wrap=True)
        self._busy.setObjectName("wsl-busy")
        self._bar = Bar(look)
        self._bar.show_share(None, Role.WATER)
        self._rows: list[_Row] = []
        self._way = Card(look, "wsl-way")
        self.foot = Foot(look, "wsl", "wsl-go-on")
        self.foot.button.clicked.connect(self.go_on_asked)
        self.foot.hide()
        self._lay_out()

    def show_view(self, view: WslView | None) -> None:
        """Show `view`; None hides all of it."""
        self.setVisible(view is not None)
        self.foot.setVisible(view is not None)
        if view is None:
            return
        show_text(self._heading, view.heading)
        show_text(self._about, view.about)
        self._again.show_view(view.look_again)
        show_text(self._problem, view.problem)
        self._wrong.setVisible(bool(view.problem))
        show_text(self._busy, view.busy)
        self._busy.setVisible(bool(view.busy))
        self._bar.setVisible(bool(view.busy))
        while len(self._rows) < len(view.steps):
            row = _Row(self._look, len(self._rows))
            self._rows.append(row)
            self._way.column.insertWidget(len(self._rows) - 1, row)
            row.show()
        for row, step in zip(self._rows, view.steps, strict=True):
            row.show_step(step)
        self.foot.show_lines(view.lines, view.button)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self._heading, 1)
        head.addWidget(self._again)
        self._way.column.addWidget(self._busy)
        self._way.column.addWidget(self._bar)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self._look.space("card_gap"))
        column.addLayout(head)
        column.addWidget(self._about)
        column.addWidget(self._wrong)
        column.addWidget(self._way)


class _Row(QWidget):
    """One step: sign, name, how it stands, and what is missing."""

    def __init__(self, look: Look, number: int) -> None:
        super().__init__()
        self.setObjectName(f"wsl-step-{number}")
        self._sign = Sign(look)
        self._title = label("body")
        self._word = label("small")
        self._note: QLabel = selectable("quiet", t("What is missing"))
        self._note.setWordWrap(True)
        step = look.space("step")
        grid = QGridLayout(self)
        grid.setContentsMargins(0, step // 2, 0, step // 2)
        grid.setHorizontalSpacing(step * 2)
        grid.setVerticalSpacing(step // 2)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self._sign, 0, 0, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(self._title, 0, 1)
        grid.addWidget(self._word, 0, 2)
        grid.addWidget(self._note, 1, 1, 1, 2)

    def show_step(self, view: WslStepView) -> None:
        """Show `view`."""
        self._sign.show_sign(view.shape, view.role)
        show_text(self._title, view.title)
        show_text(self._word, view.word)
        show_text(self._note, view.note)
        self._note.setVisible(bool(view.note))
        self.setAccessibleName(view.spoken)
