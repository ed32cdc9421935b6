"""What only the plan page knows: what is planned, the answers, and presets as they are changed.

A change asks after a short rest; an answer to what is not wanted any more is dropped, and what is
wanted now is asked for then, also where the answer is a refusal.
"""

import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import Signal

from studio.domain.errors import ErrorInfo
from studio.domain.hosts import HostEntry
from studio.domain.plans import Plan, PlanRequest
from studio.domain.presets import (
    CopyRequest,
    EditRequest,
    ImportPresetRequest,
    PresetDetail,
    PresetDiff,
    PresetRemoved,
    PresetText,
    UpdateRequest,
)
from studio.ui.area import Area
from studio.ui.bridge import Bridge
from studio.ui.viewmodels.compare import Against, Side

if TYPE_CHECKING:
    from studio.control.client import ControlClient

CHANGES = frozenset({"save", "save-as", "rename", "remove", "restore", "update"})
"""Questions that change a preset."""


class Slot(msgspec.Struct, kw_only=True):
    """One plan that is wanted, and what is known of it."""

    wanted: PlanRequest | None = None
    plan: Plan | None = None
    problem: ErrorInfo | None = None
    is_stale: bool = False
    """The plan is of another request, or the machine may have changed."""


class PlanningArea(Area):
    """Signals: `presets_changed` after a preset was changed, `typed_on` with each value typed.

    Whoever hears `typed_on` calls `plan_now` when it rests. The clock is theirs: a timer in here
    could be swept up on the bridge's thread.
    """

    presets_changed = Signal()
    typed_on = Signal()

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(bridge)
        self.preset: str | None = None
        self.host: str = ""
        self.typed: dict[str, str] = {}
        self.against = Against.NOTHING
        self.other: str | None = None
        self.hosts: tuple[HostEntry, ...] = ()
        self.detail: PresetDetail | None = None
        self.diff: PresetDiff | None = None
        """A preset of the person's own against its original, or the two that are compared."""
        self.origin_diff: PresetDiff | None = None
        self.removed: PresetRemoved | None = None
        """What was just removed, so that it can be put back."""
        self.done = ""
        """What was just done: a preset's id and a verb, for the words of the page."""
        self.slots = (Slot(), Slot())
        self.is_resting = False
        """Something was typed that is not planned yet."""
        self._turn = self._diff_turn = 0
        """Grow with each reason to read anew: an answer to a question of before is dropped."""

    @property
    def is_saving(self) -> bool:
        """Whether a preset is being changed."""
        return bool(self.pending & CHANGES)

    def refresh(self) -> None:
        """Ask for everything again: the page came to the front, or the service is back."""
        if not self.hosts:
            self.ask("hosts", lambda client: client.hosts(), self._on_hosts, self._ignore)
        self._read()
        for slot in self.slots:
            slot.is_stale = True
        self.plan_now()

    def choose(self, preset: str, *, is_instead: bool = False) -> None:
        """Bring a preset to the front, untouched; `is_instead` of one that is gone."""
        if preset != self.preset:
            self.preset, self.typed = preset, {}
            self.detail = self.origin_diff = None
            if not is_instead:
                self.done, self.removed, self.problem = "", None, None
            self._read()
            self.plan_now()
            self.changed.emit()

    def choose_host(self, host: str) -> None:
        """Plan for another machine; empty is this one."""
        if host != self.host:
            self.host = host
            self._read()
            self.plan_now()
            self.changed.emit()

    def hold_against(self, against: Against, other: str | None = None) -> None:
        """Compare with the untouched preset, with another one, or with nothing."""
        self.against, self.other = against, other if other is not None else self.other
        self._read_diff()
        self.plan_now()
        self.changed.emit()

    def set_value(self, name: str, text: str, default: str) -> None:
        """Take what was typed; the default itself is no change."""
        before = dict(self.typed)
        if text.strip() in ("", default):
            self.typed.pop(name, None)
        else:
            self.typed[name] = text.strip()
        if self.typed != before:
            self.done = ""
            self.is_resting = True
            self.typed_on.emit()
            self.changed.emit()

    def reset(self) -> None:
        """Put every setting back."""
        self.typed = {}
        self.plan_now()
        self.changed.emit()

    def requests(self) -> tuple[PlanRequest | None, PlanRequest | None]:
        """Return what is to be planned: what stands in the rows last, what it is held against."""
        if self.preset is None:
            return None, None
        host = self.host or None
        now = PlanRequest(preset=self.preset, overrides=dict(self.typed), host=host)
        match self.against:
            case Against.NOTHING:
                return now, None
            case Against.BEFORE:
                return now, PlanRequest(preset=self.preset, host=host)
            case Against.OTHER:
                other = PlanRequest(preset=self.other, host=host) if self.other else None
                return now, other

    def plan_now(self) -> None:
        """Ask for the plans that are wanted and not there."""
        self.is_resting = False
        for place, request in enumerate(self.requests()):
            slot = self.slots[place]
            if request != slot.wanted:
                same_preset = request and slot.wanted and request.preset == slot.wanted.preset
                if not same_preset:
                    slot.plan, slot.problem = None, None
                slot.wanted, slot.is_stale = request, True
            if slot.wanted is not None and slot.is_stale:
                self._plan(place)

    def sides(self, titles: Mapping[str, str], before: str, after: str) -> tuple[Side, ...]:
        """Return the plans to show: what it is held against first, what stands in the rows last."""
        now, against = self.slots
        main = self._side(now, after, 0, is_resting=self.is_resting)
        if self.against is Against.NOTHING or against.wanted is None:
            return (main,)
        if self.against is Against.BEFORE:
            return (self._side(against, before, 1), main)
        left = msgspec.structs.replace(main, title=titles.get(self.preset or "", self.preset or ""))
        right = self._side(against, titles.get(self.other or "", self.other or ""), 1)
        return (left, right)

    # -- changing presets ------------------------------------------------------------------

    def save_as(self, preset_id: str, title: str | None) -> None:
        """Make a preset of the person's own of what stands in the rows."""
        source, values = self.preset or "", dict(self.typed)
        request = CopyRequest(id=preset_id, title=title, values=values)
        self._change("save-as", lambda client: client.copy_preset(source, request), self._on_made)

    def save(self) -> None:
        """Make what stands in the rows the defaults of the person's own preset."""
        preset, request = self.preset or "", EditRequest(values=dict(self.typed))
        self._change("save", lambda client: client.edit_preset(preset, request), self._on_made)

    def rename(self, title: str) -> None:
        """Give the preset another title."""
        preset = self.preset or ""
        self._change(
            "rename", lambda client: client.retitle_preset(preset, title), self._on_changed
        )

    def update(self, take: tuple[str, ...]) -> None:
        """Take these values of the original over."""
        preset, request = self.preset or "", UpdateRequest(take=take)
        self._change("update", lambda client: client.update_preset(preset, request), self._on_made)

    def remove(self) -> None:
        """Delete the preset."""
        preset = self.preset or ""
        self._change("remove", lambda client: client.remove_preset(preset), self._on_removed)

    def restore(self) -> None:
        """Put back what was just deleted."""
        if self.removed is not None:
            request = ImportPresetRequest(text=self.removed.text, id=self.removed.id)
            self._change("restore", lambda client: client.import_preset(request), self._on_made)

    def _change(
        self,
        name: str,
        question: "Callable[[ControlClient], Awaitable[object]]",
        done: Callable[[object], None],
    ) -> None:
        self.problem, self.done = None, ""
        self.ask(name, question, done)

    def _on_made(self, made: object) -> None:
        if isinstance(made, PresetText):
            self.typed, self.removed = {}, None
            self.preset, self.detail = made.id, None
            self._after("saved", made.id)

    def _on_changed(self, made: object) -> None:
        if isinstance(made, PresetText):
            self._after("renamed", made.id)

    def _on_removed(self, gone: object) -> None:
        if isinstance(gone, PresetRemoved):
            self.typed, self.detail = {}, None
            self.preset = gone.id if gone.is_bundled_back else None
            self._after("removed", gone.id)
            self.removed = gone

    def _after(self, verb: str, preset_id: str) -> None:
        self.done = f"{verb} {preset_id}"
        self.removed = None
        self._read()
        for slot in self.slots:
            slot.is_stale = True
        self.plan_now()
        self.presets_changed.emit()

    # -- asking ----------------------------------------------------------------------------

    def _side(self, slot: Slot, title: str, place: int, *, is_resting: bool = False) -> Side:
        return Side(
            title=title,
            plan=slot.plan,
            problem=slot.problem,
            is_planning=slot.wanted is not None
            and (is_resting or slot.is_stale or f"plan-{place}" in self.pending),
        )

    def _plan(self, place: int) -> None:
        slot = self.slots[place]
        request = slot.wanted
        if request is None:
            return

        def done(plan: Plan) -> None:
            self._on_plan(place, request, plan, None)

        def failed(error: ErrorInfo) -> None:
            self._on_plan(place, request, None, error)

        slot.is_stale = False  # first: a bridge that is closed refuses at once
        if not self.ask(f"plan-{place}", lambda client: client.plan(request), done, failed):
            slot.is_stale = True

    def _on_plan(
        self, place: int, request: PlanRequest, plan: Plan | None, problem: ErrorInfo | None
    ) -> None:
        slot = self.slots[place]
        if request == slot.wanted and not slot.is_stale:
            slot.plan, slot.problem = plan, problem
        elif slot.wanted is not None:
            self._plan(place)

    def _read(self) -> None:
        self._turn += 1
        self._ask_detail()
        self._read_diff()

    def _ask_detail(self) -> None:
        preset, host, turn = self.preset, self.host or None, self._turn
        if preset is None:
            self.detail = None
            return
        done = functools.partial(self._on_detail, turn)
        failed = functools.partial(self._on_no_detail, turn)
        self.ask("detail", lambda client: client.preset(preset, host), done, failed)

    def _on_detail(self, turn: int, detail: PresetDetail) -> None:
        if turn != self._turn:
            self._ask_detail()
            return
        self.detail = detail
        if detail.preset.origin is not None:
            self._ask_origin(detail.preset.id)
        else:
            self.origin_diff = None

    def _on_no_detail(self, turn: int, error: ErrorInfo) -> None:
        """A preset that another one took the place of meanwhile is nobody's problem."""
        if turn == self._turn:
            self.problem = error
        else:
            self._ask_detail()

    def _ask_origin(self, preset: str) -> None:
        turn = self._turn

        def done(found: PresetDiff) -> None:
            if turn == self._turn:
                self.origin_diff = found
            else:
                self._ask_detail()  # whose answer may have found this question still under way

        def failed(_error: ErrorInfo) -> None:
            if turn != self._turn:
                self._ask_detail()

        self.ask("origin", lambda client: client.preset_diff(preset), done, failed)

    def _read_diff(self) -> None:
        """Ask in what two presets differ, while two are compared."""
        self._diff_turn += 1
        self._ask_diff()

    def _ask_diff(self) -> None:
        mine, other, turn = self.preset, self.other, self._diff_turn
        if self.against is not Against.OTHER or mine is None or other is None:
            self.diff = None
            return

        def done(found: PresetDiff) -> None:
            if turn == self._diff_turn:
                self.diff = found
            else:
                self._ask_diff()

        def failed(_error: ErrorInfo) -> None:
            if turn != self._diff_turn:
                self._ask_diff()

        self.ask("diff", lambda client: client.preset_diff(mine, other), done, failed)

    def _on_hosts(self, found: list[HostEntry]) -> None:
        self.hosts = tuple(found)

    def _ignore(self, _error: ErrorInfo) -> None:
        """Leave it not known: the page says what it has."""
