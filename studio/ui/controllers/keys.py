"""The keys page at work."""

from PySide6.QtCore import QTimer

from studio.ui.desk import Controller, Desk
from studio.ui.pages.keys import KeysPage
from studio.ui.state import Known

_REFRESH_MS = 5_000


class KeysController(Controller):
    """Reads the keys again while the page is in front: their use changes."""

    def __init__(self, desk: Desk) -> None:
        self.view = KeysPage(desk.look)
        super().__init__(desk, self.view)
        session = desk.session
        self._timer = QTimer(self)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(session.refresh_keys)
        self.view.problem.dismissed.connect(session.dismiss_key_problem)
        self.view.secret.dismissed.connect(session.forget_secret)
        self.view.create_asked.connect(session.create_key)
        self.view.revoke_asked.connect(session.revoke_key)

    @property
    def is_following(self) -> bool:
        """Whether the keys are read again every few seconds."""
        return self._timer.isActive()

    def show_known(self, known: Known) -> None:
        """Show the keys."""
        self.view.show_known(known)

    def enter(self) -> None:
        """Follow the keys."""
        self.desk.session.refresh_keys()
        self._timer.start()

    def leave(self) -> None:
        """Let them be."""
        self._timer.stop()
