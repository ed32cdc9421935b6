"""How much may move."""

import math
from collections.abc import Iterator

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.domain.events import EngineChanged, Ticked
from studio.ui.motion import Motion, MotionChoice
from studio.ui.theme import Look
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow
from tests.ui.fake_service import READY, FakeService, tick

GNOME = ("org.gnome.desktop.interface", "enable-animations")
KDE = ("org.kde.kdeglobals.KDE", "AnimationDurationFactor")
PORTAL = ("org.freedesktop.appearance", "reduced-motion")


@pytest.fixture
def motion(qapp: QApplication) -> Iterator[Motion]:
    """Return a motion that follows the system; everything moves again afterwards."""
    assert qapp is not None
    made = Motion(MotionChoice.SYSTEM)
    yield made
    made.choose(MotionChoice.FULL)


@pytest.mark.parametrize(
    ("key", "text", "reduced"),
    [
        (GNOME, "False", True),
        (GNOME, "True", False),
        (KDE, "0", True),
        (KDE, "0.0", True),
        (KDE, "1.5", False),
        (KDE, "fast", False),
        (PORTAL, "1", True),
        (PORTAL, "0", False),
        (("org.example", "motion"), "0", False),
    ],
)
def test_each_desktop_says_it_in_its_own_words(
    motion: Motion, key: tuple[str, str], text: str, *, reduced: bool
) -> None:
    """An answer that nobody knows is no wish."""
    motion.hear(key, text)

    assert motion.is_reduced is reduced


def test_the_persons_choice_comes_before_the_systems(qtbot: QtBot, motion: Motion) -> None:
    """Both ways: more than the system says, or less."""
    with qtbot.waitSignal(motion.changed):
        motion.hear(GNOME, "False")
    with qtbot.waitSignal(motion.changed):
        motion.choose(MotionChoice.FULL)
    assert not motion.is_reduced
    with qtbot.waitSignal(motion.changed):
        motion.choose(MotionChoice.REDUCED)
    assert motion.is_reduced


def test_nothing_blinks_while_motion_is_reduced(motion: Motion) -> None:
    """A caret that blinks is motion too; it comes back with the choice."""
    before = QGuiApplication.styleHints().cursorFlashTime()
    motion.choose(MotionChoice.REDUCED)
    assert QGuiApplication.styleHints().cursorFlashTime() == 0

    motion.choose(MotionChoice.FULL)

    assert QGuiApplication.styleHints().cursorFlashTime() == before > 0


def test_reduced_motion_draws_ticks_in_steps_of_seconds(
    qtbot: QtBot,
    look: Look,
    service: FakeService,
    window: MainWindow,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a person did is shown at once all the same."""
    monkeypatch.setattr("studio.ui.window._CALM_S", math.inf)  # a busy machine takes seconds here
    service.publish(EngineChanged(engine=READY))
    chart = window.home.view.charts[0]
    service.publish(*(Ticked(tick=tick(second)) for second in range(2)))
    qtbot.waitUntil(lambda: chart.view is not None and len(chart.view.lines[0].points) == 2)
    assert chart.view is not None

    look.motion.choose(MotionChoice.REDUCED)
    changes: list[object] = []
    window.home.desk.session.changed.connect(changes.append)
    for area in (window.home.area, window.home.first, window.home.wsl):
        area.changed.connect(lambda: changes.append("an answer"))
    for second in range(2, 20):  # an answer that is still under way shows what came, and rightly
        drawn = len(chart.view.lines[0].points)
        changes.clear()
        service.publish(Ticked(tick=tick(second)))
        qtbot.waitUntil(lambda second=second: len(window.home.desk.session.ticks) == second + 1)
        if not changes:
            break
    assert not changes
    assert len(chart.view.lines[0].points) == drawn < len(window.home.desk.session.ticks)

    window.show_page(PageId.SERVE)
    assert len(chart.view.lines[0].points) == len(window.home.desk.session.ticks)
    look.motion.choose(MotionChoice.SYSTEM)
