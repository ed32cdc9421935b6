"""Which version of the Studio runs on a Windows, and how the one inside its Linux follows.

On Windows the program and the service are two: the starters run what `current.txt` names, and the
service lives in a Linux with a program of its own. So versions take turns where Windows is about to
start that service (`control/wsl_launcher.py`): a version that somebody asked for is switched to,
one that crashes or does not come up is left, and the program inside is brought to the version
in use. The one inside copies and puts back databases and settings itself, as after apt
(`update_trial.py`).
"""

import contextlib
import logging
from collections.abc import Callable
from pathlib import Path

import msgspec

from studio import __version__
from studio.app.update_records import Failed, Ran, Records, Staged
from studio.app.update_watch import MOST_ENDS, Watch, Watched
from studio.domain.errors import Damaged, HostLacks, StudioError
from studio.domain.self_update import Came, is_newer
from studio.host import kept_versions, own_program, own_windows
from studio.host.own_program import Installed
from studio.host.paths import Paths, bundled_root
from studio.host.registry import Registry

logger = logging.getLogger(__name__)

_SHOWN = r"Software\Microsoft\Windows\CurrentVersion\Uninstall\WeirStudio"
"""What the settings of Windows show under Apps."""


class WslTurn:
    """The versions of one Windows user."""

    def __init__(
        self,
        paths: Paths,
        *,
        version: str = __version__,
        installed: Callable[[], Installed] = own_program.installed,
        registry: Registry | None = None,
    ) -> None:
        self._records = Records(paths)
        self._watch = Watch(self._records.folder)
        self._version = version
        self._installed = installed
        self._registry = registry or Registry()

    @property
    def used(self) -> str:
        """Return the version that the starters run; this may be another one's process."""
        return kept_versions.current(self._installed()) or self._version

    @property
    def left(self) -> frozenset[str]:
        """Return newer versions that were left for the one in use, and must not stay inside.

        Another newer one inside was put there by a person, and does stay.
        """
        ran, failed = self._records.ran(), self._records.failed()
        known = (ran.version if ran else None, failed.version if failed else None)
        return frozenset(one for one in known if one is not None and is_newer(one, self.used))

    @property
    def inside(self) -> Path:
        """Return the folder of the version in use in which its root file system lies."""
        installed = self._installed()
        if installed.came is Came.SETUP:
            folder = own_windows.folder(installed.versions, self.used)
            if folder is not None:
                return folder / own_windows.INSIDE
        return bundled_root()

    def take(self, watched: Watched | None) -> None:
        """Switch to the version that is to run now, if it is another one.

        `watched` is what the service inside counted of its first starts, if it is watched.
        What fails here is kept for `weir update status`; the present version goes on.
        """
        if self._installed().came is not Came.SETUP:
            return
        try:
            self._watch.copy(watched)
            if watched is not None:
                self._leave_if_unsteady(watched)
            self._switch_if_wanted()
        except StudioError as error:
            logger.warning("no other version: %s", error.message)
            self._give_up(error)

    def came_up(self, inside: str | None) -> None:
        """Keep that the version in use serves; `inside` is the number that the service says.

        None: there is no Linux yet, so nothing has to follow.
        Raises: HostLacks (`not-writable`, `disk-full`).
        """
        if self._installed().came is not Came.SETUP:
            return
        used, ran, staged = self.used, self._records.ran(), self._records.staged()
        is_chosen = staged is not None and staged.wanted and staged.version == used
        if inside is not None and inside != used:
            if is_chosen:
                self._give_up(_not_followed(used, inside))
            return
        is_other = ran is None or ran.version != used
        before = None if ran is None else ran.version if is_other else ran.previous
        if is_other:
            self._records.write(Ran(version=used, previous=before))
        if is_chosen and staged is not None and staged.because is not None and before is not None:
            self._records.write(Failed(version=before, error=staged.because))
        elif is_chosen or is_other:
            self._records.forget(Failed)
        if staged is not None and (is_chosen or not self._has(staged.version)):
            self._records.forget(Staged)
        self._tidy(used, before)

    @property
    def forerunner(self) -> str | None:
        """Return the version to go back to while the one in use is new and has not come up yet."""
        installed, ran = self._installed(), self._records.ran()
        if installed.came is not Came.SETUP or ran is None or not is_newer(self.used, ran.version):
            return None
        return ran.version if self._has(ran.version) else None

    def take_back(self, because: str) -> bool:
        """Leave a newer version that falls short at its first start; tell whether it was left.

        `because` goes on where its number ends. Raises: HostLacks (`not-writable`, `disk-full`).
        """
        used, back = self.used, self.forerunner
        if back is None:
            return False
        error = Damaged(
            "update-failed",
            f"Version {used} {because}. Version {back} is back; databases that the newer one had "
            "changed are as they were.",
            hint="`weir logs --service` has its last words; `weir update rollback` tries it again.",
        )
        self._records.write(Failed(version=used, error=error.info))
        self._switch(self._installed(), back)
        self._records.forget(Staged)
        logger.warning("%s", error.message)
        return True

    def _leave_if_unsteady(self, watched: Watched) -> None:
        if watched.version != self.used or watched.ends < MOST_ENDS:
            return
        if not kept_versions.has(self._installed(), watched.previous):
            return
        error = Damaged(
            "update-unsteady",
            f"Version {watched.version} ended {watched.ends} times by itself soon after the "
            f"update. Version {watched.previous} is back.",
            hint="`weir logs --service` has its last words; `weir update rollback` tries it again.",
        )
        logger.warning("%s", error.message)
        self._records.write(
            Staged(version=watched.previous, wanted=True, is_rollback=True, because=error.info)
        )

    def _has(self, version: str) -> bool:
        return kept_versions.has(self._installed(), version)

    def _tidy(self, used: str, before: str | None) -> None:
        """Remove older versions; one that was fetched and waits stays, and so does its forerunner.

        A first start without a forerunner removes nothing: who knows what the others are for.
        """
        staged = self._records.staged()
        if before is not None:
            kept = {used, before, *([staged.version] if staged is not None else [])}
            own_windows.forget_older(self._installed().versions, kept)

    def _switch_if_wanted(self) -> None:
        staged, installed = self._records.staged(), self._installed()
        if staged is None or not staged.wanted:
            return
        used = self.used
        if staged.version == used:
            return  # a kill came before it was kept that it has come up
        if not kept_versions.has(installed, staged.version):
            raise Damaged(
                "update-missing",
                f"Version {staged.version} is not in {installed.versions} any more.",
                hint="Its setup program brings it again.",
            )
        if self._records.ran() is None:
            self._records.write(Ran(version=used))  # which one was left, for `left`
        self._switch(installed, staged.version)

    def _switch(self, installed: Installed, version: str) -> None:
        was = self.used
        own_windows.switch(installed.versions, version)
        with contextlib.suppress(OSError):  # a rule of the house may forbid it; it is only shown
            if self._registry.text(_SHOWN, "DisplayVersion") is not None:
                self._registry.write(_SHOWN, "DisplayVersion", version)
        logger.info("version %s takes over from %s", version, was)

    def _give_up(self, error: StudioError) -> None:
        staged = self._records.staged()
        with contextlib.suppress(HostLacks):
            if staged is not None and staged.wanted:
                self._records.write(Failed(version=staged.version, error=error.info))
                self._records.write(msgspec.structs.replace(staged, wanted=False))


def _not_followed(used: str, inside: str) -> HostLacks:
    return HostLacks(
        "wsl-not-renewed",
        f"Version {used} is back on Windows, but version {inside} stays inside the Studio's Linux.",
        hint="`weir wsl` shows its disk; `wsl --shutdown`, then `weir up` tries it again.",
    )
