"""The home page beside the engine: plan, alarms and remedies, clicked in the real window."""

import msgspec
import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from studio.domain.errors import ErrorInfo
from studio.domain.events import AlarmChanged, EngineChanged, PoolChanged
from studio.domain.hardware import Gpu
from studio.domain.plans import PlanVerdict
from studio.domain.server import EngineSnapshot, EngineState
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow
from tests.ui.conftest import PATIENCE_MS
from tests.ui.fake_service import BOOT_FAILED, CONSENT, DEMO, FAST, HOST, FakeService
from tests.ui.fake_serving import POOL_REPORT, SMALLER, SPILLS, offered, recorded_plan
from tests.ui.test_window import button, click, shown, text


def test_the_marked_preset_is_planned_and_another_one_when_it_is_marked(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """The verdict must be that of the preset that Start would start."""
    qtbot.waitUntil(lambda: text(window, "plan-verdict") == "Fits this machine")

    service.serving.plan = ErrorInfo(code="runtime-unpinned", message="Its runtime is not pinned.")
    click(qtbot, window, f"preset-{FAST.id}")

    qtbot.waitUntil(lambda: text(window, "plan-notes") == "Its runtime is not pinned.")
    assert [one.preset for one in service.serving.plans][-1] == FAST.id


@pytest.fixture
def one_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the window from asking for everything anew because the fake says nothing for long."""
    monkeypatch.setattr("studio.ui.bridge._QUIET_S", 10 * PATIENCE_MS)


@pytest.mark.usefixtures("one_stream")
def test_after_a_start_the_choice_begins_at_the_top_and_with_what_holds_now(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """What was downloaded for it is there now; a size and a disk of before would be wrong."""
    service.be_ready()
    service.publish(EngineChanged(engine=service.engine))
    qtbot.waitUntil(lambda: text(window, "state").startswith("Ready"))
    plan = recorded_plan("four-cards")
    service.presets = [msgspec.structs.replace(DEMO, download_bytes=0), FAST]
    service.serving.plan = msgspec.structs.replace(
        plan, download_bytes=0, verdict=PlanVerdict.DOES_NOT_FIT
    )
    service.host = msgspec.structs.replace(HOST, disk_free_bytes=7 << 30)
    window.resize(900, 600)
    bar = window.home.view.scroller.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum())

    button(window, "rail-serve").setFocus()  # a focus that is lost would go on into the page
    window.home.stop()

    qtbot.waitUntil(lambda: shown(window, "chooser"))
    assert bar.value() == 0
    is_anew(qtbot, window, disk="7.00 GiB free")


@pytest.mark.usefixtures("one_stream")
def test_coming_back_to_the_choice_looks_at_it_anew(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """On another page a model was removed, or one was fetched."""
    qtbot.waitUntil(lambda: text(window, "plan-verdict") == "Fits this machine")
    window.show_page(PageId.KEYS)
    plan = recorded_plan("four-cards")
    service.presets = [msgspec.structs.replace(DEMO, download_bytes=0), FAST]
    service.serving.plan = msgspec.structs.replace(
        plan, download_bytes=0, verdict=PlanVerdict.DOES_NOT_FIT
    )
    service.host = msgspec.structs.replace(HOST, disk_free_bytes=9 << 30)

    window.show_page(PageId.SERVE)

    is_anew(qtbot, window, disk="9.00 GiB free")


def is_anew(qtbot: QtBot, window: MainWindow, *, disk: str) -> None:
    """Wait until list, plan and machine are those of now."""
    row = window.findChild(QWidget, f"preset-{DEMO.id}")
    machine = window.findChild(QWidget, "machine")
    assert row is not None
    assert machine is not None
    qtbot.waitUntil(lambda: "Downloads" not in row.accessibleDescription())
    qtbot.waitUntil(lambda: text(window, "plan-verdict") == "Does not fit this machine")
    qtbot.waitUntil(lambda: disk in (one.text() for one in machine.findChildren(QLabel)))


def test_cards_can_be_chosen_where_there_are_several(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """Two programs share a machine by its cards; Start uses what is pressed."""
    service.serving.plan = msgspec.structs.replace(recorded_plan("four-cards"), gpus=(0, 1))
    cards = tuple(Gpu(index=n, name="Tesla V100", total_bytes=16 << 30) for n in range(4))
    session = window.home.desk.session
    session.known = msgspec.structs.replace(
        session.known, host=msgspec.structs.replace(HOST, gpus=cards)
    )
    window.home.area.plan_again()
    qtbot.waitUntil(lambda: shown(window, "card-3"))
    area = window.home.area
    qtbot.waitUntil(lambda: area.now.plan is not None and area.now.plan.gpus == (0, 1))

    click(qtbot, window, "card-0")

    qtbot.waitUntil(lambda: service.serving.plans[-1].gpus == (1,))


def test_an_alarm_is_a_card_whose_buttons_fix_and_mute(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """One press each, and the number goes with what it was shown for."""
    service.serving.alarms = (SPILLS,)
    service.serving.offered = (offered(1, SPILLS.code, SMALLER),)
    service.publish(AlarmChanged(alarm=SPILLS))
    fix = f"alarm-{SPILLS.code}-fix-1"
    qtbot.waitUntil(lambda: shown(window, fix))

    click(qtbot, window, fix)
    qtbot.waitUntil(lambda: [one.about for one in service.serving.fixes] == [SPILLS.code])
    qtbot.waitUntil(lambda: shown(window, "problem"))
    click(qtbot, window, f"alarm-{SPILLS.code}-mute-{SPILLS.code}")

    qtbot.waitUntil(lambda: shown(window, f"alarm-{SPILLS.code}-unmute-{SPILLS.code}"))


def test_a_remedy_that_wants_a_yes_is_taken_again_with_it(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """The yes belongs to the remedy, not to the start that failed before."""
    service.serving.offered = (offered(1, BOOT_FAILED.code, SMALLER),)
    service.serving.fixed = CONSENT
    service.publish(
        EngineChanged(engine=EngineSnapshot(state=EngineState.FAILED, error=BOOT_FAILED))
    )
    qtbot.waitUntil(lambda: shown(window, "problem-fix-1"))

    click(qtbot, window, "problem-fix-1")
    qtbot.waitUntil(lambda: shown(window, "problem-consent"))
    click(qtbot, window, "problem-consent")

    qtbot.waitUntil(lambda: [one.consent for one in service.serving.fixes] == [False, True])
    assert service.asked == []


def test_requests_in_the_pool_are_named_beside_the_weir(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """Who fills the pool is the first question when it is full."""
    service.be_ready()
    service.publish(EngineChanged(engine=service.engine), PoolChanged(pool=POOL_REPORT))

    qtbot.waitUntil(lambda: len(window.home.view.requests.rows) == 2)
    assert shown(window, "requests")
