"""Goes on with the setup by itself after Windows was started anew.

Windows runs what stands in `RunOnce` when the person logs on, and takes it out before (Microsoft,
"Run and RunOnce registry keys"); a command there has 260 characters at most.
"""

import contextlib
import sys
from pathlib import PureWindowsPath

from studio.host import frozen
from studio.host.registry import Registry

KEY = r"Software\Microsoft\Windows\CurrentVersion\RunOnce"
NAME = "WeirStudio"
MOST_CHARACTERS = 260


class Resume:
    """What runs once at the next log-on."""

    def __init__(self, registry: Registry, program: str | None = None) -> None:
        """`program`: one of the Studio's; None: this one, where it is a package's."""
        self._registry = registry
        self._program = program or (sys.executable if frozen.is_frozen() else None)

    def remember(self) -> bool:
        """Ask Windows to go on; False where it cannot be asked."""
        if self._program is None:
            return False
        with contextlib.suppress(OSError):
            self._registry.write(KEY, NAME, command(PureWindowsPath(self._program).parent))
            return True
        return False

    def forget(self) -> None:
        """Ask for nothing any more."""
        with contextlib.suppress(OSError):
            self._registry.delete(KEY, NAME)


def command(folder: PureWindowsPath) -> str:
    """Return what is to run: the setup, in a terminal that shows it, and then the window."""
    setup = f'"{folder / "weir.exe"}" wsl setup --yes'
    both = f'cmd.exe /d /c "{setup} & start "" "{folder / "weir-studio.exe"}""'
    return both if len(both) <= MOST_CHARACTERS else setup
