"""Pictures of the plan page and of the first run, for `screenshots.py`."""

from collections.abc import Callable
from typing import Protocol

import msgspec
from PySide6.QtWidgets import QDialog, QWidget

from studio.domain.doctor import EVERYTHING, Area, Check, Level
from studio.ui.controllers.plan import PlanController
from studio.ui.viewmodels.compare import Against
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow
from tests.ui.fake_planning import CHAT, LONG, MINE, FakePlanning
from tests.ui.fake_service import FakeService
from tests.ui.fake_welcome import STEP, FakeWelcome
from tests.ui.opened import opened


def planning(service: FakeService) -> None:
    """Show a machine with a card, and a preset of the person's own."""
    FakePlanning(service).add_mine()


class Shoot(Protocol):
    """Writes one picture, of the window or of a dialog."""

    def __call__(self, name: str, widget: QWidget | None = None) -> None:
        """Write it."""


def plan_pages(
    window: MainWindow, wait: Callable[[Callable[[], bool]], None], shoot: Shoot
) -> None:
    """Write the plan page's pictures."""
    page = opened(window, PageId.PLAN, PlanController)
    area = page.area

    def is_settled() -> bool:
        plans = all(slot.wanted is None or slot.plan or slot.problem for slot in area.slots)
        return not area.pending and area.detail is not None and plans and not area.is_resting

    area.choose(CHAT.id)
    wait(is_settled)
    shoot("plan")
    page.view.knobs.typed.emit("max_model_len", "32768")
    page.view.knobs.typed.emit("max_num_seqs", "4")
    page.view.knobs.typed.emit("kv_cache_dtype", "fp8")
    page.view.against_chosen.emit(Against.BEFORE)
    wait(is_settled)
    shoot("plan-before-after")
    window.resize(900, 600)
    shoot("plan-900")
    window.resize(1180, 760)
    area.hold_against(Against.OTHER, LONG.id)
    wait(is_settled)
    shoot("plan-two")
    area.reset()
    area.hold_against(Against.NOTHING)
    page.view.knobs.typed.emit("max_model_len", "abc")
    wait(is_settled)
    shoot("plan-refused")
    area.choose(MINE.id)
    wait(lambda: is_settled() and area.origin_diff is not None)
    shoot("plan-mine")
    for deed in ("update", "save-as", "remove"):
        page.view.deed_asked.emit(deed)
        dialog = next(one for one in window.findChildren(QDialog) if one.isVisible())
        shoot(f"plan-{deed}", dialog)
        dialog.close()
        wait(lambda: not any(one.isVisible() for one in window.findChildren(QDialog)))
    window.show_page(PageId.SERVE)


def first_card(service: FakeService) -> None:
    """Show the first run on a machine with a card."""
    FakeWelcome(service, "wsl2")


def first_none(service: FakeService) -> None:
    """Show the first run on a machine without one."""
    FakeWelcome(service, "none")


def first_stopped(service: FakeService) -> None:
    """Show the first run on a machine that needs something first."""
    fake = FakeWelcome(service, "none")
    full = Check(
        code="disk-room",
        area=Area.STORAGE,
        title="Disk of home (/)",
        level=Level.STOPS,
        found="1.20 GiB is free; the smallest preset needs 3.30 GiB.",
        advice="Free 2.10 GiB, or move the folder: `WEIR_HOME=/mnt/large weir ui`.",
        stops=(EVERYTHING,),
    )
    fake.doctor = msgspec.structs.replace(fake.doctor, checks=(full, *fake.doctor.checks))
    service.presets[0] = msgspec.structs.replace(service.presets[0], notes=(STEP,))


FIRST_RUNS: dict[str, Callable[[FakeService], None]] = {
    "first-card": first_card,
    "first-none": first_none,
    "first-stopped": first_stopped,
}
