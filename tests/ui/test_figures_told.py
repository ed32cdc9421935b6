"""No page shows a figure that the control API did not send.

What the window's own texts say is crossed out (`pseudo.py`), so what is left are values. Each has
to be a number of an answer or an event, written as the window writes bytes, tokens, times or
shares; or to stand in a short list with its reason.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from studio.domain import units
from studio.domain.events import Event
from studio.ui.controllers.table import CONTROLLERS
from studio.ui.viewmodels import dates, moments
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow
from tests.ui import pseudo
from tests.ui.fake_service import KEY, FakeService
from tests.ui.screenshots import ready
from tests.ui.seen import seen
from tests.ui.visits import places, visit

_FIGURE = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)*")
_LATEST = 4e9
"""Seconds since the epoch beyond which a number is no time."""


class Heard:
    """Everything that the service said, as the figures that it may become on a page."""

    def __init__(self) -> None:
        self._numbers: set[float] = set()
        self._texts: set[str] = set()

    def take(self, record: object) -> None:
        """Keep the numbers of an answer or event, also those inside its texts."""
        self._keep(msgspec.to_builtins(record))

    def _keep(self, value: object) -> None:
        match value:
            case bool() | None:
                return
            case int() | float():
                self._numbers.add(float(value))
            case str():
                self._texts.add(value)
            case Mapping():
                self._texts.update(str(key) for key in value)
                for one in value.values():
                    self._keep(one)
            case list() | tuple():
                self._numbers.add(float(len(value)))
                for one in value:
                    self._keep(one)

    def figures(self) -> set[str]:
        """Return every figure that a page may show."""
        found: set[str] = set()
        for text in self._texts:
            found.update(_FIGURE.findall(text))
            found.update(_FIGURE.findall(dates.instant_text(text)))
        for number in self._numbers:
            for words in _written(number):
                found.update(_FIGURE.findall(words))
        return found


def _written(number: float) -> Iterator[str]:
    """Yield the ways in which the window writes a number."""
    yield from (f"{number:,.0f}", f"{number:.0f}", f"{number:g}", f"{number:,.1f}")
    yield from (f"{number:.2f}", f"{number * 1_000:,.0f}", f"{number / (1 << 20):,.0f}")
    yield from (units.bytes_text(number), units.tokens_text(number), units.rate_text(number))
    yield from (units.latency_text(number), units.duration_text(number))
    if 0 <= number <= 1:
        yield units.percent_text(number)
    if 0 < number < _LATEST:
        with contextlib.suppress(OverflowError, OSError, ValueError):
            yield from (dates.epoch_text(number), moments.second_words(number))


OWN: Mapping[str, str] = {
    "rail-": "the keys that bring a page to the front",
    "Spark": "requests and tokens of a key's days, added up",
    "usage-days": "the same of all keys",
    "usage-said": "the same of all keys",
    "value-folders.runtimes": "two folders that were sent, added up",
    "value-folders.total": "all folders that were sent, added up",
}
"""Figures that are the window's own, by the beginning of the widget's name, with the reason."""
SUMS = (KEY.prompt_tokens + KEY.generated_tokens,)
"""What the row of a key adds up: the tokens that went in and came out."""


@pytest.fixture
def heard(service: FakeService, monkeypatch: pytest.MonkeyPatch) -> Heard:
    """Return what hears all that the service answers and tells."""
    made = Heard()
    made.take(SUMS)
    answer, subscribe = service.answer, service.subscribe

    def answered(method: str, path: str, body: bytes) -> object:
        record = answer(method, path, body)
        made.take(record)
        return record

    def subscribed() -> Iterator[Event]:
        for event in subscribe():
            made.take(event)
            yield event

    monkeypatch.setattr(service, "answer", answered)
    monkeypatch.setattr(service, "subscribe", subscribed)
    pseudo.speak(monkeypatch)
    return made


@pytest.fixture
def full(heard: Heard, service: FakeService, window: MainWindow) -> MainWindow:
    """Return a window with everything that there is to show."""
    assert heard is not None
    ready(service)
    return window


def unsaid(window: MainWindow, heard: Heard) -> list[tuple[str, str, str]]:
    """Return the figures on the page that nobody sent: widget, figure, text."""
    known = heard.figures()
    return [
        (name, figure, text)
        for name, text in seen(window)
        if not name.startswith(tuple(OWN))
        for figure in _FIGURE.findall(text)
        if figure not in known
    ]


@pytest.mark.parametrize("page", list(CONTROLLERS))
def test_no_page_shows_a_figure_that_was_not_sent(
    qtbot: QtBot, full: MainWindow, heard: Heard, page: PageId
) -> None:
    """A figure of the window's own would be a guess that looks like a measurement."""
    found: list[tuple[str, str, str]] = []
    for place in places(page):
        visit(qtbot, full, place)
        found += unsaid(full, heard)

    assert found == []


def test_a_figure_that_nobody_sent_is_noticed(full: MainWindow, heard: Heard) -> None:
    """The test of the test."""
    full.setAccessibleName("98,765 tokens")

    assert ("window", "98,765", "98,765 tokens") in unsaid(full, heard)
