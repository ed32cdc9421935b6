"""The library's table and its cards."""

from pytestqt.qtbot import QtBot

from studio.domain.library import Library
from studio.ui.pages.model_library import LibraryPart
from studio.ui.theme import Look
from studio.ui.viewmodels.models import model_rows
from tests.ui.fake_models import GGUF, MODELS, PARTLY


def test_a_refresh_keeps_the_mark_and_tells_nobody(qtbot: QtBot, look: Look) -> None:
    """A model that came meanwhile must not throw a person to another one."""
    part = LibraryPart(look)
    qtbot.addWidget(part)
    part.show_rows(model_rows(Library(models=MODELS)), GGUF.path, "")
    assert part.table.chosen == GGUF.path
    heard: list[str] = []
    part.marked.connect(heard.append)

    part.show_rows(model_rows(Library(models=MODELS[1:])), GGUF.path, "")

    assert part.table.chosen == GGUF.path
    part.table.mark(PARTLY.path)
    assert heard[-1] == PARTLY.path


def test_few_models_leave_their_room_to_the_one_in_front(qtbot: QtBot, look: Look) -> None:
    """One row held half of the page, and its files lay below the edge."""
    part = LibraryPart(look)
    qtbot.addWidget(part)
    part.resize(960, 560)
    with qtbot.waitExposed(part):
        part.show()
    part.show_rows(model_rows(Library(models=MODELS[:1])), MODELS[0].path, "")

    qtbot.waitUntil(lambda: 80 < part.table.height() < 560 // 3)
    part.show_rows(model_rows(Library(models=MODELS)), MODELS[0].path, "")
    qtbot.waitUntil(lambda: part.table.height() == part.table.height_of(0))
    assert part.table.height() <= 560 * 3 // 7
    assert part.table.verticalScrollBar().maximum() == 0  # nothing is left to scroll to
