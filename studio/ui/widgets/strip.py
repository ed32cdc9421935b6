"""The strip above every page: preset, state in words, address with copy, the engine's buttons."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.frame import BannerView, FrameView
from studio.ui.viewmodels.words import ADDRESS
from studio.ui.widgets.badges import BadgeSigns
from studio.ui.widgets.buttons import Button, CopyButton
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import Elided, label, show_text

_NARROW = 840
_TITLE_MOST = 320
"""So much of a preset's name counts for more than words on buttons."""
_ADDRESS_WIDTH = 280
_PLACE_WIDTH = 160


class Strip(QFrame):
    """Signals: `start_asked`, `stop_asked`, `restart_asked`, `switch_asked`, `connect_asked`."""

    start_asked = Signal()
    stop_asked = Signal()
    restart_asked = Signal()
    switch_asked = Signal()
    connect_asked = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("strip")
        self.setFixedHeight(look.space("strip"))
        self._place = label("place")
        self._place.setObjectName("place")
        self._place.hide()
        self._title = Elided("lead")
        self._title.setObjectName("preset-title")
        self._expert = Elided("small")
        self._sign = Sign(look)
        self._state = Elided()
        self._state.setObjectName("state")
        self._badges = BadgeSigns(look)
        self._address = Elided("mono")
        self._address.setObjectName("address")
        self._address.setAccessibleName(t(ADDRESS))
        self.copy_address = CopyButton(look, "copy-address")
        self.copy_address.setAccessibleDescription(t("Copy the address for chat clients"))
        self.connect_clients = Button(look, "connect-clients", t("Connect"), icon="connect")
        self.connect_clients.setToolTip(t("Set up a chat client with this address"))
        self.connect_clients.clicked.connect(self.connect_asked)
        self._start = Button(look, "start", kind="primary", icon="start")
        self._stop = Button(look, "stop", icon="stop")
        self._restart = Button(look, "restart", icon="restart")
        self._switch = Button(look, "switch", icon="switch")
        self._roomy = (
            self.copy_address, self._restart, self._switch, self._badges, self.connect_clients,
        )  # fmt: skip
        """Those that lose their words first stand first."""
        self._start.clicked.connect(self.start_asked)
        self._stop.clicked.connect(self.stop_asked)
        self._restart.clicked.connect(self.restart_asked)
        self._switch.clicked.connect(self.switch_asked)
        self._names = QVBoxLayout()
        self._row = QHBoxLayout(self)
        self._lay_out(look)

    def show_frame(self, view: FrameView) -> None:
        """Show `view`."""
        self._place.setVisible(view.place is not None)
        if view.place is not None:
            metrics = self._place.fontMetrics()
            name = metrics.elidedText(view.place.text, Qt.TextElideMode.ElideMiddle, _PLACE_WIDTH)
            show_text(self._place, name, view.place.tooltip)
            self._place.setAccessibleName(view.place.tooltip)
        self._title.show_text(view.title)
        self._expert.show_text(view.expert)
        self._expert.setVisible(bool(view.expert))
        self._sign.show_sign(view.state.shape, view.state.role)
        self._state.show_text(view.state.text, view.state.tooltip)
        self._state.setAccessibleName(t("State: {state}").format(state=view.state.text))
        self._badges.show_badges(view.badges)
        self._address.show_text(view.address.text, view.address.tooltip)
        self._address.setMinimumWidth(min(_ADDRESS_WIDTH, self._address.sizeHint().width()))
        self.copy_address.offer(view.address.text if view.can_copy_address else "")
        self.copy_address.setVisible(view.can_copy_address)
        self.connect_clients.setVisible(view.can_copy_address)
        self._address.setVisible(view.can_copy_address)
        self._start.show_view(view.start)
        self._stop.show_view(view.stop)
        self._restart.show_view(view.restart)
        self._switch.show_view(view.switch)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make room for the preset's name."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Drop the words of lesser things, one by one, until the preset's name fits."""
        shown = [one for one in self._roomy if not one.isHidden()]
        wanted = self._row.sizeHint().width() - self._names.sizeHint().width()
        wanted += min(self._title.sizeHint().width(), _TITLE_MOST)
        wanted += sum(one.words_width() for one in shown if one.is_compact)
        for one in shown:
            compact = wanted > self.width() or self.width() < _NARROW
            one.be_compact(compact)
            wanted -= one.words_width() if compact else 0

    def _lay_out(self, look: Look) -> None:
        step = look.space("step")
        names = self._names
        names.setSpacing(2)
        names.addStretch(1)
        names.addWidget(self._title)
        names.addWidget(self._expert)
        names.addStretch(1)
        state = QHBoxLayout()
        state.setSpacing(step * 2)
        state.addWidget(self._sign)
        state.addWidget(self._state, 1)
        state.addWidget(self._badges)
        address = QHBoxLayout()
        address.setContentsMargins(self._sign.sizeHint().width() + step * 2, 0, 0, 0)
        address.addWidget(self._address)
        facts = QVBoxLayout()
        facts.setSpacing(3)
        facts.addStretch(1)
        facts.addLayout(state)
        facts.addLayout(address)
        facts.addStretch(1)
        row = self._row
        row.setContentsMargins(look.space("page_margin"), 0, look.space("page_margin"), 0)
        row.setSpacing(step * 2)
        row.addWidget(self._place, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addLayout(names, 1)
        row.addSpacing(step * 2)
        row.addLayout(facts)
        row.addSpacing(step)
        row.addWidget(self.copy_address)
        row.addWidget(self.connect_clients)
        row.addSpacing(step * 2)
        for button in (self._switch, self._restart, self._stop, self._start):
            row.addWidget(button)


class Banner(QFrame):
    """A calm line about the service. Signals: `pressed`."""

    pressed = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("banner")
        self._text = label()
        self._text.setObjectName("banner-text")
        self._button = Button(look, "banner-button")
        self._button.clicked.connect(self.pressed)
        row = QHBoxLayout(self)
        margin, step = look.space("page_margin"), look.space("step")
        row.setContentsMargins(margin, step * 2, margin, step * 2)
        row.addWidget(self._text, 1)
        row.addWidget(self._button)
        self.hide()

    def show_banner(self, view: BannerView | None) -> None:
        """Show `view`, or nothing."""
        self.setVisible(view is not None)
        if view is not None:
            show_text(self._text, view.text)
            self._button.setText(view.button or "")
            self._button.setVisible(view.button is not None)
