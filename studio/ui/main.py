"""Start the window: options, the application, software rendering, the first picture."""

from __future__ import annotations

import argparse
import functools
import gc
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import psutil
from PySide6.QtCore import QLibraryInfo, QLocale, QStandardPaths, QTimer
from PySide6.QtGui import QFontInfo
from PySide6.QtWidgets import QApplication

from studio.domain.errors import BadInput, HostLacks
from studio.ui import accessible, missing
from studio.ui.bridge import Bridge
from studio.ui.controllers.table import CONTROLLERS
from studio.ui.garbage import Garbage
from studio.ui.language import LANGUAGES, speak, suited
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.shell import Shell
from studio.ui.single import Single
from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.words import PRODUCT

if TYPE_CHECKING:
    from studio.ui.bridge import Connect, Here
    from studio.ui.viewmodels.frame import PageId
    from studio.ui.window import MainWindow

    class Remote(Protocol):
        """Makes another machine's service reachable: its name, and how to connect to it."""

        def __call__(
            self,
            *,
            ssh: str | None,
            address: str | None,
            token_file: Path | None,
            home: str | None,
        ) -> tuple[str, Connect]:
            """Return both."""


_STARTED_S = time.monotonic()

_SOFTWARE = {
    "QT_XCB_GL_INTEGRATION": "none",
    "QT_WAYLAND_DISABLE_HW_INTEGRATION": "1",
}
"""No GL context is ever made: the card's memory belongs to the model."""


def run(
    argv: list[str],
    connect: Connect,
    *,
    join: Connect | None = None,
    home: Path | None = None,
    assets: Path | None = None,
    remote: Remote | None = None,
    here: Here | None = None,
) -> int:
    """Show the window until it is closed; return the exit status.

    `connect` reaches the service and may start it; `join` reaches one that runs and never starts
    one, so that the window comes back after a goodbye. `home` is the Studio's folder; `remote`
    makes another machine's service reachable; `here` answers what this one needs no service for.
    Raises: HostLacks (`no-display`, `window-missing`, `window-does-not-answer`), BadInput
    (`window-options`, and what `remote` raises).
    """
    options = _options(argv)
    place: str | None = None
    if options.ssh or options.address:
        place, connect = _far(options, remote)
        join, here = connect, None
    if options.pictures is not None:
        _make(options.pictures)
    missing.require_screen(os.environ)
    plugins = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath))
    let_go = missing.require_x11(os.environ, plugins)
    for name, value in _SOFTWARE.items():
        os.environ.setdefault(name, value)
    gc.disable()  # until `_settle` nothing becomes garbage, and then `Garbage` collects it
    application = QApplication([PRODUCT])
    let_go()
    application.setApplicationName("weir-studio")
    application.setApplicationDisplayName(PRODUCT)
    application.setDesktopFileName("weir-studio")
    accessible.install()
    folder = home or _home()
    single = Single(folder)
    if not options.smoke and place is None and not single.take():
        return _call(single)
    settings = WindowSettings(folder)
    choice = ThemeChoice(options.theme) if options.theme else settings.theme
    places = assets or _assets()
    speak(options.language or settings.language or suited(QLocale.system().uiLanguages()), places)
    look = Look(application, places, choice)
    application.setWindowIcon(look.icons.application())
    bridge = Bridge(connect, join, here)
    session = Session(bridge, place)
    shell = Shell(application, look, session, bridge, settings, places)
    single.called.connect(shell.come_to_front)
    shell.window.painted.connect(_settle)
    if options.smoke:
        shell.window.painted.connect(
            functools.partial(_smoke, application, shell, options.pictures)
        )
    else:
        shell.window.painted.connect(session.begin)
    shell.show()
    status = application.exec()
    session.end()
    single.release()
    look.end()
    return status


def _make(folder: Path) -> None:
    """Make the folder of the pictures. Raises: BadInput (`window-options`)."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            "window-options",
            f"The folder of the pictures cannot be made: {folder}: {error.strerror}.",
            hint="Name one that you may write into.",
        ) from error


def _far(options: argparse.Namespace, remote: Remote | None) -> tuple[str, Connect]:
    """Return the name of the other machine and how its service is reached.

    Raises: BadInput (`window-options`), and what `remote` raises.
    """
    if remote is None or (options.ssh and options.address):
        raise BadInput(
            "window-options",
            "The window shows one machine: name it with `--ssh` or with `--address`.",
            hint="`weir ui --ssh HOST`, or `weir ui --address 127.0.0.1:PORT --token-file FILE`.",
        )
    return remote(
        ssh=options.ssh,
        address=options.address,
        token_file=options.token_file,
        home=options.remote_home,
    )


def _call(single: Single) -> int:
    """Bring the window that is open to the front, and be done.

    Raises: HostLacks (`window-does-not-answer`).
    """
    if single.call():
        return 0
    raise HostLacks(
        "window-does-not-answer",
        "A window of this folder is open, and it does not answer.",
        hint="Close it, or end its process; then run `weir ui` again.",
    )


def since_start_s() -> float:
    """Return the seconds since this process was started, or since this module was loaded."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)  # the clock that /proc counts in
    if clock is not None:
        fields = Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        started_s = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        return time.clock_gettime(clock) - started_s
    if sys.platform == "win32":
        return time.time() - psutil.Process().create_time()
    return time.monotonic() - _STARTED_S


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="weir ui", description="Open the window.")
    parser.add_argument("--theme", choices=[choice.value for choice in ThemeChoice])
    parser.add_argument(
        "--language", choices=LANGUAGES, help="instead of the system's language, this once"
    )
    far = parser.add_argument_group("another machine")
    far.add_argument(
        "--ssh", metavar="HOST", help="show the Studio of HOST, through a tunnel of ssh's"
    )
    far.add_argument(
        "--remote-home", metavar="FOLDER", help="where the Studio's folder lies on HOST"
    )
    far.add_argument(
        "--address", metavar="HOST:PORT", help="a control port that a tunnel of yours leads to"
    )
    far.add_argument(
        "--token-file", metavar="FILE", type=Path, help="the token of that service, in a file"
    )
    parser.add_argument(
        "--smoke", action="store_true", help="paint every page, print one line of JSON and end"
    )
    parser.add_argument(
        "--pictures", metavar="FOLDER", type=Path, help="with --smoke: a PNG of every page"
    )
    return parser.parse_args(argv)


def _settle() -> None:
    """Let what was loaded so far stay, and look for garbage among the rest only.

    To look through all of it now and then would stop the window for 25 ms each time.
    """
    gc.freeze()
    Garbage(QApplication.instance())


def _smoke(application: QApplication, shell: Shell, pictures: Path | None) -> None:
    first_paint_s, first_paint_cpu_s = since_start_s(), time.process_time()
    window = shell.window
    made_ms = {page.value: _shown_ms(window, page) for page in CONTROLLERS}
    switch_ms = {page.value: _shown_ms(window, page, pictures) for page in CONTROLLERS}
    line = json.dumps(
        {
            "first_paint_s": round(first_paint_s, 3),
            "first_paint_cpu_s": round(first_paint_cpu_s, 3),
            "font": QFontInfo(application.font()).family(),
            "pages": list(made_ms),
            "made_ms": made_ms,
            "switch_ms": switch_ms,
        }
    )
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
    QTimer.singleShot(0, application.quit)


def _shown_ms(window: MainWindow, page: PageId, pictures: Path | None = None) -> float:
    """Return how long a page takes from the wish to its picture, which is kept where wanted."""
    began_s = time.perf_counter()
    window.show_page(page)
    picture = window.grab()
    took_ms = round(1_000 * (time.perf_counter() - began_s), 1)
    if pictures is not None:
        picture.save(str(pictures / f"{page.value}.png"))
    return took_ms


def _assets() -> Path:
    return Path(__file__).resolve().parents[2] / "assets"


def _home() -> Path:
    chosen = os.environ.get("WEIR_HOME")
    if chosen:
        return Path(chosen).expanduser().absolute()
    location = QStandardPaths.StandardLocation.GenericDataLocation
    return Path(QStandardPaths.writableLocation(location)) / "weir-studio"
