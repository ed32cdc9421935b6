"""The plan page at work: what is typed is planned after a rest, what is saved is asked for."""

import msgspec
from PySide6.QtCore import QTimer

from studio.domain.control import PresetInfo
from studio.domain.events import EngineChanged, Event
from studio.domain.server import EngineState
from studio.ui.desk import Controller, Desk
from studio.ui.language import t, told
from studio.ui.pages.plan import PlanPage, done_words
from studio.ui.pages.plan_dialogs import NameDialog, RemoveDialog, UpdateDialog
from studio.ui.planning import PlanningArea
from studio.ui.state import Known, Link
from studio.ui.viewmodels.compare import Against, compare_view
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.knobs import defaults, knobs_view, stepped
from studio.ui.viewmodels.plan_page import (
    Choice,
    change_views,
    head_view,
    new_id,
    preset_choices,
)
from studio.ui.viewmodels.presets import proposed
from studio.ui.viewmodels.problem import problem_view

_REST_MS = 250
"""Typing goes on quicker than this."""


class _Typed(msgspec.Struct, frozen=True, kw_only=True):
    """What a person typed and chose on the page."""

    preset: str | None
    host: str
    typed: dict[str, str]
    against: Against
    other: str | None


class PlanController(Controller):
    """Asks only while the page is in front; what was typed is kept while it is not."""

    def __init__(self, desk: Desk) -> None:
        self.view = PlanPage(desk.look)
        super().__init__(desk, self.view)
        self.area = PlanningArea(desk.bridge)
        self._is_front = False
        self._was_live = False
        self._unfolded = False
        self._searched = ""
        self._engine: tuple[EngineState, str | None] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REST_MS)
        self._timer.timeout.connect(self.area.plan_now)
        self._connect()

    def _connect(self) -> None:
        view, area = self.view, self.area
        area.changed.connect(self._show)
        area.typed_on.connect(self._timer.start)
        area.presets_changed.connect(self.desk.session.refresh_presets)
        view.preset_chosen.connect(area.choose)
        view.host_chosen.connect(area.choose_host)
        view.against_chosen.connect(self._on_against)
        view.other_chosen.connect(self._on_other)
        view.deed_asked.connect(self._on_deed)
        view.problem.dismissed.connect(area.dismiss)
        view.knobs.typed.connect(self._on_typed)
        view.knobs.stepped.connect(self._on_stepped)
        view.knobs.searched.connect(self._on_searched)
        view.knobs.folded.connect(self._on_folded)
        self.desk.bridge.arrived.connect(self._on_arrived)

    def show_known(self, known: Known) -> None:
        """Ask again when the service is back; drop a preset that is gone."""
        is_live = known.link is Link.LIVE
        if not self._is_front:
            return
        if is_live and not self._was_live:
            self.area.refresh()
        self._was_live = is_live
        self._choose_first(known)
        self._show()

    def enter(self) -> None:
        """Plan what stands there anew: the machine may have changed."""
        self._is_front = True
        known = self.desk.session.known
        self._was_live = known.link is Link.LIVE
        self._choose_first(known)
        if self._was_live:
            self.desk.session.refresh_presets()
            self.area.refresh()
        self._show()

    def leave(self) -> None:
        """Stop asking."""
        self._is_front = False

    def show_what(self, what: str) -> None:
        """Plan a preset by its id."""
        self.area.choose(what)

    def carried(self) -> object:
        """Return the preset in front with what was typed, and what it is held against."""
        area = self.area
        return _Typed(
            preset=area.preset,
            host=area.host,
            typed=dict(area.typed),
            against=area.against,
            other=area.other,
        )

    def carry(self, what: object) -> None:
        """Put it back."""
        if isinstance(what, _Typed):
            area = self.area
            area.preset, area.host, area.typed = what.preset, what.host, dict(what.typed)
            area.against, area.other = what.against, what.other

    def begin_search(self) -> bool:
        """Search the settings."""
        self.view.knobs.begin_search()
        return True

    @property
    def _preset(self) -> PresetInfo | None:
        found = (one for one in self._presets if one.id == self.area.preset)
        return next(found, None)

    @property
    def _presets(self) -> tuple[PresetInfo, ...]:
        return self.desk.session.known.presets or ()

    def _choose_first(self, known: Known) -> None:
        ids = [one.id for one in known.presets or () if not one.is_broken]
        is_gone = self.area.preset not in ids and not self.area.is_saving
        if ids and is_gone and known.link is Link.LIVE:
            wanted = known.engine.preset if known.engine.preset in ids else None
            self.area.choose(wanted or proposed(known.presets) or ids[0], is_instead=True)

    def _show(self) -> None:
        if not self._is_front:
            return
        area, view, known = self.area, self.view, self.desk.session.known
        titles = {one.id: told(one.title) for one in self._presets}
        detail = area.detail if area.detail and area.detail.preset.id == area.preset else None
        view.show_head(
            head_view(
                known,
                self._preset,
                detail=detail,
                hosts=area.hosts,
                host=area.host,
                changed=len(area.typed),
                diff=area.origin_diff if self._preset and self._preset.is_own else None,
                is_saving=area.is_saving,
                has_problem=area.slots[0].problem is not None,
            ),
            area.preset,
            area.host,
        )
        view.show_against(area.against, self._others(), area.other)
        knobs = knobs_view(
            detail,
            area.typed,
            searched=self._searched,
            unfolded=self._unfolded,
            is_reading=area.preset is not None,
            is_live=self._was_live,
        )
        view.show_knobs(knobs, unfolded=self._unfolded)
        sides = area.sides(titles, t("Before"), t("After"))
        is_two = area.against is Against.OTHER
        changes = change_views(area.diff) if is_two else ()
        view.show_plans(
            compare_view(sides, is_live=self._was_live), changes, t("In what they differ")
        )
        view.show_problem(problem_view(area.problem, can_retry=False) if area.problem else None)
        undo = t("Put it back") if area.removed is not None else ""
        view.done.show_done(done_words(area.done, titles), undo=undo)

    def _others(self) -> tuple[Choice, ...]:
        return tuple(one for one in preset_choices(self._presets) if one.value != self.area.preset)

    # -- what a person does ----------------------------------------------------------------

    def _on_typed(self, name: str, text: str) -> None:
        detail = self.area.detail
        if detail is not None:
            self.area.set_value(name, text, defaults(detail).get(name, ""))

    def _on_stepped(self, name: str, steps: int) -> None:
        detail, row = self.area.detail, self.view.knobs.row(name)
        knob = detail.preset.knobs.get(name) if detail is not None else None
        if detail is None or knob is None or row is None:
            return
        now = self.area.typed.get(name, defaults(detail).get(name, ""))
        after = stepped(knob, now, steps)
        if after is not None:
            row.put(after)

    def _on_searched(self, text: str) -> None:
        self._searched = text
        self._show()

    def _on_folded(self) -> None:
        self._unfolded = not self._unfolded
        self._show()

    def _on_against(self, against: Against) -> None:
        other = self.area.other
        if against is Against.OTHER and (other is None or other == self.area.preset):
            others = [one.id for one in self._presets if one.id != self.area.preset]
            other = others[0] if others else None
        self.area.hold_against(against, other)

    def _on_other(self, other: str) -> None:
        self.area.hold_against(Against.OTHER, other)

    def _on_deed(self, deed: str) -> None:
        match deed:
            case "start":
                self._start()
            case "save":
                self.area.save()
            case "save-as":
                self._ask_copy()
            case "rename":
                self._ask_title()
            case "remove":
                self._ask_removal()
            case "update":
                self._ask_update()
            case "reset":
                self.area.reset()
            case "restore":
                self.area.restore()

    def _start(self) -> None:
        preset = self.area.preset
        if preset is not None:
            self.desk.go_to(PageId.SERVE)
            self.desk.session.start(preset, overrides=self.area.typed)

    def _ask_copy(self) -> None:
        preset = self._preset
        if preset is None:
            return
        words = (
            t("A preset of your own"),
            t("With the values that stand here. It remembers what it was copied from, so that an "
              "update of that one can be taken over later."),
            t("Save as mine"),
        )  # fmt: skip
        title = t("{title}, mine").format(title=told(preset.title))
        dialog = NameDialog(self.desk.look, words, title, new_id(preset, self._presets))
        dialog.named.connect(self.area.save_as)
        self._open(dialog)

    def _ask_title(self) -> None:
        preset = self._preset
        if preset is None:
            return
        about = t("Its name for commands stays `{id}`.").format(id=preset.id)
        words = (t("Another title"), about, t("Rename"))
        dialog = NameDialog(self.desk.look, words, preset.title, None)
        dialog.named.connect(self._on_title)
        self._open(dialog)

    def _on_title(self, _preset: str, title: str) -> None:
        self.area.rename(title)

    def _ask_removal(self) -> None:
        preset = self._preset
        if preset is None:
            return
        title = t("Delete “{title}”?").format(title=told(preset.title))
        about = t("The file of `{id}` is deleted. Models and runtimes stay.").format(id=preset.id)
        dialog = RemoveDialog(self.desk.look, title, about)
        dialog.agreed.connect(self.area.remove)
        self._open(dialog)

    def _ask_update(self) -> None:
        diff = self.area.origin_diff
        if diff is not None:
            dialog = UpdateDialog(self.desk.look, change_views(diff), diff.theirs)
            dialog.agreed.connect(self.area.update)
            self._open(dialog)

    def _open(self, dialog: NameDialog | RemoveDialog | UpdateDialog) -> None:
        dialog.setParent(self.view.window(), dialog.windowFlags())
        dialog.open()

    def _on_arrived(self, events: tuple[Event, ...]) -> None:
        """Plan anew when an engine came or went: the card has other room now."""
        if self._is_front and any(isinstance(one, EngineChanged) for one in events):
            engine = self.desk.session.known.engine
            if (engine.state, engine.preset) != self._engine:
                self._engine = (engine.state, engine.preset)
                self.area.refresh()
