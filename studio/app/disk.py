"""What the Studio takes of its disk, by groups: the same groups that an uninstall names."""

import asyncio
import shutil
from pathlib import Path

from studio.app.uninstall import Uninstall
from studio.domain.disk import DiskReport, DiskUse
from studio.domain.uninstall import Belongings, Place
from studio.host.paths import Paths


class DiskUsage:
    """Measures one home."""

    def __init__(self, paths: Paths, uninstall: Uninstall) -> None:
        self._paths = paths
        self._uninstall = uninstall

    async def report(self) -> DiskReport:
        """Return what is taken; folders are walked in a thread, which takes a second or two."""
        return await asyncio.to_thread(self._report)

    def _report(self) -> DiskReport:
        home = self._paths.home
        places = [one for one in self._uninstall.plan().places if _lies_in(one, home)]
        uses = tuple(use for group in Belongings if (use := _use(group, places)) is not None)
        own = sum(use.bytes for use in uses)
        total, free = _sizes(home)
        return DiskReport(
            home=str(home),
            total_bytes=total,
            free_bytes=free,
            others_bytes=None if total is None or free is None else max(0, total - free - own),
            uses=uses,
            own_bytes=own,
        )


def _lies_in(place: Place, home: Path) -> bool:
    return Path(place.path).is_relative_to(home)


def _use(group: Belongings, places: list[Place]) -> DiskUse | None:
    mine = [place for place in places if place.group is group]
    size = sum(place.bytes for place in mine)
    if size == 0:
        return None
    return DiskUse(group=group, bytes=size, files=sum(place.files for place in mine))


def _sizes(home: Path) -> tuple[int | None, int | None]:
    """Return size and room of the disk; the folder itself may not be there yet."""
    place = next((one for one in (home, *home.parents) if one.exists()), home)
    try:
        total, _used, free = shutil.disk_usage(place)
    except OSError:
        return None, None
    return total, free
