"""What a screen reader is told without being asked. The bus's part: `test_accessible.py`."""

import pytest
from pytestqt.qtbot import QtBot

from studio.domain.events import EngineChanged
from studio.domain.server import EngineSnapshot
from studio.ui.shell import Shell
from studio.ui.viewmodels.notes import Note
from studio.ui.window import MainWindow
from tests.ui.fake_service import READY, FakeService, booting
from tests.ui.test_shell import desktop, settings, shell

__all__ = ["desktop", "settings", "shell"]


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is announced."""
    heard: list[str] = []
    for place in ("window", "shell"):
        monkeypatch.setattr(
            f"studio.ui.{place}.announce",
            lambda _source, words, *, is_urgent=False: heard.append("!" * is_urgent + words),
        )
    return heard


def test_a_change_of_state_is_announced_once_and_a_passing_second_is_not(
    qtbot: QtBot, service: FakeService, window: MainWindow, said: list[str]
) -> None:
    """A boot that counts aloud cannot be listened to."""
    engines = (*(booting(2, elapsed_s=second) for second in (1.0, 2.0)), READY, EngineSnapshot())
    for engine in engines:
        service.publish(EngineChanged(engine=engine))
        qtbot.waitUntil(lambda engine=engine: window._session.known.engine == engine)

    assert [words.partition(",")[0].split(" ")[0] for words in said] == [
        "Reading", "Ready", "Stopped",
    ]  # fmt: skip


def test_a_service_that_goes_away_is_announced(
    qtbot: QtBot, service: FakeService, window: MainWindow, said: list[str]
) -> None:
    """What stands in the line at the top."""
    service.close()

    qtbot.waitUntil(lambda: any(words.startswith("The service") for words in said))


def test_harm_is_read_out_at_once_while_the_window_is_in_front(
    qtbot: QtBot, shell: Shell, said: list[str]
) -> None:
    """Nobody who looks gets a notification; who cannot look has to hear it."""
    shell.window.activateWindow()
    qtbot.waitUntil(shell.window.isActiveWindow)

    shell._say((Note(about="spill", title="1.8 GiB in swap", text="Slow.", is_harm=True),))

    assert said[-1] == "!1.8 GiB in swap. Slow."
