"""While the service is away no page says that anything works, moves or is so now."""

import re

import pytest
from pytestqt.qtbot import QtBot

from studio.ui.session import Session
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow
from tests.ui.fake_service import FakeService
from tests.ui.test_slow import come_back, full, go_away, settle
from tests.ui.tree import tree_text
from tests.ui.visits import PLACES, Place, visit

__all__ = ["full"]

_CLAIMS = re.compile(r"\bnow\b|\"works|\bthe engine answers\b|\bis allowed\b", re.IGNORECASE)
_NO_CLAIMS = re.compile(
    r"not known now|“Look now”|\"(Look|Right)? ?now\"|#\S+|\([^)]*\)", re.IGNORECASE
)
"""That nothing is known, names of buttons, headings; names of widgets, and what is read aloud."""


def claims(text: str) -> list[str]:
    """Return the lines that say how something is now."""
    return [line for line in text.splitlines() if _CLAIMS.search(_NO_CLAIMS.sub("", line))]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: "-".join(filter(None, place)))
def test_no_page_says_how_anything_is_now(
    qtbot: QtBot, full: FakeService, session: Session, window: MainWindow, place: Place
) -> None:
    """What was read may stay; “2 keys work now” would send people to a gateway that is shut."""
    visit(qtbot, window, place)

    go_away(qtbot, full, session)

    assert claims(tree_text(window.controller(place[0]).page)) == []


def test_keys_work_again_when_the_service_is_back(
    qtbot: QtBot, full: FakeService, session: Session, window: MainWindow
) -> None:
    """The words are those of before."""
    visit(qtbot, window, (PageId.KEYS, None))
    page = window.controller(PageId.KEYS).page
    assert "2 keys work now" in tree_text(page)
    go_away(qtbot, full, session)
    assert "2 keys work when the service answers" in tree_text(page)

    come_back(qtbot, session)

    found = settle(qtbot, window, PageId.KEYS)
    assert "2 keys work now" in found
    assert '"works"' in found
