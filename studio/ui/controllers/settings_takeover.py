"""Buttons that let another version of the Studio take over: one question, then all of it.

What is read of versions here, the window is told: it shows that a newer one is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.domain.errors import ErrorInfo
from studio.domain.self_update import UpdateStatus
from studio.ui.controllers.settings_more import TAKEOVERS
from studio.ui.desk import Desk
from studio.ui.viewmodels.settings import Edit
from studio.ui.viewmodels.settings_program import takeover_question

if TYPE_CHECKING:
    from studio.ui.controllers.settings import SettingsArea
    from studio.ui.controllers.settings_turns import Turns

_GROUP = "program"


class TakeoverPart:
    """Asks first, then has the service exchanged; on another machine it waits for its start."""

    def __init__(self, desk: Desk, area: SettingsArea, turns: Turns) -> None:
        self._desk = desk
        self._area = area
        self._turns = turns
        self.exchange = desk.lasting.exchange
        self.exchange.over.connect(self._on_over)
        self._told: UpdateStatus | None = None
        area.changed.connect(self._on_area)
        if self.exchange.name is not None:  # begun in the window before, in another language
            area.rest(self.exchange.name)

    def takes(self, edit: Edit, *, agreed: bool) -> bool:
        """Carry a wish out, if it is one of these; tell whether it was."""
        group, _, name = edit.row.partition(".")
        known = self._desk.session.known
        if group != _GROUP or name not in TAKEOVERS or known.place is not None:
            return False
        if edit.row in self._area.machine.pending or self._turns.refuses(edit.row):
            return True
        if agreed:
            self._area.rest(edit.row)
            self.exchange.begin(edit.row, TAKEOVERS[name])
        else:
            served = known.engine.preset if known.engine.is_serving else None
            question = takeover_question(name, self._area.machine.program, served)
            self._area.ask_first(edit, question)
        return True

    def _on_area(self) -> None:
        program = self._area.machine.program
        if program is not None and program is not self._told:
            self._told = program
            self._desk.guide.versions_told.emit(program)

    def _on_over(self, row: str, found: UpdateStatus | ErrorInfo) -> None:
        self._area.rested(row, found)
