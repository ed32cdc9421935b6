"""A service that takes over from another version, or is taken over: see `app/update_trial.py`.

What is here needs the process: becoming another program. The health check is `proof.py`.
"""

import asyncio
import contextlib
import logging
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from studio import __version__
from studio.app import window_proof
from studio.app.update_trial import TRIAL_S, Trials
from studio.app.update_watch import STEADY_S
from studio.control import proof
from studio.control.client import ControlClient
from studio.domain.errors import StudioError
from studio.host import files, own_program

logger = logging.getLogger(__name__)

NOT_PROVEN = 70
"""Exit status of a service that was on trial and did not prove itself (sysexits' EX_SOFTWARE)."""
BETWEEN_S = 1.0
"""How far apart the answers are that a version on trial has to give."""
_HANDED_OVER_S = 5.0
_LOOK_S = 0.05


@contextlib.contextmanager
def locked(path: Path, trials: Trials) -> Iterator[bool]:
    """Hold the service's lock; yields False when another process does, or is about to.

    A version on trial waits for the lock that the one before it has just let go.
    """
    deadline = time.monotonic() + (_HANDED_OVER_S if trials.is_own() else 0.0)
    while True:
        with files.exclusive(path) as is_ours:
            if is_ours or time.monotonic() >= deadline:
                yield is_ours and not trials.is_under_way()
                return
        time.sleep(_LOOK_S)


def take_turn(trials: Trials, *, until_released: bool, autostart: bool) -> None:
    """Become the version that is to take over, if there is one; returns where this one goes on."""
    if trials.is_own():
        limit = threading.Timer(TRIAL_S, _give_up, args=(trials,))
        limit.daemon = True
        limit.start()
    program = trials.before_service()
    if program is None:
        return
    words = [str(program), "service", "run"]
    words += ["--until-released"] if until_released else []
    words += ["--autostart"] if autostart else []
    logger.info("becoming %s", program)
    try:
        os.execv(program, words)  # the same process, so systemd and a launcher follow
    except OSError as error:
        trials.failed_to_become(error)


async def proven(trials: Trials, port: int, token: str) -> bool:
    """Keep that this version has come up; False when it was on trial and falls short."""
    if trials.is_own():
        lacks = await _shortcoming(trials, port, token)
        if lacks is not None:
            await asyncio.to_thread(trials.falls_short, lacks)
            return False
    try:
        await asyncio.to_thread(trials.came_up)
    except StudioError as error:
        logger.warning("not written which version came up: %s", error.message)
        return not trials.is_own()
    return True


async def steady(trials: Trials) -> None:
    """Wait until this version has served so long that its first starts are counted no more."""
    await asyncio.sleep(STEADY_S)
    await asyncio.to_thread(trials.is_steady)


async def _shortcoming(trials: Trials, port: int, token: str) -> str | None:
    before = await asyncio.to_thread(trials.holdings)
    client = ControlClient(f"http://127.0.0.1:{port}", token)
    try:
        found = await proof.shortcoming(client, __version__, before, between_s=BETWEEN_S)
    finally:
        await client.close()
    if found is not None or not trials.has_window():
        return found
    return await window_proof.shortcoming(own_program.command(), trials.program_before())


def _give_up(trials: Trials) -> None:
    """End at once when the time is over: whatever hangs would hang the end too."""
    if trials.is_own():
        os._exit(NOT_PROVEN)
