"""What screen readers meet: every page walked inside, and the window read over AT-SPI."""

import gc
import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAbstractButton, QTableView
from pytestqt.qtbot import QtBot

from studio.domain.events import EngineChanged
from studio.ui import accessible
from studio.ui.controllers.table import CONTROLLERS
from studio.ui.theme import Look
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.keyboard import key_groups
from studio.ui.widgets.chart import Chart
from studio.ui.widgets.help_sheet import HelpSheet
from studio.ui.window import MainWindow
from tests.fakes.screen import screen
from tests.ui.fake_http import TOKEN
from tests.ui.fake_service import FakeService, booting
from tests.ui.screenshots import ready
from tests.ui.visits import places, visit

ROOT = Path(__file__).resolve().parents[2]
NO_ROLE = (QAccessible.Role.NoRole, QAccessible.Role.Client)


@pytest.fixture(autouse=True, scope="module")
def roles() -> None:
    """Tell Qt of our own roles, as the window does when it starts."""
    accessible.install()


def interfaces(root: QAccessibleInterface) -> Iterator[QAccessibleInterface]:
    """Yield what can be seen below `root`, and itself."""
    state = root.state()
    if not state.invisible:
        yield root
    for place in range(root.childCount()):
        child = root.child(place)
        if child is not None:
            yield from interfaces(child)


def mute(root: QAccessibleInterface) -> list[str]:
    """Return what can be used by keyboard, and says nothing or not what it is."""
    found = []
    for one in interfaces(root):
        state = one.state()
        is_used = state.focusable or state.checkable or state.editable
        name = one.text(QAccessible.Text.Name)
        if is_used and (not name or one.role() in NO_ROLE):
            found.append(f"{one.role()} {name!r} {one.object()}")
    return found


@pytest.fixture
def served(service: FakeService, window: MainWindow) -> MainWindow:
    """Return a window with everything that there is to show."""
    ready(service)
    return window


def twins(window: MainWindow) -> dict[tuple[str, str], list[str]]:
    """Return what sounds the same on the page in front, by name and description."""
    heard: dict[tuple[str, str], list[str]] = {}
    for one in window.findChildren(QAbstractButton):
        face = QAccessible.queryAccessibleInterface(one)
        if one.isVisible() and face is not None:
            words = face.text(QAccessible.Text.Name), face.text(QAccessible.Text.Description)
            heard.setdefault(words, []).append(one.objectName())
    return {words: names for words, names in heard.items() if len(names) > 1}


def headless(window: MainWindow) -> list[str]:
    """Return the tables in front without a name or with a column that says nothing."""
    found = []
    for table in window.findChildren(QTableView):
        model = table.model()
        heads = [
            model.headerData(column, Qt.Orientation.Horizontal)
            for column in range(model.columnCount())
            if not table.isColumnHidden(column)
        ]
        if table.isVisible() and not (table.accessibleName() and all(heads)):
            found.append(f"{table.objectName()} {heads}")
    return found


@pytest.mark.parametrize("page", list(CONTROLLERS))
def test_whatever_takes_the_keyboard_has_a_name_of_its_own_and_a_role(
    qtbot: QtBot, served: MainWindow, page: PageId
) -> None:
    """A button without words is a dead end, and of two that sound the same one is the wrong one."""
    for place in places(page):
        visit(qtbot, served, place)
        root = QAccessible.queryAccessibleInterface(served)
        assert root is not None

        assert len(list(interfaces(root))) > 20
        assert mute(root) == []
        assert twins(served) == {}
        assert headless(served) == []


def test_the_help_sheet_does(qtbot: QtBot, look: Look) -> None:
    """It is where a keyboard user begins."""
    sheet = HelpSheet(look, key_groups(tuple(PageId)))
    qtbot.addWidget(sheet)
    sheet.show()
    root = QAccessible.queryAccessibleInterface(sheet)
    assert root is not None

    assert mute(root) == []


def test_painted_widgets_come_and_go_with_their_roles(qtbot: QtBot, look: Look) -> None:
    """An interface that outlives its widget would take the window down."""
    for _ in range(4):
        chart = Chart(look, "chart")
        chart.setAccessibleName("Pool in use")
        heard = QAccessible.queryAccessibleInterface(chart)
        assert heard is not None
        gc.collect()
        assert heard.role() is QAccessible.Role.Chart
        assert heard.text(QAccessible.Text.Name) == "Pool in use"
        with qtbot.waitSignal(chart.destroyed):
            chart.deleteLater()
        gc.collect()


READER = """
    import json, sys, time
    import gi
    gi.require_version("Atspi", "2.0")
    from gi.repository import Atspi, GLib

    def walk(node, out):
        states = node.get_state_set()
        usable = states.contains(Atspi.StateType.FOCUSABLE)
        shown = states.contains(Atspi.StateType.SHOWING)
        out.append([node.get_role_name(), node.get_name(), usable and shown])
        for place in range(node.get_child_count()):
            child = node.get_child_at_index(place)
            if child is not None:
                walk(child, out)

    def hear(event):
        print("heard:" + json.dumps(event.any_data), flush=True)
        if event.any_data.startswith("Reading"):
            loop.quit()

    Atspi.init()
    loop = GLib.MainLoop()
    GLib.timeout_add_seconds(30, loop.quit)
    listener = Atspi.EventListener.new(hear)
    listener.register("object:announcement")
    end = time.monotonic() + 30
    found = []
    while time.monotonic() < end:
        desk = Atspi.get_desktop(0)
        found = []
        for place in range(desk.get_child_count()):
            app = desk.get_child_at_index(place)
            if app is not None:
                walk(app, found)
        if any(name == "State: Stopped" for _role, name, _usable in found):
            break
        time.sleep(0.1)
    print("read:" + json.dumps(found), flush=True)
    loop.run()
"""
WINDOW = """
    import sys
    from studio.ui.main import run

    async def connect():
        from studio.control.client import ControlClient
        return ControlClient(sys.argv[1], sys.argv[2])

    sys.exit(run([], connect))
"""
SESSION = """
    "$1" -c "$2" "$4" "$5" &
    window=$!
    /usr/bin/python3 -c "$3"
    kill $window
    wait $window 2>/dev/null
    true
"""


def can_read() -> bool:
    """Tell whether this machine has a bus, a screen and a reader."""
    programs = ("dbus-run-session", "/usr/bin/python3")
    if not all(shutil.which(one) for one in programs):
        return False
    probe = "import gi; gi.require_version('Atspi', '2.0'); from gi.repository import Atspi"
    done = subprocess.run(["/usr/bin/python3", "-c", probe], capture_output=True, check=False)
    return done.returncode == 0


def said(lines: Iterable[str], kind: str, begins: str = "") -> list[Any]:
    """Return what the reader said of a kind, up to one that begins so; others say things, too."""
    found: list[Any] = []
    for line in lines:
        if line.startswith(kind):
            found.append(json.loads(line.removeprefix(kind)))
            if not begins or str(found[-1]).startswith(begins):
                return found
    raise AssertionError(f"the reader fell silent after {found}")


def test_a_screen_reader_reads_the_window_over_the_accessibility_bus(
    service: FakeService, tmp_path: Path
) -> None:
    """The whole way: Qt, the bus, the registry, libatspi as Orca uses it."""
    if not can_read():
        pytest.skip("at-spi2-core, gir1.2-atspi-2.0 and python3-gi are not all here")
    service.open()
    words = [textwrap.dedent(one) for one in (SESSION, WINDOW, READER)]
    with screen() as display:
        environment = {
            **os.environ,
            "WEIR_HOME": str(tmp_path),
            "QT_QPA_PLATFORM": "xcb",
            "DISPLAY": display,
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "PYTHONPATH": str(ROOT),
        }
        command = [
            "dbus-run-session", "--", "bash", "-c", words[0], "read",
            sys.executable, words[1], words[2], service.address, TOKEN,
        ]  # fmt: skip
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            read = said(process.stdout, "read:")[-1]
            service.publish(EngineChanged(engine=booting(2, elapsed_s=10.0)))
            announced = said(process.stdout, "heard:", "Reading")
            _rest, errors = process.communicate(timeout=30)

    names = {name for _role, name, _usable in read}
    assert {"Weir Studio", "State: Stopped", "Serve", "Settings"} <= names, errors
    assert [one for one in read if one[2] and not one[1]] == []
    assert announced[-1].startswith("Reading the configuration"), announced
