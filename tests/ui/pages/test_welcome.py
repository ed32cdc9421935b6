"""The first run in the window: shown while nothing was ever served, and by its button."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect
from pytestqt.qtbot import QtBot

from studio.domain.control import UpRequest
from studio.domain.events import EngineChanged
from studio.ui.language import CHINESE, LANGUAGES, SOURCE, speak
from studio.ui.session import Session
from studio.ui.state import Link
from studio.ui.window import SMALLEST, MainWindow
from tests.ui.fake_planning import CHAT, MTP
from tests.ui.fake_service import BOOT_FAILED, DEMO, READY, FakeService
from tests.ui.fake_welcome import FakeWelcome
from tests.ui.shots_plan import FIRST_RUNS, first_stopped
from tests.ui.test_window import button, click, shown, text
from tests.ui.tree import tree_text


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest, assets: Path) -> Iterator[str]:
    """Speak each language, and English again."""
    speak(request.param, assets)
    yield request.param
    speak(SOURCE, assets)


def in_view(window: MainWindow, name: str) -> bool:
    """Tell whether all of a button lies inside the window and nothing clips it."""
    found = button(window, name)
    place = QRect(found.mapTo(window, QPoint(0, 0)), found.size())
    whole = found.visibleRegion().boundingRect().size() == found.size()
    return found.isVisible() and window.rect().contains(place) and whole


@pytest.fixture
def fake(service: FakeService) -> FakeWelcome:
    """Return a service of a machine with a card, on which nothing was served."""
    return FakeWelcome(service, "wsl2")


def test_one_button_downloads_what_it_names_and_starts(
    qtbot: QtBot, fake: FakeWelcome, service: FakeService, window: MainWindow
) -> None:
    """The size stood on it, so that nobody is asked a second time."""
    service.on_up = service.come_up
    qtbot.waitUntil(lambda: shown(window, "welcome"))
    qtbot.waitUntil(lambda: button(window, "welcome-start").text().startswith("Download 23.86 GiB"))
    assert not shown(window, "chooser")

    click(qtbot, window, "welcome-start")

    qtbot.waitUntil(lambda: shown(window, "weir"))
    request = next(one for route, one in service.asked if route == "/up")
    assert isinstance(request, UpRequest)
    assert (request.preset, request.consent) == (CHAT.id, True)
    assert not shown(window, "welcome")


def test_another_suggestion_is_chosen_by_its_card(
    qtbot: QtBot, fake: FakeWelcome, window: MainWindow
) -> None:
    """And the button names the size of that one."""
    qtbot.waitUntil(lambda: shown(window, f"suggestion-{MTP.id}"))
    click(qtbot, window, f"suggestion-{MTP.id}")

    qtbot.waitUntil(lambda: "22.75 GiB" in button(window, "welcome-start").text())
    assert button(window, f"suggestion-{MTP.id}").isChecked()


def test_it_is_left_for_the_chooser_and_opened_again_from_there(
    qtbot: QtBot, fake: FakeWelcome, window: MainWindow
) -> None:
    """Nobody is held in it."""
    qtbot.waitUntil(lambda: shown(window, "welcome"))
    click(qtbot, window, "welcome-all")
    assert shown(window, "chooser")
    assert not shown(window, "welcome")

    click(qtbot, window, "first-steps")

    assert shown(window, "welcome")


def test_who_has_served_before_gets_the_chooser(
    qtbot: QtBot, fake: FakeWelcome, session: Session, window: MainWindow
) -> None:
    """The service knows it by its boots; the window remembers nothing."""
    qtbot.waitUntil(lambda: shown(window, "welcome"))
    fake.serve_once()
    fake.service.close()
    qtbot.waitUntil(lambda: session.known.link is Link.LOST)
    fake.service.open()

    qtbot.waitUntil(lambda: shown(window, "chooser"))


def test_a_failed_start_is_a_card_above_it(
    qtbot: QtBot, fake: FakeWelcome, service: FakeService, window: MainWindow
) -> None:
    """What to try next stands where it was pressed."""
    service.on_up = lambda _request: service.fail(BOOT_FAILED)
    qtbot.waitUntil(lambda: button(window, "welcome-start").isEnabled())
    click(qtbot, window, "welcome-start")

    qtbot.waitUntil(lambda: shown(window, "problem") and shown(window, "welcome"))


def test_look_again_asks_the_doctor_anew(
    qtbot: QtBot, fake: FakeWelcome, window: MainWindow
) -> None:
    """After a driver was installed, without starting the window again."""
    qtbot.waitUntil(lambda: text(window, "welcome-checks-note").startswith("Everything"))
    qtbot.waitUntil(lambda: button(window, "welcome-look-again").isEnabled())

    click(qtbot, window, "welcome-look-again")

    qtbot.waitUntil(lambda: len(fake.asked) == 2)


def test_without_a_card_only_the_demo_is_suggested(
    qtbot: QtBot, service: FakeService, session: Session, closed_window: MainWindow
) -> None:
    """Widget by widget, as it stands on a machine without a card."""
    FakeWelcome(service, "none")
    session.begin()
    qtbot.waitUntil(lambda: shown(closed_window, f"suggestion-{DEMO.id}"))
    qtbot.waitUntil(lambda: not closed_window.home.first.is_looking)

    tree = tree_text(closed_window.home.view.welcome)

    assert '"Without a card: a way to try it"' in tree
    assert tree.count("Suggestion #") == 1
    assert '"→ If the machine has an NVIDIA card: install its driver, then restart."' in tree


def test_an_engine_that_somebody_else_started_ends_the_first_run(
    qtbot: QtBot, fake: FakeWelcome, service: FakeService, window: MainWindow
) -> None:
    """`weir up` in a terminal is a first run, too."""
    qtbot.waitUntil(lambda: shown(window, "welcome"))

    service.publish(EngineChanged(engine=READY))

    qtbot.waitUntil(lambda: shown(window, "weir"))
    assert not shown(window, "welcome")


@pytest.mark.parametrize("prepare", FIRST_RUNS.values(), ids=FIRST_RUNS.keys())
def test_the_one_button_is_in_view_in_the_smallest_window(
    qtbot: QtBot, language: str, prepare: Callable[[FakeService], None], service: FakeService,
    session: Session, closed_window: MainWindow,
) -> None:  # fmt: skip
    """Nobody scrolls for it: on a machine with a card, without one, and with something to mend."""
    prepare(service)
    closed_window.resize(*SMALLEST)
    session.begin()

    qtbot.waitUntil(lambda: shown(closed_window, "welcome-start"))
    qtbot.waitUntil(lambda: not closed_window.home.first.is_looking)

    qtbot.waitUntil(lambda: in_view(closed_window, "welcome-start"))
    words = "并启动" if language == CHINESE else "and start"
    assert button(closed_window, "welcome-start").text().endswith(words)


def test_it_stays_in_view_below_a_problem_and_a_home_with_a_long_name(
    qtbot: QtBot, service: FakeService, session: Session, closed_window: MainWindow
) -> None:
    """The card of a failed start and a path without a blank push nothing out of the window."""
    first_stopped(service)
    service.home = "/mnt/" + "a_long_name_without_a_blank_" * 12
    service.on_up = lambda _request: service.fail(BOOT_FAILED)
    closed_window.resize(*SMALLEST)
    session.begin()
    qtbot.waitUntil(lambda: shown(closed_window, "welcome-start"))
    qtbot.waitUntil(lambda: button(closed_window, "welcome-start").isEnabled())
    click(qtbot, closed_window, "welcome-start")

    qtbot.waitUntil(lambda: shown(closed_window, "problem"))

    qtbot.waitUntil(lambda: in_view(closed_window, "welcome-start"))
    assert (closed_window.width(), closed_window.height()) == SMALLEST


def test_what_only_a_person_can_do_stands_before_the_button(
    qtbot: QtBot, service: FakeService, session: Session, closed_window: MainWindow
) -> None:
    """A list of any length scrolls; the button does not go with it."""
    first_stopped(service)
    session.begin()

    qtbot.waitUntil(lambda: shown(closed_window, "welcome-steps"))

    assert text(closed_window, "welcome-steps").startswith("1. Put the files of the model into")
