"""Follows every boot: what it is doing, how long yet, cold or warm; and keeps it when it is over.

`heard` and `complete` run on the event loop and never wait; files are read in `begin` and written
by `run`. A boot that nobody announced with `begin` is the engine's restart after a death.
"""

import asyncio
import datetime
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from studio.app.boot_about import About
from studio.app.boot_history import BootHistoryFile
from studio.app.boot_offers import pin_offer
from studio.app.boot_record import recorded
from studio.app.boot_under_way import BootUnderWay
from studio.app.boot_weights import WeightsMeter
from studio.domain.boots import BootHistory, BootOutcome, BootRecord, BootTry
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.units import duration_text, tokens_text
from studio.serving import boots, pool_change
from studio.serving.boot_words import temperature

logger = logging.getLogger(__name__)

Facts = Mapping[str, int | float | str]
_OVER = {
    EngineState.READY: BootOutcome.SERVED,
    EngineState.FAILED: BootOutcome.FAILED,
    EngineState.BACKING_OFF: BootOutcome.FAILED,
    EngineState.STOPPED: BootOutcome.STOPPED,
}


class BootWatch:
    """The boots of one service."""

    def __init__(self, file: BootHistoryFile, facts: Callable[[], Facts]) -> None:
        """`facts` tells what the boot of the engine has said so far."""
        self._file = file
        self._facts = facts
        self._known = BootHistory()
        self._about: About | None = None
        self._attempt = BootTry.RESTART
        self._tries: tuple[str, ...] = ()
        self._boot: BootUnderWay | None = None
        self._last: BootRecord | None = None
        self._unwritten: asyncio.Queue[BootRecord] = asyncio.Queue()
        self.weights = WeightsMeter()

    # -- what others tell ------------------------------------------------------------------

    async def begin(self, about: About, attempt: BootTry, tries: tuple[str, ...] = ()) -> None:
        """Announce a boot; `tries` says in words what was changed by itself since the first."""
        await self._unwritten.join()  # the boot before may be what this one is judged by
        self._known = await asyncio.to_thread(self._file.read)
        self._about, self._attempt, self._tries = about, attempt, tries
        self._boot = None

    def needs_no_estimate(self) -> bool:
        """Tell whether what was announced served last only without the graphs' estimate."""
        about = self._about
        return about is not None and boots.needs_no_estimate(self._known, about.place)

    def heard(self, engine: EngineSnapshot) -> None:
        """Take up what the supervisor says of the engine."""
        about = self._about
        if about is None:
            return
        if engine.state is EngineState.STARTING:
            self._follow(about, engine)
            return
        outcome = _OVER.get(engine.state)
        if outcome is not None and self._boot is not None:
            self._close(about, self._boot, engine, outcome)

    def _follow(self, about: About, engine: EngineSnapshot) -> None:
        boot = self._boot
        if boot is None or boot.began != engine.started_at:
            boot = self._boot = self._new(about, engine)
            self.weights.begin(about.checkpoint_bytes, about.drafter_bytes)
        facts = self._facts()
        boot.learn(engine, facts)
        self.weights.heard(engine, facts)

    def _new(self, about: About, engine: EngineSnapshot) -> BootUnderWay:
        made = BootUnderWay(
            began=engine.started_at,
            attempt=self._attempt,
            outlooks={cold: self._outlook(about, is_cold=cold) for cold in (True, False)},
            guess=self._guess(about),
        )
        self._attempt = BootTry.RESTART
        return made

    def _close(
        self, about: About, boot: BootUnderWay, engine: EngineSnapshot, outcome: BootOutcome
    ) -> None:
        self._boot = None
        began = boot.began if boot.began is not None else 0.0
        at = datetime.datetime.fromtimestamp(began, datetime.UTC).isoformat(timespec="seconds")
        record = recorded(about, boot, engine, outcome, self._facts(), at=at)
        if outcome is BootOutcome.SERVED:
            before = boots.last_served(self._known, about.place)
            record = msgspec.structs.replace(record, why=pool_change.why(before, record))
        self._last = record
        self._known = boots.with_boot(self._known, record)
        self._unwritten.put_nowait(record)
        for sentence in record.why:
            logger.info("%s: %s", record.preset, sentence)
        logger.info("%s", in_words(record))

    # -- what others ask -------------------------------------------------------------------

    @property
    def last(self) -> BootRecord | None:
        """The last boot that this service saw to its end."""
        return self._last

    def asked(self, engine: EngineSnapshot) -> dict[str, str]:
        """Return the overrides that the engine was started with, without a pin of its pool."""
        about = self._about
        if about is None or engine.preset != about.place.preset:
            return dict(engine.overrides)
        return {name: text for name, text in engine.overrides.items() if name in about.asked}

    def whole_s(self) -> float | None:
        """Return how long the boot that was announced should take."""
        about = self._about
        return None if about is None else self._outlook(about, is_cold=self._guess(about)).whole_s

    def _guess(self, about: About) -> bool:
        return boots.guess_is_cold(self._known, about.place, _exists)

    def _outlook(self, about: About, *, is_cold: bool) -> boots.Outlook:
        return boots.outlook(
            self._known,
            about.place,
            is_cold=is_cold,
            published_s=about.published_s(is_cold=is_cold),
            rough_s=about.rough_s,
        )

    def complete(self, engine: EngineSnapshot) -> EngineSnapshot:
        """Return the engine with what is known of its boot."""
        about, boot, last = self._about, self._boot, self._last
        if about is None or engine.preset != about.place.preset:
            return engine
        if engine.state is EngineState.STARTING and boot is not None:
            shown = msgspec.structs.replace(engine, tries=self._tries)
            loaded, size = self.weights.loaded_bytes, self.weights.size
            return boot.complete(shown, loaded_bytes=loaded, to_load_bytes=size)
        has_booted = engine.state in (EngineState.READY, EngineState.DRAINING)
        if not has_booted or last is None or last.outcome is not BootOutcome.SERVED:
            return msgspec.structs.replace(engine, tries=self._tries)
        offer = pin_offer(about, last)
        return msgspec.structs.replace(
            engine,
            is_cold=last.is_cold,
            is_cold_certain=last.is_cold_certain,
            tries=self._tries,
            pool_note=" ".join(last.why) or None,
            offers=(offer,) if offer is not None else (),
        )

    async def run(self) -> None:
        """Write what is over and measure what loads, until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self.weights.run())
                while True:
                    await self._write(await self._unwritten.get())
        finally:
            while not self._unwritten.empty():
                await self._write(self._unwritten.get_nowait())

    async def _write(self, record: BootRecord) -> None:
        try:
            await self._file.add(record)
        finally:
            self._unwritten.task_done()


def _exists(path: str) -> bool:
    """Tell whether a path is there; it comes from a log, so it may be anything."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def in_words(record: BootRecord) -> str:
    """Return a boot in one line, for the service's log."""
    word = temperature(is_cold=record.is_cold, is_certain=record.is_cold_certain) or "unknown"
    pieces = [f"boot of {record.preset} on {record.runtime} {record.runtime_id}: {word}"]
    after = f" after {duration_text(record.boot_s)}" if record.boot_s is not None else ""
    pieces.append(f"{record.outcome.value}{after}")
    if record.error is not None:
        pieces.append(record.error)
    if record.attempt is not BootTry.FIRST:
        pieces.append(f"try: {record.attempt.value}")
    if record.pool_tokens is not None:
        pieces.append(f"pool {tokens_text(record.pool_tokens)}")
    return ", ".join(pieces)
