"""The service process: one a home, found through the files in `service/`.

It ends by signal, by `weir down`, or when the terminal that it was started for is gone.
"""

import asyncio
import contextlib
import gc
import logging
import os
import secrets
import signal
import sys
import time
from pathlib import Path

from studio import __version__
from studio.app import unit_start
from studio.app.studio import Studio
from studio.app.update_trial import Trials
from studio.app.wiring import Parts
from studio.control import trial
from studio.control.address import Address, address_file, lock_file, require_writable, token_file
from studio.control.server import ControlServer
from studio.control.service_log import log_to
from studio.host import files, frozen, limits, plain_home
from studio.host.documents import write_json
from studio.host.paths import Paths
from studio.host.systemd import Notifier, journal_handlers

logger = logging.getLogger(__name__)

RELEASE_S = 2.0
"""How long the service outlives its last holder, so that one may come back."""
FIRST_HOLD_S = 30.0
"""How long a service started for a terminal waits for that terminal."""


def run(paths: Paths, *, until_released: bool, autostart: bool = False) -> int:
    """Be the service of this home until told to end; 0 also when one runs already.

    With `autostart`, what was chosen for it is served.

    Raises: HostLacks when the home cannot be written.
    """
    require_writable(paths)
    files.make_private(paths.sockets, must_be_own=paths.sockets != paths.service)
    trials = Trials(paths)
    trials.end_hung()
    with trial.locked(lock_file(paths), trials) as is_ours:
        if not is_ours:
            sys.stdout.write("The service of this folder runs already.\n")
            return 0
        log_to(paths, journal_handlers())
        trial.take_turn(trials, until_released=until_released, autostart=autostart)
        frozen.load_all("studio", but=("studio.cli", "studio.ui", "studio.host.guard"))
        limits.raise_open_files()  # before the loop, so that all that follows has it
        with _fast_loop() as runner:
            made = _Service(paths, trials, until_released=until_released, autostart=autostart)
            runner.run(made.main())
        trials.ended()
    return made.exit_status


def _fast_loop() -> asyncio.Runner:
    """Return a runner on uvloop, which halves what a streamed token costs (not on Windows)."""
    if sys.platform == "win32":
        return asyncio.Runner()
    import uvloop

    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


class _Service:
    def __init__(
        self, paths: Paths, trials: Trials, *, until_released: bool, autostart: bool
    ) -> None:
        self._paths = paths
        self._trials = trials
        self.exit_status = 0
        self._autostart = autostart
        self._manager = Notifier()
        self._is_bound_to_holders = until_released
        self._holders = 0
        self._last_change_s = time.monotonic()
        self._has_been_held = False
        self._end = asyncio.Event()
        self._reason = "asked to end"

    async def main(self) -> None:
        """Run everything; returns when all of it has ended."""
        token = secrets.token_urlsafe(32)
        studio = Studio(Parts(self._paths))
        server = ControlServer(
            studio, token, down=self._down, on_holders=self._on_holders, on_keep=self._on_keep
        )
        self._studio = studio
        self._down_done = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._ask_to_end, f"signal {number.name}")
        await studio.open()
        await server.open()
        try:
            # Before the group, which would hide an error of ours in one of its own. Nobody is
            # served before the next wait.
            self._announce(server.port, token)
            # What was loaded so far stays. To look through its 70,000 objects for garbage again
            # and again would stop every stream for 50 ms.
            gc.freeze()
            self._manager.say("READY=1", f"STATUS=Control port {server.port}")
            async with asyncio.TaskGroup() as tasks:
                is_free = not unit_start.was_asked_for(self._paths)
                autostart = self._autostart and is_free
                running = tasks.create_task(studio.run(autostart=autostart))
                watching = tasks.create_task(self._watch_holders(server))
                proving = tasks.create_task(self._prove(server.port, token))
                await self._end.wait()
                logger.info("ending: %s", self._reason)
                self._manager.say("STOPPING=1", f"STATUS=Ending: {self._reason}")
                await studio.end(self._reason)
                watching.cancel()
                proving.cancel()
                self._down_done.set()
                await server.close()
                running.cancel()
        finally:
            for path in (address_file(self._paths), token_file(self._paths)):
                path.unlink(missing_ok=True)
            plain_home.forget(self._paths)
            if self._paths.sockets != self._paths.service:
                _clear(self._paths.sockets)

    def _announce(self, port: int, token: str) -> None:
        files.write_atomic(token_file(self._paths), token.encode(), mode=0o600)
        write_json(
            address_file(self._paths),
            Address(port=port, pid=os.getpid(), version=__version__, started_at=time.time()),
            mode=0o600,
        )
        logger.info("service %s, process %d, control port %d", __version__, os.getpid(), port)

    async def _prove(self, port: int, token: str) -> None:
        """Let this version be the one in use, or end when it was on trial and does not answer."""
        if not await trial.proven(self._trials, port, token):
            self.exit_status = trial.NOT_PROVEN
            self._ask_to_end("this version did not prove itself")
            return
        await trial.steady(self._trials)

    def _ask_to_end(self, reason: str) -> None:
        self._reason = reason
        self._end.set()

    async def _down(self) -> None:
        self._ask_to_end("weir down")
        await self._down_done.wait()

    def _on_holders(self, holders: int) -> None:
        self._holders = holders
        self._has_been_held = self._has_been_held or holders > 0
        self._last_change_s = time.monotonic()

    def _on_keep(self) -> None:
        self._is_bound_to_holders = False

    async def _watch_holders(self, server: ControlServer) -> None:
        while self._is_bound_to_holders:
            await asyncio.sleep(0.5)
            if server.has_callers:  # another command found this service, and waits for it
                self._last_change_s = time.monotonic()
            patience_s = RELEASE_S if self._has_been_held else FIRST_HOLD_S
            is_late = time.monotonic() - self._last_change_s > patience_s
            if self._holders == 0 and is_late:
                self._ask_to_end("the terminal that started it is gone")
                return


def _clear(sockets: Path) -> None:
    """Remove the folder of sockets outside the home, with what engines left in it."""
    with contextlib.suppress(OSError):
        for left in sockets.iterdir():
            if left.is_socket():
                left.unlink()
        sockets.rmdir()
