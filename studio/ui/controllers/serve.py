"""The home page at work, and the strip's buttons: choosing, starting, switching, stopping."""

import time
from collections.abc import Sequence

import msgspec
from PySide6.QtCore import Signal

from studio.domain.metrics import Tick
from studio.domain.plans import Plan, PlanRequest
from studio.domain.server import EngineState
from studio.ui.area import Area
from studio.ui.desk import Controller, Desk
from studio.ui.language import told
from studio.ui.pages.serve import ServePage
from studio.ui.serving import ServingArea
from studio.ui.state import Known, Link, is_busy
from studio.ui.trial import Trying
from studio.ui.viewmodels.frame import FrameView, PageId, frame_view
from studio.ui.viewmodels.live import Deed
from studio.ui.viewmodels.presets import proposed
from studio.ui.viewmodels.problem import Remedy
from studio.ui.viewmodels.serve import Mode, mode_of
from studio.ui.viewmodels.welcome import WelcomeView, suggested, welcome_view
from studio.ui.welcome import WelcomeArea
from studio.ui.wsl import WslArea


class _Marked(msgspec.Struct, frozen=True, kw_only=True):
    """What a person marked on the page."""

    chosen: str | None
    gpus: tuple[int, ...] | None
    choosing: bool
    welcomes: bool | None


class ServeController(Controller):
    """Holds which preset is marked. Signal: `chosen_changed`, for the strip above all pages."""

    chosen_changed = Signal()

    def __init__(self, desk: Desk) -> None:
        self.view = ServePage(desk.look)
        super().__init__(desk, self.view)
        self._chosen: str | None = None
        self._choosing = False
        self._gpus: tuple[int, ...] | None = None
        self.area = ServingArea(desk.bridge)
        self.area.changed.connect(self._on_area)
        self._trial = Area(desk.bridge)
        self.trying = Trying(self._trial)
        self.trying.changed.connect(self._show_try)
        self.view.try_panel.asked.connect(self.trying.ask)
        self.view.try_panel.stopped.connect(self.trying.stop)
        self.first = WelcomeArea(desk.bridge)
        self.first.changed.connect(self._on_area)
        self.wsl = WslArea(desk.bridge)
        self.wsl.changed.connect(self._on_area)
        self.view.wsl.go_on_asked.connect(self.wsl.go_on)
        self.view.wsl.look_asked.connect(self.wsl.look)
        self._welcomes: bool | None = None
        """Whether the first run is shown; None: as long as nothing was ever served."""
        self._mode: Mode | None = None
        """What the page showed last; None: nothing yet, or nothing of this service."""
        session = desk.session
        self.view.preset_chosen.connect(self._on_preset)
        self.view.start_asked.connect(self.start)
        self.view.problem.chosen.connect(self._on_remedy)
        self.view.problem.dismissed.connect(self._on_dismissed)
        self.view.problem.fix_asked.connect(self.area.fix)
        self.view.alarms.done.connect(self._on_deed)
        self.view.cards_chosen.connect(self._on_cards)
        self.view.secret.dismissed.connect(session.forget_secret)
        self.view.first_steps.clicked.connect(self._on_first_steps)
        self.view.welcome.chosen.connect(self._on_preset)
        self.view.welcome.start_asked.connect(self._on_first_start)
        self.view.welcome.look_asked.connect(self._on_look_again)
        self.view.welcome.left.connect(self._on_welcome_left)

    def enter(self) -> None:
        """Look at what there is to choose: meanwhile a model may have come, or gone."""
        if self._mode is Mode.CHOOSE:
            self._look_anew()

    def leave(self) -> None:
        """Stop an answer that nobody sees."""
        self.trying.stop()

    def carried(self) -> object:
        """Return which preset and cards are marked, and what stands in the page."""
        return _Marked(
            chosen=self._chosen,
            gpus=self._gpus,
            choosing=self._choosing,
            welcomes=self._welcomes,
        )

    def carry(self, what: object) -> None:
        """Mark them again."""
        if isinstance(what, _Marked):
            self._chosen, self._gpus = what.chosen, what.gpus
            self._choosing, self._welcomes = what.choosing, what.welcomes

    def begin_try(self) -> bool:
        """Put the caret into the prompt; False when nothing serves, and the panel is not there."""
        if not self.view.try_panel.isVisible():
            return False
        self.view.scroller.ensureWidgetVisible(self.view.try_panel)
        self.view.try_panel.begin()
        return True

    def frame(self, *, home: bool = False) -> FrameView:
        """Return the strip as it stands; `home`: this page is in front."""
        return frame_view(
            self.desk.session.known,
            time.monotonic(),
            chosen=self._chosen,
            choosing=self._choosing,
            home=home,
        )

    def show_known(self, known: Known) -> None:
        """Show everything but the ticks; a preset that is gone is not marked any more."""
        identities = {preset.id for preset in known.presets or ()}
        if self._chosen not in identities:
            self._chosen = known.engine.preset or proposed(known.presets)
        turns = self._turns(known)
        self._show(known)
        if turns:  # afterwards: what is hidden lets go of the focus, and the page follows that
            self.view.scroller.verticalScrollBar().setValue(0)
        self._plan(known)

    def show_ticks(self, ticks: Sequence[Tick]) -> None:
        """Show gauge, figures and charts."""
        self.view.show_ticks(self.desk.session.known, ticks)

    def start(self) -> None:
        """Serve what is marked, where that is allowed now."""
        known, view = self.desk.session.known, self.frame()
        ready = known.engine.state is EngineState.READY
        may_switch = ready and self._choosing and self._chosen != known.engine.preset
        allowed = may_switch if ready else view.start.visible and view.start.enabled
        if allowed and not is_busy(known) and self._chosen is not None:
            self._choosing = False
            self.desk.go_to(PageId.SERVE)
            self.desk.session.start(self._chosen, self._gpus)

    def stop(self) -> None:
        """Stop, where there is something to stop."""
        view = self.frame()
        if view.stop.visible and view.stop.enabled:
            self.desk.session.stop()

    def restart(self) -> None:
        """Restart, where that is allowed now."""
        view = self.frame()
        if view.restart.visible and view.restart.enabled:
            self.desk.session.restart()

    def switch(self) -> None:
        """Show the chooser over the weir, or the weir again."""
        view = self.frame()
        if view.switch.visible and view.switch.enabled:
            self._choosing = not self._choosing
            self.desk.go_to(PageId.SERVE)
            self.chosen_changed.emit()

    def _turns(self, known: Known) -> bool:
        """Tell whether the page turns to something else, and look at what there is to choose.

        A start leaves a machine that is other than the one that was looked at before it.
        """
        before = self._mode
        self._mode = mode_of(known, choosing=self._choosing)
        if known.link is not Link.LIVE:
            self._mode = None  # a service that comes back tells everything anyway
        turns = self._mode is not before and None not in (self._mode, before)
        if turns and self._mode is Mode.CHOOSE:
            self._look_anew()
        return turns

    def _look_anew(self) -> None:
        self.first.look_anew()
        self.desk.session.refresh_presets()
        self.desk.session.look_at_machine()
        self.area.plan_again()

    def _on_preset(self, preset: str) -> None:
        self._chosen, self._gpus = preset, None
        self.chosen_changed.emit()

    def _show(self, known: Known) -> None:
        self._show_try()
        self.view.show_known(
            known,
            time.monotonic(),
            self._chosen,
            self._choosing,
            self.area.now,
            self._welcome(known),
            self.wsl.view(is_live=known.link is Link.LIVE),
        )

    def _show_try(self) -> None:
        known = self.desk.session.known
        is_serving = known.engine.is_serving and known.link is Link.LIVE
        view = self.trying.view(is_serving=is_serving)
        error = self._trial.problem
        if error is not None:
            words = "\n".join(told(part) for part in (error.message, error.hint) if part)
            view = msgspec.structs.replace(view, answer=words, is_quiet=True)
        self.view.try_panel.show_view(view)

    def _welcome(self, known: Known) -> WelcomeView | None:
        """Return the first run while it is to be shown, and have the service asked for it."""
        if known.engine.is_serving:
            self.first.note_served()
            self._welcomes = None
        is_first = self.first.was_served is False if self._welcomes is None else self._welcomes
        if not is_first or self._choosing or mode_of(known, choosing=False) is not Mode.CHOOSE:
            return None
        if known.link is Link.LIVE:
            self.first.look(suggested(known.presets))
        return welcome_view(
            known,
            self._chosen,
            doctor=self.first.doctor,
            plans=self.first.plans,
            details=self.first.details,
            is_looking=self.first.is_looking,
        )

    def _on_first_steps(self) -> None:
        self._welcomes = True
        self.chosen_changed.emit()

    def _on_welcome_left(self) -> None:
        self._welcomes = False
        self.chosen_changed.emit()

    def _on_look_again(self) -> None:
        self.first.look_again()
        self.desk.session.refresh_presets()

    def _on_first_start(self) -> None:
        """Start what is marked; the size stood on the button, so that the press is the yes."""
        known = self.desk.session.known
        preset = next((one for one in known.presets or () if one.id == self._chosen), None)
        if preset is not None and not is_busy(known):
            plan = self.first.plans.get(preset.id)
            size = plan.download_bytes if isinstance(plan, Plan) else preset.download_bytes
            self.desk.session.start(preset.id, consent=bool(size))

    def _plan(self, known: Known) -> None:
        """Have what is marked planned while somebody chooses: it costs nothing otherwise."""
        if mode_of(known, choosing=self._choosing) is Mode.CHOOSE and self._chosen is not None:
            self.area.want_plan(PlanRequest(preset=self._chosen, gpus=self._gpus))

    def _on_area(self) -> None:
        self._show(self.desk.session.known)
        if self.page.isVisible():
            self.show_ticks(tuple(self.desk.session.ticks))

    def _on_cards(self, gpus: tuple[int, ...] | None) -> None:
        self._gpus = gpus
        self._plan(self.desk.session.known)

    def _on_dismissed(self) -> None:
        self.area.dismiss()
        self.desk.session.dismiss_problem()

    def _on_deed(self, deed: Deed) -> None:
        match deed.kind:
            case "fix":
                self.area.fix(int(deed.what))
            case "mute":
                self.area.mute(deed.what)
            case "retry":
                self.start()
            case "why":
                self.desk.point_at(PageId.LOGS, deed.what)
            case _:
                self.area.unmute(deed.what)

    def _on_remedy(self, remedy: Remedy) -> None:
        session = self.desk.session
        match remedy:
            case Remedy.RETRY:
                if not self.area.fix_again():
                    session.retry()
            case Remedy.TAKE_PORT:
                session.take_free_port()
            case Remedy.CONSENT:
                if not self.area.fix_with_consent():
                    session.consent()
            case Remedy.COPY | Remedy.COMMAND | Remedy.FIX:
                pass  # the card's own button and signal have done it
