"""Judges each tick, announces alarms with remedies that can be taken, and knows what is muted."""

import asyncio
import collections
import contextlib
import logging
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import msgspec

from studio.app import alarm_remedies
from studio.app.alarm_mutes import Mutes
from studio.app.run_facts import RunFacts
from studio.app.spill import Spill
from studio.domain.alarms import Alarm, AlarmList, MuteRequest
from studio.domain.errors import BadInput, NotFound
from studio.domain.metrics import Tick
from studio.domain.server import EngineSnapshot
from studio.host import disks
from studio.host.bounded import Bounded, Overdue
from studio.monitor.alarm_rules import Rule
from studio.monitor.alarms import Judge
from studio.monitor.baseline import named
from studio.monitor.scene import DiskRoom, Scene, Slower

logger = logging.getLogger(__name__)

_DISKS_EVERY_S = 3.0
_DISKS_WITHIN_S = 2.0
_KEPT = 100
_LINE_SHARE = 0.8
"""A card that is less full than this did not spill for want of its own memory."""

Learn = Callable[[str, int], Awaitable[None]]


class Alarms:
    """One per service. `run` looks at disks, `hear` judges; everything on the service's loop."""

    def __init__(
        self,
        *,
        rules: tuple[Rule, ...],
        mutes: Path,
        folders: Mapping[str, Path],
        spill: Spill,
        facts: RunFacts,
        engine: Callable[[], EngineSnapshot],
        publish: Callable[[Alarm], None],
        learn_line: Learn | None = None,
    ) -> None:
        """`folders`: what is kept (`models`, `logs`) to where. `learn_line` gets a card's id and
        the bytes at which it was seen to spill.
        """
        self._codes = frozenset(rule.code for rule in rules)
        self._judge = Judge(rules)
        self._mutes = Mutes(mutes)
        self._folders = folders
        self._spill = spill
        self._facts = facts
        self._engine = engine
        self._publish = publish
        self._learn_line = learn_line
        self._disks: tuple[DiskRoom, ...] = ()
        self._bounded: Bounded[tuple[DiskRoom, ...]] = Bounded(
            lambda: rooms(self._folders), name="disk-room", within_s=_DISKS_WITHIN_S
        )
        self._ended: collections.deque[Alarm] = collections.deque(maxlen=_KEPT)
        self._is_watched = False
        self._lines: dict[str, int] = {}
        self.slower: Callable[[], Slower | None] = lambda: None
        """How the engine compares with its preset's published figure, where somebody knows."""

    @property
    def active(self) -> tuple[Alarm, ...]:
        """Return what holds now, the worst first."""
        return tuple(self._complete(one) for one in self._judge.active)

    def list(self) -> AlarmList:
        """Return what holds, what is over and what is muted."""
        return AlarmList(
            active=self.active,
            ended=tuple(self._ended),
            mutes=self._mutes.now(time.time()),
            is_watched=self._is_watched,
        )

    async def run(self) -> None:
        """Look at the disks every few seconds and keep what was learnt, until cancelled."""
        self._is_watched = True
        while True:
            with contextlib.suppress(Overdue):  # a network disk that hangs
                self._disks = await asyncio.to_thread(self._bounded.call)
            while self._lines and self._learn_line is not None:
                await self._learn_line(*self._lines.popitem())
            await asyncio.sleep(_DISKS_EVERY_S)

    def hear(self, tick: Tick) -> None:
        """Judge a second; announces what is new, worse or over."""
        engine = self._engine()
        self._facts.hear(engine, time.monotonic())
        for alarm in self._judge.judge(self._scene(tick)):
            self._announce(alarm, tick)

    def _scene(self, tick: Tick) -> Scene:
        facts, look = self._facts, self._spill.last
        return Scene(
            at=tick.at,
            monotonic_s=time.monotonic(),
            tick=tick,
            look=look,
            is_serving=facts.serving_since_s is not None,
            serving_since_s=facts.serving_since_s,
            engine_cards=facts.cards,
            max_num_seqs=facts.max_num_seqs,
            flags=facts.flags,
            disks=self._disks,
            death=facts.death,
            slower=self.slower(),
        )

    def _announce(self, alarm: Alarm, tick: Tick) -> None:
        made = self._complete(alarm)
        if made.ended_at is None:
            logger.warning("alarm %s: %s", made.code, made.title)
            if made.code == "spill-wddm":
                self._learn(made, tick)
        else:
            logger.info("alarm %s is over", made.code)
            self._ended.append(made)
            self._mutes.over(made.code)
        self._publish(made)

    def _complete(self, alarm: Alarm) -> Alarm:
        fitted = alarm_remedies.fitted(alarm, self._facts.preset, self._facts.present)
        return msgspec.structs.replace(fitted, is_muted=self._mutes.holds(alarm.code, time.time()))

    def _learn(self, alarm: Alarm, tick: Tick) -> None:
        """Tell planning at which line a card spilled, where it is sure which card it was."""
        look = self._spill.last
        adapters = look.adapters.adapters if look is not None and look.adapters is not None else ()
        adapter = named(adapters).get(alarm.where or "")
        alike = [one for one in tick.cards or () if adapter and one.name == adapter.name]
        if adapter is None or adapter.dedicated_bytes is None or len(alike) != 1:
            return
        total, uuid = adapter.total_bytes or alike[0].memory_total_bytes, alike[0].uuid
        if uuid is not None and total and adapter.dedicated_bytes >= total * _LINE_SHARE:
            self._lines[uuid] = adapter.dedicated_bytes

    def mute(self, code: str, request: MuteRequest) -> AlarmList:
        """Silence an alarm.

        Raises: NotFound (`alarm-unknown`), BadInput (`request-invalid`, `alarm-not-active`).
        """
        self._require(code)
        if request.for_s is not None and not 0 < request.for_s <= 366 * 86_400:
            raise BadInput(
                "request-invalid", "An alarm can be muted for more than 0 s and at most a year."
            )
        if request.is_once and all(one.code != code for one in self._judge.active):
            raise BadInput(
                "alarm-not-active",
                f"`{code}` does not hold now, so there is nothing to mute once.",
                hint=f"`weir alarms mute {code}` mutes it whenever it comes.",
            )
        self._mutes.add(code, request, time.time())
        return self._told(code)

    def unmute(self, code: str) -> AlarmList:
        """Let an alarm be heard again; one that is not muted is no error.

        Raises: NotFound (`alarm-unknown`).
        """
        self._require(code)
        self._mutes.remove(code)
        return self._told(code)

    def _told(self, code: str) -> AlarmList:
        for alarm in self.active:
            if alarm.code == code:
                self._publish(alarm)
        return self.list()

    def _require(self, code: str) -> None:
        if code not in self._codes:
            raise NotFound(
                "alarm-unknown",
                f"There is no alarm `{code}`.",
                hint=f"There are: {', '.join(sorted(self._codes))}.",
            )


def rooms(folders: Mapping[str, Path]) -> tuple[DiskRoom, ...]:
    """Return the room on the disk of each folder, those on the same one together."""
    found: dict[str, DiskRoom] = {}
    for name, folder in folders.items():
        place = disks.existing(folder)
        with contextlib.suppress(OSError):
            device = str(place.stat().st_dev)
            before = found.get(device)
            if before is not None:
                holds = f"{before.holds} and {name}"
                found[device] = DiskRoom(
                    holds=holds,
                    mount=before.mount,
                    free_bytes=before.free_bytes,
                    total_bytes=before.total_bytes,
                )
                continue
            total, _, free = shutil.disk_usage(place)
            found[device] = DiskRoom(
                holds=name, mount=str(folder), free_bytes=free, total_bytes=total
            )
    return tuple(found.values())
