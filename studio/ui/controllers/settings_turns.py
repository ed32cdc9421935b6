"""One at a time of what ends the service and starts it anew: the second hears what is under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.ui.desk import Desk
from studio.ui.viewmodels.settings_linux import ENDS
from studio.ui.viewmodels.settings_program import AT_A_TIME, busy_words

if TYPE_CHECKING:
    from studio.ui.controllers.settings import SettingsArea


class Turns:
    """Knows of all of them, whichever part of the settings they stand in."""

    def __init__(self, desk: Desk, area: SettingsArea) -> None:
        self._lasting = desk.lasting
        self._area = area
        area.changed.connect(self._on_changed)

    @property
    def under_way(self) -> str | None:
        """Return the setting whose deed is under way; None: none is."""
        lasting, pending = self._lasting, self._area.machine.pending
        return lasting.exchange.name or lasting.between.name or min(pending & ENDS, default=None)

    def refuses(self, row: str) -> bool:
        """Say below a setting what it has to wait for, and tell whether it has to."""
        other = self.under_way
        if other is None:
            return False
        self._area.refuse(row, busy_words(other))
        return True

    def _on_changed(self) -> None:
        """Take the words away once they do not hold any more."""
        if self.under_way is None:
            for row, error in tuple(self._area.machine.problems.items()):
                if error.code == AT_A_TIME:
                    self._area.dismiss_row(row)
