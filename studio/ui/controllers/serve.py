"""The home page at work, and the strip's buttons: choosing, starting, switching, stopping."""

import time
from collections.abc import Sequence

from PySide6.QtCore import Signal

from studio.domain.metrics import Tick
from studio.domain.plans import PlanRequest
from studio.domain.server import EngineState
from studio.ui.desk import Controller, Desk
from studio.ui.pages.serve import ServePage
from studio.ui.serving import ServingArea
from studio.ui.state import Known, is_busy
from studio.ui.viewmodels.frame import FrameView, PageId, frame_view
from studio.ui.viewmodels.live import Deed
from studio.ui.viewmodels.presets import proposed
from studio.ui.viewmodels.problem import Remedy
from studio.ui.viewmodels.serve import Mode, mode_of


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
        session = desk.session
        self.view.preset_chosen.connect(self._on_preset)
        self.view.start_asked.connect(self.start)
        self.view.problem.chosen.connect(self._on_remedy)
        self.view.problem.dismissed.connect(self._on_dismissed)
        self.view.problem.fix_asked.connect(self.area.fix)
        self.view.alarms.done.connect(self._on_deed)
        self.view.cards_chosen.connect(self._on_cards)
        self.view.secret.dismissed.connect(session.forget_secret)

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
        self._show(known)
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

    def _on_preset(self, preset: str) -> None:
        self._chosen, self._gpus = preset, None
        self.chosen_changed.emit()

    def _show(self, known: Known) -> None:
        self.view.show_known(known, time.monotonic(), self._chosen, self._choosing, self.area.now)

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
            case Remedy.COPY | Remedy.FIX:
                pass  # the card's own button and signal have done it
