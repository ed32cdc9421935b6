"""Adopting a vLLM from the settings: the form is filled in, the service asks, its answer shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from studio.domain.adopt import AdoptRequest, AdoptResult
from studio.domain.errors import ErrorInfo
from studio.ui.desk import Desk
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.settings import Edit
from studio.ui.viewmodels.settings_adopt import FORGET, OPEN, done_lines
from studio.ui.widgets.adopt_dialog import AdoptDialog

if TYPE_CHECKING:
    from studio.control.client import ControlClient
    from studio.ui.controllers.settings import SettingsArea

_QUESTION = "adopt"


class AdoptPart:
    """Opens the form, hands it to the service, and lets go of what was adopted."""

    def __init__(self, desk: Desk, area: SettingsArea, page: QWidget) -> None:
        self._desk = desk
        self._area = area
        self._page = page
        self.dialog: AdoptDialog | None = None

    def takes(self, edit: Edit) -> bool:
        """Carry a wish out, if it is one of these; tell whether it was."""
        if edit.row == OPEN:
            self._open()
        elif edit.row == FORGET:
            self._area.wish(edit, "adopted", _forget)
        else:
            return False
        return True

    def _open(self) -> None:
        dialog = self.dialog = AdoptDialog(self._desk.look, self._page.window())
        dialog.wanted.connect(self._on_wanted)
        dialog.followed.connect(self._on_followed)
        dialog.finished.connect(self._on_closed)
        dialog.open()

    def _on_wanted(self, request: AdoptRequest) -> None:
        self._area.ask(
            _QUESTION, lambda client: client.adopt(request), self._on_adopted, self._on_refused
        )

    def _on_adopted(self, result: AdoptResult) -> None:
        if result.api_key is not None:  # it is told this once, whether or not anybody waits for it
            self._desk.session.take_first_key(result.api_key)
        if self.dialog is not None:
            self.dialog.show_done(done_lines(result))

    def _on_refused(self, error: ErrorInfo) -> None:
        if self.dialog is not None:
            self.dialog.show_error(error)
        else:
            self._area.refuse(OPEN, error)

    def _on_followed(self) -> None:
        self._desk.go_to(PageId.SERVE)

    def _on_closed(self) -> None:
        self.dialog = None


async def _forget(client: ControlClient) -> None:
    """Let go of it; what is adopted then is nothing."""
    await client.forget_adopted()
