"""The first run, in the place of the chooser: found, fits, what happens, one button.

The button stands in a foot of its own, which the page keeps in view however small the window is.
"""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.welcome import CheckView, WelcomeView
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card
from studio.ui.widgets.foot import Foot
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.suggestion import Suggestions
from studio.ui.widgets.text import label, selectable, show_text


class Welcome(QWidget):
    """Signals: `chosen` (preset id), `start_asked`, `look_asked`, `left`."""

    chosen = Signal(str)
    start_asked = Signal()
    look_asked = Signal()
    left = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("welcome")
        self._look = look
        self._view: WelcomeView | None = None
        self._heading = label("title")
        self._about = label("quiet", wrap=True)
        self._all = Button(look, "welcome-all", t("All presets"))
        self._all.clicked.connect(self.left)
        self._machine = _Machine(look)
        self._checks = _Checks(look)
        self._checks.look_again.clicked.connect(self.look_asked)
        self._fits = label("lead")
        self._fits.setObjectName("welcome-fits")
        self._empty = label("body", wrap=True)
        self._empty.setObjectName("welcome-empty")
        self.suggestions = Suggestions(look)
        self.suggestions.chosen.connect(self.chosen)
        self._before = _Before(look)
        self.foot = Foot(look, "welcome", "welcome-start", icon="start")
        self.foot.button.clicked.connect(self.start_asked)
        self._lay_out()

    def show_view(self, view: WelcomeView | None) -> None:
        """Show `view`; None hides all of it."""
        self.setVisible(view is not None)
        self.foot.setVisible(view is not None and bool(view.suggestions))
        if view is None or view == self._view:
            return
        self._view = view
        show_text(self._heading, view.heading)
        show_text(self._about, view.about)
        self._machine.show_facts(view)
        self._checks.show_view(view)
        show_text(self._fits, view.suggestions_heading)
        show_text(self._empty, view.empty)
        self._empty.setVisible(bool(view.empty))
        self.suggestions.show_views(view.suggestions)
        self._before.show_steps(view.steps)
        self.foot.show_lines(view.plan_lines, view.start)

    def _lay_out(self) -> None:
        gap = self._look.space("card_gap")
        words = QVBoxLayout()
        words.setSpacing(self._look.space("step"))
        words.addWidget(self._heading)
        words.addWidget(self._about)
        head = QHBoxLayout()
        head.setSpacing(gap)
        head.addLayout(words, 1)
        head.addWidget(self._all, 0, Qt.AlignmentFlag.AlignTop)
        found = QHBoxLayout()
        found.setSpacing(gap)
        found.addWidget(self._machine, 1)
        found.addWidget(self._checks, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(gap)
        column.addLayout(head)
        column.addLayout(found)
        column.addWidget(self._fits)
        column.addWidget(self._empty)
        column.addWidget(self.suggestions)
        column.addWidget(self._before)


class _Machine(Card):
    def __init__(self, look: Look) -> None:
        super().__init__(look, "welcome-machine", t("This machine"))
        self._rows: list[tuple[QLabel, QLabel]] = []
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(look.space("card_gap"))
        self._grid.setVerticalSpacing(look.space("step"))
        self._grid.setColumnStretch(1, 1)
        self.column.addLayout(self._grid)
        self.column.addStretch(1)

    def show_facts(self, view: WelcomeView) -> None:
        while len(self._rows) < len(view.facts):
            pair = (label("small"), label(wrap=True))
            place = len(self._rows)
            self._grid.addWidget(pair[0], place, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(pair[1], place, 1)
            self._rows.append(pair)
        for place, pair in enumerate(self._rows):
            shown = place < len(view.facts)
            for widget in pair:
                widget.setVisible(shown)
            if shown:
                name, text = view.facts[place]
                show_text(pair[0], name)
                show_text(pair[1], text.text, text.tooltip)


class _Checks(Card):
    def __init__(self, look: Look) -> None:
        super().__init__(look, "welcome-checks")
        self._look = look
        self._sign = Sign(look)
        self._note = label("lead", wrap=True)
        self._note.setObjectName("welcome-checks-note")
        self.look_again = Button(look, "welcome-look-again", kind="plain", icon="restart")
        head = QHBoxLayout()
        head.setSpacing(look.space("step") * 2)
        head.addWidget(self._sign)
        head.addWidget(self._note, 1)
        head.addWidget(self.look_again)
        self.column.addLayout(head)
        self._shown: tuple[CheckView, ...] = ()
        self._lines: list[QWidget] = []
        self._list = QVBoxLayout()
        self._list.setSpacing(look.space("card_gap"))
        self.column.addLayout(self._list)
        self._about = label("small", wrap=True)
        self.column.addWidget(self._about)
        self.column.addStretch(1)

    def show_view(self, view: WelcomeView) -> None:
        self._sign.show_sign(view.checks_shape, view.checks_role)
        show_text(self._note, view.checks_note)
        self.look_again.show_view(view.look_again)
        show_text(self._about, view.checks_about)
        self._about.setVisible(bool(view.checks_about))
        if view.checks != self._shown:
            self._shown = view.checks
            for line in self._lines:
                self._list.removeWidget(line)
                line.hide()
                line.deleteLater()
            self._lines = [self._line(one) for one in view.checks]
            for line in self._lines:
                self._list.addWidget(line)
                line.show()

    def _line(self, view: CheckView) -> QWidget:
        line = QWidget()
        line.setAccessibleName(view.spoken)
        sign = Sign(self._look)
        sign.show_sign(view.shape, view.role)
        grid = QGridLayout(line)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(self._look.space("step") * 2)
        grid.setVerticalSpacing(self._look.space("step") // 2)
        grid.setColumnStretch(1, 1)
        grid.addWidget(sign, 0, 0)
        grid.addWidget(label("body", view.title), 0, 1)
        grid.addWidget(label("quiet", view.found, wrap=True), 1, 1)
        if view.advice:
            advice = selectable("body", t("What to do"))
            show_text(advice, f"→ {view.advice}")
            advice.setWordWrap(True)
            grid.addWidget(advice, 2, 1)
        return line


class _Before(Card):
    """What only a person can do before the chosen preset can be served."""

    def __init__(self, look: Look) -> None:
        super().__init__(look, "welcome-before", t("Before it can be served"))
        self._steps = selectable("body", t("Before it can be served"))
        self._steps.setObjectName("welcome-steps")
        self._steps.setWordWrap(True)
        self.column.addWidget(self._steps)

    def show_steps(self, steps: tuple[str, ...]) -> None:
        lines = (f"{number}. {one}" for number, one in enumerate(steps, start=1))
        show_text(self._steps, "\n".join(lines))
        self.setVisible(bool(steps))
