"""The composition root: joins command line, window and service, and starts the one asked for."""

import contextlib
import functools
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from studio.control.client import ControlClient


class LocalConnector:
    """Reaches the service of this machine's home; imports what a command needs, when it does."""

    async def connect(self, *, start: bool, hold: bool) -> "ControlClient":
        """Return a client of the service; see `studio.control.launcher.connect`."""
        from studio.control import launcher
        from studio.host import paths

        if sys.platform == "win32":  # the service lives in the Studio's Linux
            from studio.app.wsl import WslSetup
            from studio.control import wsl_launcher

            places = paths.from_environment()
            return await wsl_launcher.connect(places, WslSetup(places), start=start)
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
        import io

        from studio.domain.errors import HostLacks
        from studio.host import own_program, paths
        from studio.ui import missing

        if not own_program.installed().has_window:  # Qt's own words would be longer than ours
            raise HostLacks(
                "window-missing",
                "This installation has no window: it was made without one.",
                hint="`weir up` and `weir status` do without. On Windows the window is in the "
                "Start menu; elsewhere install the Studio again, without --headless.",
            )
        try:
            with contextlib.redirect_stderr(io.StringIO()):  # PySide6 prints before it raises
                from studio.ui import main as window
        except ImportError as error:
            refused = missing.from_import(error)
            if refused is None:
                raise
            raise refused from error

        return window.run(
            list(argv),
            functools.partial(self.connect, start=True, hold=False),
            join=functools.partial(self.connect, start=False, hold=False),
            home=paths.from_environment().home,
            assets=paths.bundled_root() / "assets",
            remote=_far,
            here=self.salvage if sys.platform == "win32" else None,
        )


def _far(
    *, ssh: str | None, address: str | None, token_file: "Path | None", home: str | None
) -> "tuple[str, Callable[[], Awaitable[ControlClient]]]":
    """Make another machine's service reachable; see `studio.control.remote.reach`."""
    from studio.control import remote

    return remote.reach(ssh=ssh, address=address, token_file=token_file, home=home)


def _spare_the_command_line_of_httpx() -> None:
    """Keep `import httpx` from loading its own command line, and with it rich and click.

    WORKAROUND(httpx<=0.28: `httpx/__init__.py` imports `_main` wherever click and rich are
    installed, 40 ms at each start; without it `httpx.main` says that it is not there, and nothing
    else is missing; remove when httpx imports it only when it is called.)
    """
    sys.modules.setdefault("httpx._main", cast("ModuleType", None))


def main() -> int:
    """Run the `weir` command."""
    from studio.cli import main as command_line
    from studio.host import frozen

    _spare_the_command_line_of_httpx()
    frozen.restore_environment()
    return command_line.run(sys.argv[1:], LocalConnector())


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
