"""The composition root: joins command line, window and service, and starts the one asked for."""

import contextlib
import functools
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from studio.control.client import ControlClient


class LocalConnector:
    """Reaches the service of this machine's home; imports what a command needs, when it does."""

    async def connect(self, *, start: bool, hold: bool) -> "ControlClient":
        """Return a client of the service; see `studio.control.launcher.connect`."""
        from studio.control import launcher
        from studio.host import paths

        return await launcher.connect(paths.from_environment(), start=start, hold=hold)

    def offline(self, host: str | None = None) -> "ControlClient":
        """Return a client that needs no service; `host` (an id or a file) is looked at instead."""
        from studio.app.studio import Studio
        from studio.app.wiring import Parts
        from studio.control import launcher
        from studio.control.router import Router
        from studio.host import hosts, paths

        async def nothing() -> None:
            return

        places = paths.from_environment()
        replayed = hosts.load(host, places) if host is not None else None
        studio = Studio(Parts(places), replayed)
        return launcher.in_process(Router(studio, down=nothing), studio.close)

    def salvage(self) -> "ControlClient":
        """Return a client for logs, reports and diagnoses; works in a broken home."""
        from studio.control import launcher
        from studio.control.salvage import Salvage
        from studio.host import paths

        async def nothing() -> None:
            return

        return launcher.in_process(Salvage(paths.from_environment()), nothing)

    async def edit(self, text: str, name: str) -> "Path":
        """Open the person's editor; see `studio.host.editor.edit`."""
        import os

        from studio.host import editor

        return await editor.edit(text, name, os.environ)

    def service_run(self, *, until_released: bool, autostart: bool) -> int:
        """Be the service until told to end."""
        from studio.control import service
        from studio.host import paths

        return service.run(
            paths.from_environment(), until_released=until_released, autostart=autostart
        )

    def ui(self, argv: Sequence[str]) -> int:
        """Open the window; the service it starts outlives it.

        Raises: HostLacks (`window-missing`), and what the window raises.
        """
        from studio.domain.errors import HostLacks
        from studio.host import paths

        try:
            from studio.ui import main as window
        except ImportError as error:
            raise HostLacks(
                "window-missing",
                f"The window cannot be opened here: {error}.",
                hint="An installation with --headless has none. Else libraries are missing: on "
                "Debian and Ubuntu `sudo apt install libgl1 libegl1 libxcb1 libx11-6 "
                "libxcb-cursor0`. `weir up` and `weir status` do without.",
            ) from error

        return window.run(
            list(argv),
            functools.partial(self.connect, start=True, hold=False),
            join=functools.partial(self.connect, start=False, hold=False),
            home=paths.from_environment().home,
            assets=paths.bundled_root() / "assets",
        )


def main() -> int:
    """Run the `weir` command."""
    from studio.cli import main as command_line
    from studio.host import frozen

    frozen.restore_environment()
    return command_line.run(sys.argv[1:], LocalConnector())


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
