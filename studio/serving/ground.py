"""The ground before a start and after an end: nobody of ours left, memory back, regions gone."""

import asyncio
import dataclasses
import logging
import os
from collections.abc import Collection, Sequence
from pathlib import Path

import psutil

from studio.domain.hardware import Gpu
from studio.domain.units import bytes_text
from studio.host import gpus, orphans, shm
from studio.serving import cards
from studio.serving.cards import Look, Say
from studio.serving.command import Launch

logger = logging.getLogger(__name__)


async def look() -> Sequence[Gpu]:
    """Return the cards as the driver tells of them now; none where it does not."""
    return (await asyncio.to_thread(gpus.from_library)).cards


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """What had to be cleared away."""

    ended: tuple[orphans.Ended, ...] = ()
    regions: tuple[shm.Region, ...] = ()

    @property
    def words(self) -> str | None:
        """What was done, for people; None when nothing was."""
        parts = []
        gone = [one for one in self.ended if one.is_gone]
        stay = [one for one in self.ended if not one.is_gone]
        if gone:
            parts.append(
                f"Ended {_count(gone, 'process', 'processes')} that an earlier run left: "
                f"{orphans.in_words(gone)}."
            )
        if stay:
            parts.append(f"Still there although killed: {orphans.in_words(stay)}.")
        if self.regions:
            held = bytes_text(sum(one.bytes for one in self.regions))
            parts.append(
                f"Removed {_count(self.regions, 'region', 'regions')} of shared memory that an "
                f"ended engine left ({held})."
            )
        return " ".join(parts) or None


class Ground:
    """The ground of one home's engines."""

    def __init__(self, home: Path, look: Look = look) -> None:
        self._home = home
        self._look = look

    async def clear(self, launch: Launch, say: Say) -> str | None:
        """Make the start of `launch` possible; return what was done, for people.

        Raises: HostLacks (`card-memory-held`).
        """
        keeps = bool(launch.environment.get(shm.KEEP, "").strip("0 "))
        socket = Path(launch.socket)
        done = await asyncio.to_thread(_clear, self._home, socket, keeps_regions=keeps)
        if done.words is not None:
            logger.warning("%s", done.words)
            say(done.words)
        if done.ended:
            await cards.wait_until_back(launch.cards, self._look, say)
        await cards.wait_for_room(
            launch.card_needs, self._look, say, what=launch.preset, who=user_of
        )
        return done.words

    async def after_end(self, launch: Launch, say: Say) -> None:
        """Wait until what an ended engine held on its cards is back."""
        await cards.wait_until_back(launch.cards, self._look, say)

    def own(self, leader: int) -> None:
        """Write down that `leader` is ours, for a service that comes after a kill of this one."""
        orphans.own(self._home, leader)

    def learn_regions(self, pids: Collection[int]) -> None:
        """Write down which shared memory the engine uses, so that it can be removed after it."""
        orphans.add_regions(self._home, shm.used_by(pids))

    def released(self) -> tuple[shm.Region, ...]:
        """Remove what the engine that has just ended left; only when nothing of it lives."""
        kept = orphans.recorded(self._home)
        if kept is None or orphans.find(self._home):
            return ()
        removed = shm.remove_stale(kept.regions) if kept.regions else []
        orphans.forget(self._home)
        return tuple(removed)


def user_of(pid: int) -> str | None:
    """Return whose process it is; None when that is this user, or cannot be seen."""
    try:
        process = psutil.Process(pid)
        return None if process.uids().real == os.getuid() else process.username()
    except (psutil.Error, OSError, KeyError):
        return None


def _clear(home: Path, socket: Path, *, keeps_regions: bool) -> Cleared:
    kept = orphans.recorded(home)
    ended = orphans.sweep(home)
    socket.unlink(missing_ok=True)
    regions: list[shm.Region] = []
    if not keeps_regions:
        regions = shm.remove_stale(kept.regions if kept is not None else ())
    return Cleared(ended=tuple(ended), regions=tuple(regions))


def _count(found: Sequence[object], one: str, many: str) -> str:
    return f"{len(found)} {one if len(found) == 1 else many}"
