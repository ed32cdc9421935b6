"""The moment in which one version of the Studio takes over from another, and the way back.

It happens where a service starts and nothing else of this home runs. The version that works copies
databases and settings, writes down that another one is on trial, and becomes it. That one leads the
link to itself when it has proven that it answers; until then the link leads to the old one, which
puts everything back when it is started again. So a kill at any instant leaves the old version or
the new one. Runtimes and models are not touched.
"""

import contextlib
import logging
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import psutil

from studio import __version__
from studio.app import update_proof
from studio.app.state_copies import StateCopies
from studio.app.update_proof import Holdings
from studio.app.update_records import Failed, Opening, Ran, Records, Staged, Trial
from studio.app.update_watch import MOST_ENDS, Watch
from studio.domain.errors import Damaged, HostLacks, StudioError
from studio.domain.self_update import Came, is_newer
from studio.host import own_program, processes
from studio.host.own_program import Installed
from studio.host.paths import Paths

logger = logging.getLogger(__name__)

TRIAL_S = 60.0
"""A version that has not proven itself by then is ended and taken back."""
_END_S = 10.0
_CLOCK_SLACK_S = 120.0
"""By how much a clock that was set since may bend the start of a process."""


class Trials:
    """What a service does about updates before it opens anything, and when it has come up."""

    def __init__(
        self,
        paths: Paths,
        *,
        version: str = __version__,
        installed: Callable[[], Installed] = own_program.installed,
    ) -> None:
        self._paths = paths
        self._version = version
        self._installed = installed
        self._records = Records(paths)
        self._copies = StateCopies(paths)
        self._watch = Watch(self._records.folder)

    def holdings(self) -> Holdings:
        """Return what the version before this one could read."""
        trial = self._records.trial()
        return trial.holdings if trial is not None else Holdings()

    def program_before(self) -> Path | None:
        """Return the program of the version before, while this one is on trial."""
        trial, installed = self._records.trial(), self._installed()
        if trial is None or installed.came is not Came.RUN:
            return None
        return installed.versions / trial.old / own_program.PROGRAM

    def has_window(self) -> bool:
        """Tell whether this version has a window to prove."""
        installed = self._installed()
        return installed.folder is not None and installed.has_window

    def falls_short(self, shortcoming: str) -> None:
        """Keep why this version, on trial, ends: the one before tells the person."""
        trial = self._records.trial()
        logger.warning("on trial: %s", shortcoming)
        if trial is not None and trial.new == self._version:
            with contextlib.suppress(HostLacks):
                self._records.write(msgspec.structs.replace(trial, shortcoming=shortcoming))

    def ended(self) -> None:
        """Keep that this version ended as it should."""
        self._watch.ended(self._version)

    def is_steady(self) -> None:
        """Keep that this version has served long enough: its first starts are counted no more."""
        known = self._watch.now()
        if known is not None and known.version == self._version:
            self._watch.over()

    def is_own(self) -> bool:
        """Tell whether this very version is on trial."""
        trial = self._records.trial()
        return trial is not None and trial.new == self._version

    def is_under_way(self) -> bool:
        """Tell whether another process is still trying a version."""
        trial = self._records.trial()
        if trial is None or trial.new == self._version:
            return False
        is_late = not 0.0 <= time.time() - trial.began_at <= TRIAL_S
        return _is_alive(trial) and not is_late

    def end_hung(self) -> None:
        """End another version's process that had its time and has not proven itself."""
        trial = self._records.trial()
        if trial is None or trial.new == self._version or self.is_under_way():
            return
        if _is_alive(trial):
            logger.warning("version %s hangs and is ended", trial.new)
            _end(trial.pid)

    def before_service(self) -> Path | None:
        """Return the program that takes over now, or None when this one goes on.

        That is a staged version, or the one in use where a window of an older one started this.
        To be called with the lock of the service, before anything of the home is opened. What
        fails here is kept for `weir update status`; the present version goes on.
        """
        trial = self._records.trial()
        if trial is not None:
            if trial.new != self._version:
                self._take_back(trial)
            return None
        try:
            self._count_start()
            program = self._begin()
            if program is None:
                self._follow_other_installers()
        except StudioError as error:
            logger.warning("no update: %s", error.message)
            begun = self._records.trial()
            if begun is not None:
                self._take_back(begun, error.message.rstrip("."))
            else:
                self._give_up(error)
            return None
        return program

    def came_up(self) -> None:
        """Keep that this version serves; one on trial is in use from now on.

        Raises: HostLacks (`not-writable`, `disk-full`).
        """
        trial = self._records.trial()
        ran = self._records.ran()
        before = ran.version if ran is not None else None
        is_own = trial is not None and trial.new == self._version
        if is_own:
            assert trial is not None
            before = trial.old
            own_program.switch(self._installed().versions, self._version)
        if before != self._version:
            if before is not None and is_newer(self._version, before):
                self._watch.begin(self._version, before)
            self._records.write(Ran(version=self._version, previous=before))
        self._records.forget(Opening)
        if not is_own:
            return
        self._tell_of_going_back(before)
        self._records.forget(Trial)
        self._records.forget(Staged)
        logger.info("version %s has taken over from %s", self._version, before)
        kept = [self._version, *([before] if before is not None else [])]
        own_program.forget_older(self._installed().versions, kept)

    def failed_to_become(self, error: OSError) -> None:
        """Take a trial back whose program could not even be started."""
        trial = self._records.trial()
        if trial is not None:
            self._take_back(trial, f"it cannot be started: {error.strerror or error}")

    def _tell_of_going_back(self, before: str | None) -> None:
        """Keep why this version came back where no person asked for it; else nothing failed."""
        staged = self._records.staged()
        if staged is None or staged.because is None or before is None:
            self._records.forget(Failed)
            return
        self._records.write(Failed(version=before, error=staged.because))

    def _count_start(self) -> None:
        """Go back to the version before where this one does not live through its first starts."""
        known = self._watch.started(self._version)
        if known is None or not known.ends:
            return
        logger.warning("version %s ended %d times without a goodbye", known.version, known.ends)
        installed = self._installed()
        is_there = installed.came is Came.RUN and own_program.is_version(
            installed.versions / known.previous
        )
        if known.ends < MOST_ENDS or not is_there:
            return
        self._watch.over()
        error = Damaged(
            "update-unsteady",
            f"Version {known.version} ended {known.ends} times by itself soon after the update. "
            f"Version {known.previous} is back.",
            hint="`weir logs --service` has its last words; `weir update rollback` tries it again.",
        )
        self._records.write(
            Staged(version=known.previous, wanted=True, is_rollback=True, because=error.info)
        )

    def _begin(self) -> Path | None:
        staged = self._records.staged()
        installed = self._installed()
        if installed.came is not Came.RUN:
            return None
        used = own_program.current(installed.versions)
        if used != self._version and used is not None:
            if staged is not None and staged.wanted and staged.version == self._version:
                # A person asked this very file to come back: the one in use may not start at all.
                own_program.switch(installed.versions, self._version)
                self._records.forget(Staged)
                return None
            program = installed.versions / used / own_program.PROGRAM
            return program if program.is_file() else None
        if staged is None or not staged.wanted:
            return None
        program = installed.versions / staged.version / own_program.PROGRAM
        if staged.version == self._version:
            self._records.forget(Staged)
            return None
        if not program.is_file():
            raise Damaged(
                "update-missing",
                f"Version {staged.version} is not in {program.parent} any more.",
                hint="`weir update get` brings it again.",
            )
        self._copies.make(self._version)
        self._records.write(
            Trial(
                old=self._version,
                new=staged.version,
                pid=os.getpid(),
                process_started_at=processes.started_at(os.getpid()),
                began_at=time.time(),
                holdings=update_proof.holdings(self._paths),
            )
        )
        if staged.is_rollback and self._copies.has(staged.version):
            self._copies.restore(staged.version, only_changed=True)
        return program

    def _take_back(self, trial: Trial, reason: str | None = None) -> None:
        """Put everything back as it was before a trial; can be cut off and repeated."""
        _end_if_alive(trial)
        if self._copies.has(trial.old):
            self._copies.restore(trial.old, only_changed=False)
        installed = self._installed()
        if installed.came is Came.RUN and own_program.current(installed.versions) == trial.new:
            own_program.switch(installed.versions, trial.old)
        reason = reason or trial.shortcoming
        again = "rollback" if is_newer(trial.old, trial.new) else "apply"
        error = Damaged(
            "update-failed",
            f"Version {trial.new} did not come up"
            + (f": {reason}." if reason else _unexplained(trial))
            + f" Version {trial.old} is back, with databases and settings as they were.",
            hint=f"`weir logs --service` has its last words; `weir update {again}` tries it again.",
        )
        self._records.write(Failed(version=trial.new, error=error.info))
        self._unwant()
        self._records.forget(Trial)
        logger.warning("%s", error.message)

    def _give_up(self, error: StudioError) -> None:
        staged = self._records.staged()
        with contextlib.suppress(HostLacks):
            if staged is not None and staged.wanted:
                self._records.write(Failed(version=staged.version, error=error.info))
            self._unwant()

    def _unwant(self) -> None:
        """Leave a newer version for a person to try again; the way back is offered anyway."""
        staged = self._records.staged()
        if staged is not None and staged.is_rollback:
            self._records.forget(Staged)
        elif staged is not None:
            self._records.write(msgspec.structs.replace(staged, wanted=False))

    def _follow_other_installers(self) -> None:
        """Copy what another version left, when apt or a person has exchanged the program.

        An older version gets its databases back where the newer one had changed them, also when
        that never came up. The copy is made once: a second start of a version that does not come
        up would copy what the first one had changed.
        """
        ran, opening = self._records.ran(), self._records.opening()
        if ran is None:
            return
        last = opening.version if opening is not None else ran.version
        if last == self._version:
            return
        self._copies.make(last)
        if is_newer(last, self._version):
            self._put_back()
        self._records.write(Opening(version=self._version))

    def _put_back(self) -> None:
        """Put back the databases that a version not newer than this one had left."""
        for copy in self._copies.all():
            if not is_newer(copy.version, self._version):
                names = self._copies.restore(copy.version, only_changed=True)
                logger.warning("a downgrade: %s put back from %s", names or "nothing", copy.version)
                return


def _unexplained(trial: Trial) -> str:
    """Return how a trial went of which nobody said anything."""
    if 0.0 <= time.time() - trial.began_at <= TRIAL_S:
        return ": it ended by itself or was ended before it had proven itself."
    return f" within {TRIAL_S:.0f} s, or was cut off."


def _is_alive(trial: Trial) -> bool:
    if trial.pid == os.getpid():
        return False
    started = processes.started_at(trial.pid)
    known = trial.process_started_at
    return started is not None and known is not None and abs(started - known) < _CLOCK_SLACK_S


def _end_if_alive(trial: Trial) -> None:
    if _is_alive(trial):
        _end(trial.pid)


def _end(pid: int) -> None:
    """End a process of ours that does not listen any more."""
    with contextlib.suppress(ProcessLookupError, psutil.Error):
        os.kill(pid, signal.SIGKILL)
        psutil.Process(pid).wait(_END_S)
