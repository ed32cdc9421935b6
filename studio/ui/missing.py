"""Why there can be no window here, in one sentence; loads nothing of Qt: it may be what lacks."""

import ctypes
import functools
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from studio.domain.errors import HostLacks

LIBRARIES = (
    "sudo apt install libgl1 libegl1 libxkbcommon-x11-0 libfontconfig1 libdbus-1-3 libxcb-cursor0 "
    "libxcb-icccm4 libxcb-keysyms1 libxcb-shape0"
)
"""What Qt's window needs of Debian and Ubuntu; the packages of other systems have similar names."""

_ELSEWHERE = "From a machine with a screen: `weir ui --ssh THIS-MACHINE`."
_WITHOUT = "`weir up` and `weir status` need no window."
_QT = ("PySide6", "shiboken6")
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


def from_import(error: ImportError) -> HostLacks | None:
    """Return what an import that failed means for a person; None: it is a fault of our own."""
    package = (error.name or "").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and package in _QT:
        return HostLacks(
            "window-missing",
            "This installation has no window: it was installed without Qt.",
            hint=f"Install it again without --headless. {_ELSEWHERE} {_WITHOUT}",
        )
    library = _library(error)
    if library is not None:
        return _lacks(library)
    if package not in _QT and not any(name in (error.path or "") for name in _QT):
        return None
    return HostLacks(
        "window-missing",
        "The window cannot be opened here: Qt cannot be loaded.",
        hint=f"Install Weir Studio again. {_ELSEWHERE} {_WITHOUT}",
        evidence=(str(error),),
    )


def require_screen(environ: Mapping[str, str]) -> None:
    """Refuse where Qt would abort the whole process: Linux without a screen.

    Raises: HostLacks (`no-display`).
    """
    if sys.platform != "linux":
        return
    if not any(environ.get(name) for name in _SCREENS):
        raise HostLacks(
            "no-display",
            "The window needs a screen; neither DISPLAY nor WAYLAND_DISPLAY is set here.",
            hint=f"{_ELSEWHERE} Everything works from the command line too: `weir up`, "
            "`weir status`.",
        )


def require_x11(
    environ: Mapping[str, str],
    plugins: Path,
    *,
    load: Callable[[str], ctypes.CDLL] = ctypes.CDLL,
) -> Callable[[], None]:
    """Refuse where Qt would abort for want of what its X11 plugin loads, or of the X server.

    Return what lets go of the server, for when Qt is there: one that nobody else uses, as a screen
    in memory is, starts anew when its last client leaves, and refuses Qt meanwhile.
    Raises: HostLacks (`window-missing`, `no-display`).
    """
    chosen = environ.get("QT_QPA_PLATFORM") or ("" if environ.get("WAYLAND_DISPLAY") else "xcb")
    plugin = plugins / "platforms" / "libqxcb.so"
    if sys.platform != "linux" or chosen.partition(":")[0] != "xcb" or not plugin.exists():
        return _nothing
    try:
        load(str(plugin))  # Qt does the same a moment later: it costs nothing
        xcb = load("libxcb.so.1")
    except OSError as error:
        raise _lacks(str(error).partition(":")[0]) from error
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(None, None)
    if xcb.xcb_connection_has_error(connection):
        xcb.xcb_disconnect(connection)
        raise HostLacks(
            "no-display",
            f"No screen answers at DISPLAY={environ.get('DISPLAY', '')}.",
            hint="Set DISPLAY to a screen that runs and lets you in, or unset it. "
            f"{_ELSEWHERE} {_WITHOUT}",
        )
    return functools.partial(xcb.xcb_disconnect, connection)


def _nothing() -> None:
    """Let go of nothing."""


def _lacks(library: str) -> HostLacks:
    return HostLacks(
        "window-missing",
        f"The window cannot be opened here: the library {library} is missing.",
        hint=f"On Debian and Ubuntu: `{LIBRARIES}`. {_ELSEWHERE} {_WITHOUT}",
        data={"library": library},
    )


def _library(error: ImportError) -> str | None:
    """Return the shared library that a message of the dynamic loader names."""
    first, colon, rest = str(error).partition(": ")
    if colon and ".so" in first and "cannot open shared object file" in rest:
        return first
    return None
