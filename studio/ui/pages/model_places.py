"""The queue of downloads, and the folders that are searched for models."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from studio.domain.downloads import DownloadDeed
from studio.ui.focus import focused
from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.downloads import DownloadRowView, DownloadsView
from studio.ui.viewmodels.models_places import RootView
from studio.ui.widgets.box import Box
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card
from studio.ui.widgets.progress import StageRow
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import Elided, label, show_text

_LIMIT_WIDTH = 176
_BUTTONS_WIDTH = 216
"""Room for the buttons that most rows have, so that their bars end alike."""


class QueuePart(QScrollArea):
    """Signals: `done` (id, DownloadDeed), `limited` (place of the choice), `login_asked`."""

    done = Signal(str, object)
    limited = Signal(int)
    login_asked = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("downloads-part")
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._look = look
        self._limits: tuple[str, ...] = ()
        self._rows: dict[str, _DownloadRow] = {}
        self._held = label("quiet", wrap=True)
        self._held.setObjectName("downloads-held")
        self._empty = label("quiet", wrap=True)
        self._empty.setObjectName("downloads-empty")
        self.limit = Box()
        self.limit.setObjectName("downloads-limit")
        self.limit.setAccessibleName(t("Bandwidth for models"))
        self.limit.setMinimumWidth(_LIMIT_WIDTH)
        self.limit.activated.connect(self.limited)
        self._column = QVBoxLayout()
        self._column.setSpacing(look.space("step") * 2)
        self._lay_out()

    def show_view(self, view: DownloadsView) -> None:
        """Show `view`."""
        if view.limits != self._limits:
            self._limits = view.limits
            self.limit.clear()
            self.limit.addItems(list(view.limits))
        self.limit.setCurrentIndex(view.limit)
        self.limit.setEnabled(view.can_limit)
        show_text(self._held, view.held)
        self._held.setVisible(bool(view.held))
        show_text(self._empty, view.empty)
        self._empty.setVisible(bool(view.empty))
        if [row.id for row in view.rows] != list(self._rows):
            self._rebuild(view.rows)
        for row in view.rows:
            self._rows[row.id].show_row(row)

    def _rebuild(self, views: tuple[DownloadRowView, ...]) -> None:
        wanted = {view.id for view in views}
        had_focus = False
        for gone in [name for name in self._rows if name not in wanted]:
            row = self._rows.pop(gone)
            focus = focused(self.window())
            had_focus = had_focus or (focus is not None and row.isAncestorOf(focus))
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        kept, self._rows = self._rows, {}
        for view in views:
            found = kept.get(view.id)
            if found is None:
                found = _DownloadRow(self._look, view.id)
                found.done.connect(self.done)
                found.login_asked.connect(self.login_asked)
            self._column.removeWidget(found)
            self._column.addWidget(found)
            found.show()
            self._rows[view.id] = found
        if had_focus:  # what had it was taken out of the queue
            self.limit.setFocus(Qt.FocusReason.OtherFocusReason)

    def _lay_out(self) -> None:
        card = Card(self._look, "downloads")
        head = QHBoxLayout()
        head.addWidget(label("lead", t("Downloads")))
        head.addStretch(1)
        head.addWidget(self.limit)
        card.column.addLayout(head)
        card.column.addWidget(self._held)
        card.column.addWidget(self._empty)
        card.column.addLayout(self._column)
        content = QWidget()
        content.setObjectName("page")
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(card)
        column.addStretch(1)
        self.setWidget(content)


class _DownloadRow(QWidget):
    done = Signal(str, object)
    login_asked = Signal()

    def __init__(self, look: Look, identity: str) -> None:
        super().__init__()
        self.setObjectName(f"download-{identity}")
        self._identity = identity
        self._stage = StageRow(look, f"download-{identity}-stage")
        self._problem = label("body", wrap=True)
        self._buttons: dict[DownloadDeed, Button] = {}
        step = look.space("step")
        holder = QWidget()
        holder.setMinimumWidth(_BUTTONS_WIDTH)
        buttons = QHBoxLayout(holder)
        buttons.setContentsMargins(0, 0, 0, 0)
        buttons.setSpacing(step)
        buttons.addStretch(1)
        for deed in (
            DownloadDeed.FIRST, DownloadDeed.PAUSE, DownloadDeed.RESUME, DownloadDeed.CANCEL,
        ):  # fmt: skip
            button = Button(look, f"download-{identity}-{deed.value}")
            button.clicked.connect(self._on_clicked)
            self._buttons[deed] = button
            buttons.addWidget(button)
        self._login = Button(look, f"download-{identity}-login", t("Log in…"), kind="primary")
        self._login.clicked.connect(self.login_asked)
        buttons.addWidget(self._login)
        row = QHBoxLayout()
        row.setSpacing(step * 4)
        row.addWidget(self._stage, 1)
        row.addWidget(holder)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(step)
        column.addWidget(_rule())
        column.addLayout(row)
        column.addWidget(self._problem)

    def show_row(self, view: DownloadRowView) -> None:
        """Show `view`."""
        self._stage.show_stage(view.stage)
        show_text(self._problem, view.problem)
        self._problem.setVisible(bool(view.problem))
        self._login.setVisible(view.can_log_in)
        shown = dict(view.deeds)
        had = next((one for one in self._buttons.values() if one.hasFocus()), None)
        for deed, button in self._buttons.items():
            if deed in shown:
                button.show_view(shown[deed])
                button.setAccessibleName(f"{shown[deed].text} {view.stage.title}")
            else:
                button.hide()
        if had is not None and not had.isVisible():
            self.take_focus()

    def take_focus(self) -> None:
        """Give the focus to the first button: “Pause” becomes “Go on”, and never “Cancel”."""
        for deed in (DownloadDeed.PAUSE, DownloadDeed.RESUME, DownloadDeed.CANCEL):
            if not self._buttons[deed].isHidden():
                self._buttons[deed].setFocus(Qt.FocusReason.OtherFocusReason)
                return

    def _on_clicked(self) -> None:
        deed = next(deed for deed, one in self._buttons.items() if one is self.sender())
        self.done.emit(self._identity, deed)


def _rule() -> QFrame:
    rule = QFrame()
    rule.setProperty("kind", "rule")
    rule.setFixedHeight(1)
    return rule


class FoldersPart(QScrollArea):
    """Signals: `added`, `removed` (path)."""

    added = Signal()
    removed = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("folders-part")
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._look = look
        self._views: tuple[RootView, ...] = ()
        self._rows: list[QWidget] = []
        self._removes: list[Button] = []
        card = Card(look, "folders")
        self._column = card.column
        self.add = Button(look, "folder-add", t("Add a folder…"), icon="plus")
        self.add.clicked.connect(self.added)
        head = QHBoxLayout()
        head.addWidget(label("lead", t("Folders that are searched")))
        head.addStretch(1)
        head.addWidget(self.add)
        self._column.addLayout(head)
        self._column.addWidget(
            label("quiet", t("They are used as they lie; nothing is copied."), wrap=True)
        )
        content = QWidget()
        content.setObjectName("page")
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(card)
        column.addStretch(1)
        self.setWidget(content)

    def show_views(self, views: tuple[RootView, ...], *, can_act: bool) -> None:
        """Show the folders."""
        self.add.setEnabled(can_act)
        if views == self._views:
            return
        self._views = views
        for row in self._rows:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows, self._removes = [], []
        for view in views:
            row = self._row(view)
            self._column.addWidget(row)
            self._rows.append(row)

    def _row(self, view: RootView) -> QWidget:
        row = QWidget()
        step = self._look.space("step")
        whole = QVBoxLayout(row)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(step)
        whole.addWidget(_rule())
        line = QHBoxLayout()
        line.setContentsMargins(0, step, 0, step)
        whole.addLayout(line)
        line.setSpacing(step * 3)
        sign = Sign(self._look)
        sign.show_sign(view.sign.shape, view.sign.role)
        path, words = Elided("mono"), Elided("small")
        path.show_text(view.path)
        words.show_text(view.words, view.tooltip)
        names = QVBoxLayout()
        names.setSpacing(0)
        names.addWidget(path)
        names.addWidget(words)
        remove = Button(self._look, f"folder-{len(self._rows)}-remove")
        remove.show_view(view.remove)
        remove.setAccessibleName(f"{view.remove.text} {view.path}")
        remove.clicked.connect(self._on_remove)
        self._removes.append(remove)
        line.addWidget(sign)
        line.addLayout(names, 1)
        line.addWidget(label("body", view.size))
        line.addWidget(remove)
        policy = remove.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # the sizes before it stand below one another
        remove.setSizePolicy(policy)
        remove.setVisible(view.remove.visible)
        return row

    def _on_remove(self) -> None:
        pairs = zip(self._removes, self._views, strict=True)
        self.removed.emit(next(view.path for button, view in pairs if button is self.sender()))
