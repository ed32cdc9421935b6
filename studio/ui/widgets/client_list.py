"""The chat clients, one below the other; arrow keys go through them."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QPushButton, QScrollArea, QVBoxLayout, QWidget

from studio.ui.theme import Look
from studio.ui.viewmodels.connect import ChoiceView, group_words
from studio.ui.widgets.text import label

_WIDTH = 216


class ClientList(QScrollArea):
    """Signals: `chosen` (client id)."""

    chosen = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("client-list")
        self.setWidgetResizable(True)
        self.setFixedWidth(_WIDTH)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._look = look
        self._views: tuple[ChoiceView, ...] = ()
        self._buttons: dict[str, QPushButton] = {}
        self._group = QButtonGroup(self)
        self._group.buttonClicked.connect(self._on_clicked)

    def show_choices(self, views: tuple[ChoiceView, ...], chosen: str | None) -> None:
        """Show the clients, one of them marked."""
        if [(one.id, one.is_found) for one in views] != [
            (one.id, one.is_found) for one in self._views
        ]:
            self._rebuild(views)
        self._views = views
        for view in views:
            button = self._buttons[view.id]
            button.setText(view.text)
            button.setToolTip(view.tooltip)
            button.setAccessibleName(view.spoken)
            if view.id == chosen and not button.isChecked():
                button.setChecked(True)
        content = self.widget()
        if content is not None:  # a name is never cut, and nothing scrolls sideways
            self.setFixedWidth(max(_WIDTH, content.sizeHint().width()))

    def _rebuild(self, views: tuple[ChoiceView, ...]) -> None:
        content = QWidget()
        content.setObjectName("page")
        column = QVBoxLayout(content)
        step = self._look.space("step")
        column.setContentsMargins(0, 0, step * 2, 0)
        column.setSpacing(2)
        for button in self._group.buttons():
            self._group.removeButton(button)
        self._buttons = {}
        for words, is_found in zip(group_words(), (True, False), strict=True):
            some = [one for one in views if one.is_found is is_found]
            if some:
                heading = label("small", words)
                heading.setContentsMargins(step * 3, step * 2, 0, step)
                column.addWidget(heading)
            for view in some:
                column.addWidget(self._button(view))
        column.addStretch(1)
        self.setWidget(content)

    def _button(self, view: ChoiceView) -> QPushButton:
        made = QPushButton()
        made.setObjectName(f"client-{view.id}")
        made.setProperty("kind", "choice")
        made.setProperty("client", view.id)
        made.setCheckable(True)
        made.setCursor(Qt.CursorShape.PointingHandCursor)
        self._group.addButton(made)
        self._buttons[view.id] = made
        return made

    def _on_clicked(self, button: QPushButton) -> None:
        self.chosen.emit(str(button.property("client")))
