"""Notifications, over a real bus with a stand-in for the desktop's service."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.ui.bridge import Bridge
from studio.ui.notify import Notifier
from studio.ui.theme import Look
from studio.ui.viewmodels.notes import Note
from tests.fakes.desktop import WATCHER, Desktop, desktop
from tests.fakes.logind import private_bus

READY = Note(about="engine", title="Chat, fast is ready", text="Booted in 49.8 s.")
FAILED = Note(about="engine", title="Chat, fast needs a look", text="3 < 4 & more", is_harm=True)
SPILLS = Note(about="spill-swap", title="1.8 GiB in swap", text="Slow.", is_harm=True)


@pytest.fixture
def bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run a bus of one's own for the session."""
    with private_bus(tmp_path, monkeypatch, variable="DBUS_SESSION_BUS_ADDRESS"):
        yield


@pytest.fixture
def notifier(qapp: QApplication, look: Look, bridge: Bridge) -> Notifier:
    """Return a notifier whose bridge runs."""
    assert qapp is not None
    bridge.start()
    return Notifier(bridge, look.icons.application())


def said(qtbot: QtBot, notifier: Notifier, shell: Desktop, *notes: Note) -> list[tuple]:
    """Say `notes`, and return what the desktop was told of them."""
    before = len(shell.said)
    for note in notes:
        notifier.say(note)
    qtbot.waitUntil(lambda: len(shell.said) == before + len(notes))
    return shell.said[before:]


def test_a_newer_word_about_the_same_takes_the_place_of_the_one_before(
    qtbot: QtBot, bus: None, notifier: Notifier
) -> None:
    """A stack that says ready, failed, ready tells nobody what holds now."""
    with desktop() as shell:
        ready, spills, failed = said(qtbot, notifier, shell, READY, SPILLS, FAILED)

    assert [ready[1], spills[1], failed[1]] == [0, 0, 1]
    assert ready[0] == "Weir Studio"
    assert ready[3:5] == (READY.title, READY.text)
    assert ready[5] == ["default", "Open the window"]
    assert failed[4] == "3 &lt; 4 &amp; more"
    assert (ready[7], failed[7]) == (-1, 0)


def test_it_carries_our_own_picture_and_does_not_break_a_wish_for_quiet(
    qtbot: QtBot, bus: None, notifier: Notifier
) -> None:
    """From source no icon of ours lies in the desktop's theme."""
    with desktop() as shell:
        (told,) = said(qtbot, notifier, shell, FAILED)

    hints = told[6]
    assert hints["desktop-entry"] == ("s", "weir-studio")
    assert hints["urgency"] == ("y", 1)
    width, height, stride, has_alpha, bits, channels, pixels = hints["image-data"][1]
    assert (width, height, has_alpha, bits, channels) == (64, 64, True, 8, 4)
    assert len(pixels) == stride * height
    assert len(set(pixels)) > 8


def test_a_press_on_ours_opens_the_window_and_on_others_does_not(
    qtbot: QtBot, bus: None, notifier: Notifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All programs hear of every press."""
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "")
    tokens: list[str] = []
    notifier.pressed.connect(
        lambda: tokens.append(os.environ["XDG_ACTIVATION_TOKEN"]),
        Qt.ConnectionType.DirectConnection,
    )
    with desktop() as shell:
        said(qtbot, notifier, shell, READY, SPILLS, FAILED)  # with the third, two have numbers
        shell.press(77)
        shell.press(2)

        qtbot.waitUntil(lambda: bool(tokens))

    assert tokens == ["token-2"]


def test_nobody_who_shows_notifications_is_told_to_the_tray(
    qtbot: QtBot, bus: None, notifier: Notifier
) -> None:
    """A bus without the service; when it comes, the next word reaches it as it reads words."""
    with desktop(WATCHER), qtbot.waitSignal(notifier.refused) as refused:
        notifier.say(READY)
    assert refused.args == [READY]

    with desktop() as shell:
        (told,) = said(qtbot, notifier, shell, FAILED)
    assert told[4] == "3 &lt; 4 &amp; more"


@pytest.mark.parametrize("address", [None, "", "unix:path=/nowhere/bus", "tcp:host=127.0.0.1"])
def test_a_session_without_a_bus_is_told_to_the_tray(
    qtbot: QtBot, notifier: Notifier, monkeypatch: pytest.MonkeyPatch, address: str | None
) -> None:
    """Windows, bare X11, a bus that is gone, one of a kind that we cannot reach."""
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    if address is not None:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)

    with qtbot.waitSignal(notifier.refused) as refused:
        notifier.say(SPILLS)

    assert refused.args == [SPILLS]


def test_a_bridge_that_does_not_run_refuses_at_once(
    qtbot: QtBot, look: Look, bridge: Bridge
) -> None:
    """Nothing may wait for a thread that is over."""
    notifier = Notifier(bridge, look.icons.application())

    with qtbot.waitSignal(notifier.refused, timeout=0, raising=False) as refused:
        notifier.say(READY)

    assert refused.args == [READY]
