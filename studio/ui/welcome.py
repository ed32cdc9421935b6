"""What only the first run knows: whether anything was ever served, the doctor, what fits."""

from typing import TYPE_CHECKING

from studio.domain.boots import BootHistory, BootOutcome
from studio.domain.control import PresetInfo
from studio.domain.doctor import DoctorReport
from studio.domain.errors import ErrorInfo
from studio.domain.plans import Plan, PlanRequest
from studio.domain.presets import PresetDetail
from studio.ui.area import Area
from studio.ui.bridge import Bridge

if TYPE_CHECKING:
    from studio.control.client import ControlClient

_BOOTS = 500


class WelcomeArea(Area):
    """Asks once whether anything was ever served; all else only while the first run is shown.

    Nothing of it is kept in the window: after a restart or a reboot the service says it again.
    """

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(bridge)
        self.was_served: bool | None = None
        self.doctor: DoctorReport | None = None
        self.plans: dict[str, Plan | ErrorInfo] = {}
        self.details: dict[str, PresetDetail] = {}
        self._asked: tuple[str, ...] | None = None
        bridge.opened.connect(self._on_opened)

    @property
    def is_looking(self) -> bool:
        """Whether an answer is on its way."""
        return bool(self.pending - {"boots"})

    def look(self, presets: tuple[PresetInfo, ...]) -> None:
        """Ask about this machine and these presets, unless that was asked already."""
        wanted = tuple(one.id for one in presets)
        if self._asked is None:
            self.ask("doctor", lambda client: client.doctor(), self._on_doctor, self._ignore)
        if wanted != self._asked:
            self._asked = wanted
            for preset in wanted:
                self._look_at(preset)

    def look_again(self) -> None:
        """Forget what was found: the person has changed something."""
        self._asked, self.doctor, self.problem = None, None, None
        self.plans.clear()
        self.changed.emit()

    def look_anew(self) -> None:
        """Ask again, and show what was found until the answers are there."""
        self._asked = None

    def note_served(self) -> None:
        """Something serves: this is no first run any more."""
        self.was_served = True

    def _look_at(self, preset: str) -> None:
        async def question(client: "ControlClient") -> tuple[Plan, PresetDetail]:
            return await client.plan(PlanRequest(preset=preset)), await client.preset(preset)

        def done(found: tuple[Plan, PresetDetail]) -> None:
            self.plans[preset], self.details[preset] = found

        def failed(error: ErrorInfo) -> None:
            self.plans[preset] = error

        self.ask(f"plan {preset}", question, done, failed)

    def _on_opened(self, _opening: object) -> None:
        self._asked, self.doctor = None, None
        self.plans.clear()
        self.ask("boots", lambda client: client.boots(limit=_BOOTS), self._on_boots, self._ignore)

    def _on_boots(self, found: BootHistory) -> None:
        self.was_served = any(one.outcome is BootOutcome.SERVED for one in found.boots)

    def _on_doctor(self, found: DoctorReport) -> None:
        self.doctor = found

    def _ignore(self, _error: ErrorInfo) -> None:
        """Leave it not known: the page says what it has."""
