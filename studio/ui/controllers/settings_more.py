"""What wishes about models on demand, requests put right and the program itself become."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from studio.domain.demand import DemandChange
from studio.domain.errors import ErrorInfo
from studio.domain.gateway import AdjustmentChange
from studio.domain.self_update import UpdateApplyRequest, UpdateCheckRequest, UpdateStatus
from studio.ui.viewmodels.settings import ON, Edit, Verb

if TYPE_CHECKING:
    from studio.control.client import ControlClient

    Question = Callable[[ControlClient], Awaitable[object]]
    Takeover = Callable[[ControlClient], Awaitable[UpdateStatus]]
    Whole = Callable[[str], int | ErrorInfo]

TAKEOVERS: dict[str, Takeover] = {
    "apply": lambda client: client.update_apply(UpdateApplyRequest()),
    "rollback": lambda client: client.update_rollback(),
}
"""What lets another version take over when the service starts next."""
AUTO = "auto"
"""What a span is called that nobody chose."""


def demand_wish(name: str, edit: Edit, whole: Whole) -> tuple[str, Question] | ErrorInfo:
    """Return which field of `Machine` the answer is, and how it is asked for."""
    change = _demand(name, edit, whole)
    if isinstance(change, ErrorInfo):
        return change
    return "demand", lambda client: client.change_on_demand(change)


def _demand(name: str, edit: Edit, whole: Whole) -> DemandChange | ErrorInfo:
    value = AUTO if edit.verb is Verb.RESET else edit.value
    match name:
        case "is-on":
            return DemandChange(is_on=value == ON)
        case "by-hand":
            return DemandChange(ttl_by_hand=value == ON)
        case "presets" if edit.verb is Verb.REMOVE:
            return DemandChange(remove=value)
        case "presets":
            return DemandChange(preset=value.strip())
        case "default-ttl":
            return DemandChange(default_ttl=value)
        case "residence":
            return DemandChange(residence=value)
        case "wait":
            return DemandChange(wait=value)
        case "queue-length":
            number = whole(value)
            return number if isinstance(number, ErrorInfo) else DemandChange(queue_length=number)
    return DemandChange(abandoned=value)


def adjust_wish(name: str, edit: Edit) -> tuple[str, Question]:
    """Switch a rule, or all; putting it back lets it be as it is by itself."""
    is_on = None if edit.verb is Verb.RESET else edit.value == ON
    if name == "all" and is_on:
        is_on = None
    change = AdjustmentChange(id=name, is_on=is_on)
    return "adjustments", lambda client: client.adjust(change)


def program_wish(name: str) -> tuple[str, Question]:
    """Look for a newer version, fetch it, let it take over, or go back."""
    questions: dict[str, Question] = {
        "check": lambda client: client.update_check(UpdateCheckRequest()),
        "get": lambda client: client.update_get(UpdateCheckRequest()),
        "apply": TAKEOVERS["apply"],
        "cancel": lambda client: client.update_apply(UpdateApplyRequest(wanted=False)),
        "rollback": TAKEOVERS["rollback"],
    }
    return "program", questions[name]
