"""The Studio's Linux on Windows from the settings: asked first, done on this side, then shown.

What `weir wsl memory`, `open`, `close`, `compact` and `remove` do in a terminal. The disk image is
made smaller, and a newer service started, between the goodbye of the service and its next start.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from studio.domain.errors import BadInput, ErrorInfo
from studio.domain.plans import Plan, PlanRequest, machine_bytes
from studio.domain.units import GIB
from studio.domain.wsl import (
    WslConfigRequest,
    WslContents,
    WslLanRequest,
    WslRemoveRequest,
    WslReport,
)
from studio.ui.desk import Desk
from studio.ui.language import t
from studio.ui.viewmodels.settings import ON, Edit
from studio.ui.viewmodels.settings_linux import (
    end_question,
    lan_question,
    memory_question,
    removal_question,
)

if TYPE_CHECKING:
    from studio.control.client import ControlClient
    from studio.ui.controllers.settings import SettingsArea
    from studio.ui.controllers.settings_turns import Turns

    Question = Callable[[ControlClient], Awaitable[WslReport]]

GROUP = "linux"
_MOST_DIGITS = 4


class LinuxPart:
    """Asks what is lost or changed, takes the yes, and shows what then holds."""

    def __init__(self, desk: Desk, area: SettingsArea, turns: Turns) -> None:
        self._desk = desk
        self._area = area
        self._turns = turns
        self._between = desk.lasting.between
        self._between.over.connect(self._on_over)
        if self._between.name is not None:  # begun in the window before, in another language
            area.rest(self._between.name)

    def takes(self, edit: Edit, *, agreed: bool) -> bool:
        """Carry a wish out, if it is one of these; tell whether it was."""
        group, _, name = edit.row.partition(".")
        deeds: dict[str, Callable[[Edit, bool], None]] = {
            "preset": self._preset,
            "memory": self._memory,
            "proposed": self._memory,
            "lan": self._lan,
            "again": self._lan,
            "compact": self._compact,
            "renew": self._compact,
            "remove": self._remove,
        }
        if group != GROUP or name not in deeds:
            return False
        if edit.row not in self._area.machine.pending:
            deeds[name](edit, agreed)
        return True

    # -- memory ----------------------------------------------------------------------------

    def _preset(self, edit: Edit, _agreed: bool) -> None:
        """Ask the planner, which lives in the service, then keep what it says on this side."""
        self._area.rest(edit.row)
        self._desk.bridge.ask(
            lambda client: client.plan(PlanRequest(preset=edit.value)),
            functools.partial(self._on_plan, edit),
            functools.partial(self._area.refuse, edit.row),
        )

    def _on_plan(self, edit: Edit, plan: Plan) -> None:
        request = WslConfigRequest(preset=edit.value, needed_bytes=machine_bytes(plan), write=False)
        self._here(edit.row, lambda client: client.wsl_memory(request), wsl_written=False)

    def _memory(self, edit: Edit, agreed: bool) -> None:
        chosen = _chosen(edit.value)
        if isinstance(chosen, ErrorInfo):
            self._area.refuse(edit.row, chosen)
            return
        request = WslConfigRequest(memory_bytes=chosen, write=agreed)
        self._area.rest(edit.row)
        self._put(edit, lambda client: client.wsl_memory(request), memory_question, agreed=agreed)

    def _put(
        self,
        edit: Edit,
        question: Question,
        asks: Callable[[WslReport], ErrorInfo],
        *,
        agreed: bool,
    ) -> None:
        def done(report: WslReport) -> None:
            if agreed:
                self._area.settle(edit.row, wsl=report, wsl_written=True)
            else:
                self._area.ask_first(edit, asks(report))

        self._desk.bridge.ask_here(question, done, functools.partial(self._area.refuse, edit.row))

    # -- other machines --------------------------------------------------------------------

    def _lan(self, edit: Edit, agreed: bool) -> None:
        is_open = edit.value in (ON, "")
        if agreed:
            request = WslLanRequest(is_open=is_open, consent=True)
            self._here(edit.row, lambda client: client.wsl_lan(request))
        elif self._area.machine.wsl is not None:
            self._area.ask_first(edit, lan_question(self._area.machine.wsl, is_open=is_open))

    # -- disk and service ------------------------------------------------------------------

    def _compact(self, edit: Edit, agreed: bool) -> None:
        if self._turns.refuses(edit.row):
            return
        name = edit.row.partition(".")[2]
        known = self._desk.session.known
        if not agreed:
            served = known.engine.preset if known.engine.is_serving else None
            self._area.ask_first(edit, end_question(name, served))
            return
        self._area.rest(edit.row)
        self._between.begin(edit.row, _compacted if name == "compact" else None)

    def _on_over(self, row: str, found: object) -> None:
        if isinstance(found, ErrorInfo):
            self._area.refuse(row, found)
        elif isinstance(found, WslReport):
            self._area.settle(row, wsl=found)
        else:
            self._area.settle(row)

    def _remove(self, edit: Edit, agreed: bool) -> None:
        if self._turns.refuses(edit.row):
            return
        self._area.rest(edit.row)
        request = WslRemoveRequest(consent=agreed)

        def done(contents: WslContents) -> None:
            if agreed:
                self._area.settle(edit.row)
                self._here(edit.row, lambda client: client.wsl_report())
            else:
                self._area.ask_first(edit, removal_question(contents))

        self._desk.bridge.ask_here(
            lambda client: client.wsl_remove(request),
            done,
            functools.partial(self._area.refuse, edit.row),
        )

    def _here(self, row: str, question: Question, **more: object) -> None:
        """Ask this side; its answer is how it then stands, and `more` holds with it."""
        self._area.rest(row)
        self._desk.bridge.ask_here(
            question,
            lambda report: self._area.settle(row, wsl=report, **more),
            functools.partial(self._area.refuse, row),
        )


async def _compacted(client: ControlClient) -> WslReport:
    return await client.wsl_compact()


def _chosen(text: str) -> int | ErrorInfo | None:
    """Return a memory in bytes; None: as proposed; or why it is none."""
    if not text:
        return None
    if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS and int(text) > 0:
        return int(text) * GIB
    return BadInput(
        "not-a-number",
        t("“{text}” is no whole number of GiB.").format(text=text),
        hint=t("Write it with digits only."),
    ).info
