"""Start the window: options, the application, software rendering, the first picture."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QStandardPaths, QTimer
from PySide6.QtWidgets import QApplication

from studio.domain.errors import HostLacks
from studio.ui.bridge import Bridge
from studio.ui.controllers.table import CONTROLLERS
from studio.ui.language import LANGUAGES, speak, suited
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.single import Single
from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.words import PRODUCT
from studio.ui.window import MainWindow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from studio.ui.bridge import Connect

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
) -> int:
    """Show the window until it is closed; return the exit status.

    `connect` reaches the service and may start it; `join` reaches one that runs and never starts
    one, so that the window comes back after a goodbye. `home` is the Studio's folder.
    Raises: HostLacks (`no-display`).
    """
    options = _options(argv)
    _require_screen(os.environ)
    for name, value in _SOFTWARE.items():
        os.environ.setdefault(name, value)
    application = QApplication([PRODUCT])
    application.setApplicationName("weir-studio")
    application.setApplicationDisplayName(PRODUCT)
    application.setDesktopFileName("weir-studio")
    folder = home or _home()
    single = Single(folder)
    if not options.smoke and not single.take():
        return _call(single)
    settings = WindowSettings(folder)
    choice = ThemeChoice(options.theme) if options.theme else settings.theme
    places = assets or _assets()
    speak(options.language or settings.language or suited(QLocale.system().uiLanguages()), places)
    look = Look(application, places, choice)
    application.setWindowIcon(look.icons.application())
    bridge = Bridge(connect, join)
    session = Session(bridge)
    window = MainWindow(look, session, bridge, settings)
    single.called.connect(window.come_to_front)
    if options.smoke:
        window.painted.connect(lambda: _smoke(application, window))
    else:
        window.painted.connect(session.begin)
    window.show()
    status = application.exec()
    session.end()
    single.release()
    return status


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


def _require_screen(environ: Mapping[str, str]) -> None:
    """Refuse where Qt would abort the whole process: Linux without a screen."""
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    if sys.platform == "linux" and not any(environ.get(name) for name in screens):
        raise HostLacks(
            "no-display",
            "The window needs a screen; neither DISPLAY nor WAYLAND_DISPLAY is set here.",
            hint="Everything works from the command line too: `weir up`, `weir status`.",
        )


def since_start_s() -> float:
    """Return the seconds since this process was started, or since this module was loaded."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)  # the clock that /proc counts in
    if clock is not None:
        fields = Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        started_s = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        return time.clock_gettime(clock) - started_s
    return time.monotonic() - _STARTED_S


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="weir ui", description="Open the window.")
    parser.add_argument("--theme", choices=[choice.value for choice in ThemeChoice])
    parser.add_argument(
        "--language", choices=LANGUAGES, help="instead of the system's language, this once"
    )
    parser.add_argument(
        "--smoke", action="store_true", help="paint every page, print one line of JSON and end"
    )
    return parser.parse_args(argv)


def _smoke(application: QApplication, window: MainWindow) -> None:
    first_paint_s = since_start_s()
    for page in CONTROLLERS:
        window.show_page(page)
        window.grab()
    pages = [page.value for page in CONTROLLERS]
    line = json.dumps({"first_paint_s": round(first_paint_s, 3), "pages": pages})
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
    QTimer.singleShot(0, application.quit)


def _assets() -> Path:
    return Path(__file__).resolve().parents[2] / "assets"


def _home() -> Path:
    chosen = os.environ.get("WEIR_HOME")
    if chosen:
        return Path(chosen).expanduser().absolute()
    location = QStandardPaths.StandardLocation.GenericDataLocation
    return Path(QStandardPaths.writableLocation(location)) / "weir-studio"
