"""The plan page: a preset's settings on the left, what they come to on the right, live."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.compare import AGAINST, Against, CompareView
from studio.ui.viewmodels.knobs import KnobsView
from studio.ui.viewmodels.plan_page import ChangeView, Choice, HeadView
from studio.ui.viewmodels.problem import ProblemView
from studio.ui.widgets.box import Box
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card, ProblemCard
from studio.ui.widgets.knob_list import KnobList
from studio.ui.widgets.plan_table import PlanTable
from studio.ui.widgets.segments import Segments
from studio.ui.widgets.table import Cell, Column, Row, Table
from studio.ui.widgets.text import label, show_text

_SIDE_WIDTH = 352
_DIFF_HEIGHT = 260
_BOX_WIDTH = 120


class PlanPage(QWidget):
    """Signals: `preset_chosen`, `host_chosen`, `other_chosen` (id), `against_chosen` (Against),
    and one for each button: `deed_asked` (its name).
    """

    preset_chosen = Signal(str)
    host_chosen = Signal(str)
    other_chosen = Signal(str)
    against_chosen = Signal(object)
    deed_asked = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("page")
        self._look = look
        self.preset = _choice("plan-preset", t("The preset that is planned"))
        self.host = _choice("plan-host", t("The machine that is planned for"))
        self.other = _choice("plan-other", t("The preset that it is compared with"))
        self.against = Segments(
            "plan-against", t("What the plan is compared with"), [(k, t(w)) for k, w in AGAINST]
        )
        self.problem = ProblemCard(look, "plan-problem")
        self.done = _Done(look)
        self.done.undo.clicked.connect(self._on_deed)
        self.knobs = KnobList(look)
        self.table = PlanTable(look, "plan-table")
        self.differences = _Differences(look)
        self._about = label("quiet", wrap=True)
        self._origin = label("small")
        self._origin.setObjectName("plan-origin")
        self.buttons = {
            name: Button(look, f"plan-{name}", kind=kind, icon=icon)
            for name, kind, icon in (
                ("reset", "plain", None),
                ("update", "", None),
                ("remove", "", None),
                ("rename", "", None),
                ("save", "", None),
                ("save-as", "", None),
                ("start", "primary", "start"),
            )
        }
        for button in self.buttons.values():
            button.clicked.connect(self._on_deed)
        self._boxes: dict[str, tuple[Choice, ...]] = {}
        self._lay_out()
        self._connect()

    def show_head(self, view: HeadView, chosen: str | None, host: str) -> None:
        """Show what is planned, and what can be done with it."""
        self._fill(self.preset, view.presets, chosen)
        self._fill(self.host, view.hosts, host)
        show_text(self._about, view.about)
        show_text(self._origin, view.origin)
        views = {
            "reset": view.reset,
            "update": view.update,
            "remove": view.remove,
            "rename": view.rename,
            "save": view.save,
            "save-as": view.save_as,
            "start": view.start,
        }
        for name, button in self.buttons.items():
            button.show_view(views[name])

    def show_against(self, against: Against, others: tuple[Choice, ...], other: str | None) -> None:
        """Show what it is compared with."""
        self.against.show_chosen(against)
        self.other.setVisible(against is Against.OTHER)
        self.other.setPlaceholderText("" if others else t("There is no other preset"))
        self.other.setEnabled(bool(others))
        self._fill(self.other, others, other)

    def show_knobs(self, view: KnobsView, *, unfolded: bool) -> None:
        """Show the settings."""
        self.knobs.show_knobs(view, unfolded=unfolded)

    def show_plans(self, view: CompareView, changes: Sequence[ChangeView], mine: str) -> None:
        """Show what it comes to, and in what two presets differ."""
        self.table.show_view(view)
        self.differences.show_changes(changes, mine)

    def show_problem(self, view: ProblemView | None) -> None:
        """Show what was refused, or nothing."""
        self.problem.show_problem(view)

    def _fill(self, box: QComboBox, choices: tuple[Choice, ...], chosen: str | None) -> None:
        blocked = QSignalBlocker(box)
        if self._boxes.get(box.objectName()) != choices:
            self._boxes[box.objectName()] = choices
            box.clear()
            for one in choices:
                box.addItem(one.text, one.value)
        box.setCurrentIndex(box.findData(chosen) if chosen is not None else -1)
        blocked.unblock()

    def _connect(self) -> None:
        self.preset.activated.connect(self._on_preset)
        self.host.activated.connect(self._on_host)
        self.other.activated.connect(self._on_other)
        self.against.chosen.connect(self._on_against)

    def _on_preset(self) -> None:
        self.preset_chosen.emit(str(self.preset.currentData()))

    def _on_host(self) -> None:
        self.host_chosen.emit(str(self.host.currentData()))

    def _on_other(self) -> None:
        self.other_chosen.emit(str(self.other.currentData()))

    def _on_against(self, value: str) -> None:
        self.against_chosen.emit(Against(value))

    def _on_deed(self) -> None:
        self.deed_asked.emit(self.sender().objectName().removeprefix("plan-"))

    def _lay_out(self) -> None:
        margin, gap = self._look.space("page_margin"), self._look.space("card_gap")
        first = QHBoxLayout()
        first.setSpacing(gap)
        first.addWidget(self.preset, 3)
        first.addWidget(self.host, 2)
        first.addWidget(self.against)
        second = QHBoxLayout()
        second.setSpacing(self._look.space("step") * 2)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self._about)
        words.addWidget(self._origin)
        second.addLayout(words, 1)
        for button in self.buttons.values():
            second.addWidget(button)
        body = QHBoxLayout()
        body.setSpacing(gap)
        body.addWidget(self.knobs, 1)
        body.addWidget(self._right())
        column = QVBoxLayout(self)
        column.setContentsMargins(margin, margin, margin, margin)
        column.setSpacing(gap)
        column.addLayout(first)
        column.addLayout(second)
        column.addWidget(self.problem)
        column.addWidget(self.done)
        column.addLayout(body, 1)

    def _right(self) -> QScrollArea:
        gap = self._look.space("card_gap")
        content = QWidget()
        content.setObjectName("page")
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(gap)
        column.addWidget(self.other)
        column.addWidget(self.table)
        column.addWidget(self.differences)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setObjectName("plan-scroll")
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFixedWidth(_SIDE_WIDTH)
        scroll.setWidget(content)
        return scroll


class _Done(QWidget):
    """A calm line about what was just done, with a way back."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("plan-done")
        self._text = label("body", wrap=True)
        self._text.setObjectName("plan-done-text")
        self.undo = Button(look, "plan-restore")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._text, 1)
        row.addWidget(self.undo)
        self.hide()

    def show_done(self, text: str, *, undo: str = "") -> None:
        """Show what was done; `undo` is the word of the way back, empty for none."""
        show_text(self._text, text)
        self.undo.show_words(undo)
        self.undo.setVisible(bool(undo))
        self.setVisible(bool(text))


class _Differences(Card):
    """In what two presets differ."""

    def __init__(self, look: Look) -> None:
        super().__init__(look, "differences", " ")
        columns = (
            Column("name", t("Setting"), stretches=True),
            Column("mine", t("This one")),
            Column("theirs", t("The other")),
        )
        words = t("In what the two presets differ")
        self.table = Table(look, "differences-table", words, columns)
        self.table.setFixedHeight(_DIFF_HEIGHT)
        self.column.addWidget(self.table)
        self.hide()

    def show_changes(self, changes: Sequence[ChangeView], mine: str) -> None:
        """Show the values that differ; none hides the card."""
        rows = [
            Row(
                one.name,
                (
                    Cell(one.name, tooltip=one.name),
                    Cell(one.mine, tooltip=one.mine),
                    Cell(one.theirs, tooltip=one.theirs),
                ),
            )
            for one in changes
        ]
        self.table.show_rows(rows)
        show_text(self.heading, mine)
        self.setVisible(bool(rows))


def _choice(name: str, words: str) -> Box:
    made = Box()
    made.setObjectName(name)
    made.setAccessibleName(words)
    made.setToolTip(words)
    made.setMinimumWidth(_BOX_WIDTH)
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    return made


def done_words(done: str, titles: Mapping[str, str]) -> str:
    """Return what was done (`saved mine`) in words."""
    verb, _, preset = done.partition(" ")
    name = titles.get(preset, preset)
    match verb:
        case "saved":
            return t("“{name}” is saved.").format(name=name)
        case "renamed":
            return t("It is called “{name}” now.").format(name=name)
        case "removed":
            return t("“{name}” is deleted.").format(name=preset)
        case _:
            return ""
