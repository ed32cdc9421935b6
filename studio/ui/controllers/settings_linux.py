"""Deeds to the Linux in Windows, asked of this side: the service lives in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.domain.errors import ErrorInfo
from studio.domain.plans import Plan, PlanRequest, machine_bytes
from studio.domain.wsl import (
    WslConfigRequest,
    WslContents,
    WslLanRequest,
    WslRemoveRequest,
    WslReport,
)
from studio.ui.desk import Desk
from studio.ui.viewmodels.settings import Edit
from studio.ui.viewmodels.settings_linux import opens, question, removal_question

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from studio.control.client import ControlClient
    from studio.ui.controllers.settings import SettingsArea

    Deed = Callable[[ControlClient], Awaitable[object]]

_GROUP = "linux"
_FIELD = "linux"


class LinuxPart:
    """Asks first, wherever something ends, is written or wants the administrator."""

    def __init__(self, desk: Desk, area: SettingsArea) -> None:
        self._desk = desk
        self._area = area

    def takes(self, edit: Edit, *, agreed: bool) -> bool:
        """Carry a wish out, if it is one of these; tell whether it was."""
        group, _, name = edit.row.partition(".")
        report = self._area.machine.linux
        if group != _GROUP or report is None:
            return False
        if name == "memory-for":
            self._plan_for(edit)
        elif agreed:
            self._area.wish(edit, _FIELD, _deed(name, report))
        elif name == "remove":
            self._look_inside(edit)
        else:
            self._area.ask_first(edit, question(name, report))
        return True

    def _plan_for(self, edit: Edit) -> None:
        """Let the planner say what a preset takes; then what that means for `.wslconfig`."""
        if not edit.value:
            return

        def planned(plan: Plan) -> None:
            asked = WslConfigRequest(
                preset=edit.value, needed_bytes=machine_bytes(plan), write=False
            )
            self._desk.bridge.ask_here(lambda client: client.wsl_memory(asked), rested, rested)

        def rested(found: WslReport | ErrorInfo) -> None:
            self._area.rested(edit.row, found)

        self._area.rest(edit.row)
        request = PlanRequest(preset=edit.value)
        self._desk.bridge.ask(lambda client: client.plan(request), planned, rested)

    def _look_inside(self, edit: Edit) -> None:
        def looked(contents: WslContents) -> None:
            self._area.ask_first(edit, removal_question(contents))

        def failed(error: ErrorInfo) -> None:
            self._area.rested(edit.row, error)

        self._area.rest(edit.row)
        request = WslRemoveRequest()
        self._desk.bridge.ask_here(lambda client: client.wsl_remove(request), looked, failed)


def _deed(name: str, report: WslReport) -> Deed:
    if name == "compact":
        return lambda client: client.wsl_compact()
    if name == "memory":
        return lambda client: client.wsl_memory(WslConfigRequest())
    if name == "lan":
        request = WslLanRequest(is_open=opens(report), consent=True)
        return lambda client: client.wsl_lan(request)
    return _remove


async def _remove(client: ControlClient) -> WslReport:
    await client.wsl_remove(WslRemoveRequest(consent=True))
    return await client.wsl_report()
