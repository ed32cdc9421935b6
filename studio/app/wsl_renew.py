"""Brings the program inside the Studio's Linux to the version that this Windows has.

The Linux is imported once and then holds models and engines; a newer setup program changes files of
Windows only. So before the service is started there, an older program inside is exchanged for the
one in the root file system that came along: written beside it, tried, and put in its place by two
renames. A kill between those leaves no program there; the next start puts the older one back and
tries again. Two at once take turns. A newer one is exchanged only when Windows has left that very
version (`wsl_turn.py`).
"""

import asyncio
import contextlib
import logging
from pathlib import Path

from studio import __version__
from studio.app import wsl_rootfs
from studio.domain.errors import HostLacks, StudioError
from studio.domain.self_update import is_newer
from studio.domain.wsl import DISTRIBUTION
from studio.host import files
from studio.host.wsl import seen_inside
from studio.host.wsl_exe import Answer, WslExe

logger = logging.getLogger(__name__)

SCRIPT_FILE = "renew.sh"
SCRIPT = b"""\
# Takes the program out of the root file system $1 and puts it into the place of the one in $2.
set -eu
new="$2/.weir-studio.new" old="$2/.weir-studio.old"
exec 9<"$2"
flock 9
if [ -e "$old" ] && [ ! -e "$2/weir-studio" ]; then mv "$old" "$2/weir-studio"; fi
rm -rf "$new"
mkdir "$new"
tar --extract --file="$1" --directory="$new" --strip-components=3 ./opt/weir-studio
"$new/weir" --version
sync
rm -rf "$old"
if [ -e "$2/weir-studio" ]; then mv "$2/weir-studio" "$old"; fi
mv "$new" "$2/weir-studio"
rm -rf "$old"
"""
"""A file instead of words: quotes do not survive two systems' command lines."""
_PLACE = "/opt"
_WITHIN_S = 600.0
_VERSION_WITHIN_S = 60.0
"""The virtual machine may have to start first."""


class Renewal:
    """The program inside one Windows user's Linux."""

    def __init__(
        self,
        exe: WslExe,
        home: Path,
        version: str = __version__,
        left: frozenset[str] = frozenset(),
    ) -> None:
        """`left` are newer versions that must not stay inside."""
        self._exe = exe
        self._home = home
        self._version = version
        self._left = left

    async def run(self, rootfs: Path) -> bool:
        """Exchange another program, or one that does not start; True when it was exchanged.

        Where that fails and the other one still starts, it stays, and the log says why.
        Raises: HostLacks (`wsl-not-renewed`, `disk-space`, …) where nothing starts.
        """
        answer = await self._asked()
        if answer.status is None:  # too slow to be known: it may be a newer one
            return False
        inside = _version_in(answer)
        is_other = inside is None or inside in self._left or is_newer(self._version, inside)
        if not is_other or not await asyncio.to_thread(rootfs.is_file):
            return False
        try:
            await self._exchange(rootfs)
        except StudioError as error:
            if inside is None:
                raise
            logger.warning("version %s stays inside the Linux: %s", inside, error.message)
            return False
        logger.info("inside the Linux: version %s took over from %s", self._version, inside)
        return True

    async def _asked(self) -> Answer:
        words = ("/usr/bin/weir", "--version")
        return await self._exe.inside(DISTRIBUTION, *words, within_s=_VERSION_WITHIN_S)

    async def _exchange(self, rootfs: Path) -> None:
        script = self._home / SCRIPT_FILE
        files.make_private(self._home)
        files.write_atomic(script, SCRIPT)
        try:
            async with wsl_rootfs.plain(rootfs, self._home) as archive:
                words = ("sh", seen_inside(script), seen_inside(archive), _PLACE)
                answer = await self._exe.inside(
                    DISTRIBUTION, *words, user="root", within_s=_WITHIN_S
                )
        finally:
            with contextlib.suppress(OSError):  # one that runs beside this one reads it
                script.unlink(missing_ok=True)
        if not answer.is_good:
            raise HostLacks(
                "wsl-not-renewed",
                "The program inside the Studio's Linux could not be brought to version "
                f"{self._version}.",
                hint="`weir wsl` shows its disk; `wsl --shutdown`, then try again.",
                evidence=tuple(answer.text.splitlines()[-5:]),
            )


def _version_in(answer: Answer) -> str | None:
    """Return the version that the program inside says; None: it does not start."""
    parts = answer.text.split()
    return parts[1] if answer.is_good and len(parts) == 2 else None
