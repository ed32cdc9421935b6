"""Rounds of kills: who is killed, how long until it is shown, and until an engine serves again."""

import asyncio
import contextlib
import dataclasses
import os
import random
import re
import signal
import statistics
import time
from collections.abc import AsyncIterator, Iterable

import psutil

from studio.app.studio import Studio
from studio.domain.control import UpRequest
from studio.domain.events import EngineChanged
from studio.domain.server import EngineSnapshot, EngineState
from studio.host import processes
from tests.fakes.waiting import LIMIT_S, is_alive, until
from tests.fakes.weir import Weir

PARTS = ("engine", "engine-core", "worker")
ROUND_LIMIT_S = 120.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One kill."""

    victim: str
    shown_s: float
    """From the kill to a state that is not `ready`."""
    down_s: float
    """From the kill to `backing-off` or `failed`."""
    serving_s: float
    """From the kill to the first token of the next engine."""
    boot_s: float
    """The next engine's own boot, from its process to its first token."""

    @property
    def over_boot_s(self) -> float:
        """Return what the Studio added to the engine's own boot."""
        return self.serving_s - self.boot_s


class Sight:
    """The states of a Studio with the moment of each, in order."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, EngineSnapshot]] = []
        self._news = asyncio.Event()

    async def listen(self, studio: Studio) -> None:
        """Keep every change."""
        async for event in studio.bus.subscribe():
            if isinstance(event, EngineChanged):
                self.seen.append((time.monotonic(), event.engine))
                self._news.set()

    async def first(
        self, states: Iterable[EngineState], after_s: float
    ) -> tuple[float, EngineSnapshot]:
        """Return the first moment after `after_s` in one of these states."""
        wanted = frozenset(states)
        while True:
            self._news.clear()
            for at_s, engine in self.seen:
                if at_s > after_s and engine.state in wanted:
                    return at_s, engine
            await self._news.wait()


@contextlib.asynccontextmanager
async def sight(studio: Studio) -> AsyncIterator[Sight]:
    """Yield what is seen of a Studio."""
    made = Sight()
    async with asyncio.TaskGroup() as tasks:
        listening = tasks.create_task(made.listen(studio))
        await asyncio.sleep(0)
        try:
            yield made
        finally:
            listening.cancel()


async def kill_part(
    studio: Studio,
    seen: Sight,
    part: str,
    choice: random.Random,
    *,
    limit_s: float = ROUND_LIMIT_S,
) -> Round:
    """Kill one process of the engine that serves; return when the next one serves.

    Whatever does not go as it must is an AssertionError.
    """
    before = studio.engine()
    assert before.state is EngineState.READY
    rows = [row for row in processes.tree(os.getpid(), own_role="service") if row.role != "service"]
    family = [row.pid for row in rows if row.role in ("guard", "helper", *PARTS)]
    victim = choice.choice([row.pid for row in rows if row.role == part])
    async with asyncio.timeout(limit_s):
        killed_s = time.monotonic()
        os.kill(victim, signal.SIGKILL)
        shown_s, _ = await seen.first(set(EngineState) - {EngineState.READY}, killed_s)
        down_s, _ = await seen.first((EngineState.BACKING_OFF, EngineState.FAILED), killed_s)
        back_s, back = await seen.first((EngineState.READY,), down_s)
    left = [pid for pid in family if is_alive(pid)]
    assert left == [], f"survivors of {part}: {left}"
    assert back.restarts == before.restarts + 1, "a restart that nobody caused"
    assert back.boot_s is not None
    named = re.findall(r"\(process (\d+)\)", back.died_of or "")
    assert {int(one) for one in named} <= {victim}, f"{part} {victim} died: {back.died_of}"
    return Round(
        victim=part,
        shown_s=shown_s - killed_s,
        down_s=down_s - killed_s,
        serving_s=back_s - killed_s,
        boot_s=back.boot_s,
    )


async def kill_parts(
    studio: Studio,
    parts: Iterable[str],
    rounds: int,
    seed: int,
    *,
    request: UpRequest | None = None,
    limit_s: float = ROUND_LIMIT_S,
) -> list[Round]:
    """Kill each part so many times; the brake must be out."""
    choice = random.Random(seed)
    done: list[Round] = []
    async with sight(studio) as seen:
        await studio.up(request or UpRequest())
        for part in parts:
            for _ in range(rounds):
                done.append(await kill_part(studio, seen, part, choice, limit_s=limit_s))
                seen.seen.clear()
    return done


def kill_service(weir: Weir, *, limit_s: float = LIMIT_S) -> float:
    """Kill the service of a `weir` that serves; return the seconds until nothing of it is left."""
    weir.json("up", "--detach", limit_s=limit_s)
    service = weir.service_pid()
    assert len(weir.engine_pids()) >= 3
    killed_s = time.monotonic()
    os.kill(service, signal.SIGKILL)
    until(lambda: weir.engine_pids() == [], "the end of the engine")
    until(lambda: not is_alive(service), "the end of the service")
    return time.monotonic() - killed_s


def kill_service_and_guard(weir: Weir) -> list[int]:
    """Kill the service of a `weir` that serves, and its guard; return who is left of the engine.

    The guard is stopped first, so that it does nothing between the two kills: as if both were
    killed in one instant. Of the engine's own processes only the API server goes with the guard.
    """
    weir.json("up", "--detach")
    service = weir.service_pid()
    rows = weir.json("ps")
    (guard,) = [row["pid"] for row in rows if row["role"] == "guard"]
    (server,) = [row["pid"] for row in rows if row["role"] == "engine"]
    os.kill(guard, signal.SIGSTOP)
    until(lambda: psutil.Process(guard).status() == psutil.STATUS_STOPPED, "a guard that stands")
    for pid in (service, guard):
        os.kill(pid, signal.SIGKILL)
    until(lambda: not any(is_alive(pid) for pid in (service, guard, server)), "their end")
    return weir.engine_pids()


def kill_terminal(weir: Weir, *, limit_s: float = LIMIT_S) -> float:
    """Kill a terminal with all that runs in it; return the seconds until nothing is left."""
    shown = weir.start("up")
    assert shown.stderr is not None
    until(lambda: weir.engine_state() == "ready", "an engine that serves", limit_s=limit_s)
    service = weir.service_pid()
    family = [one.pid for one in psutil.Process(shown.pid).children(recursive=True)]
    killed_s = time.monotonic()
    os.killpg(shown.pid, signal.SIGKILL)
    until(lambda: weir.engine_pids() == [], "the end of the engine")
    until(lambda: not is_alive(service), "the end of the service")
    took_s = time.monotonic() - killed_s
    assert [pid for pid in family if is_alive(pid)] == []
    shown.communicate()
    return took_s


def table(rounds: list[Round]) -> str:
    """Return the medians and the worst of each victim, as a table."""
    lines = [
        "| killed | rounds | shown, s | backing off, s | serving again, s | over its own boot, s |",
        "|---|---|---|---|---|---|",
    ]
    for part in dict.fromkeys(one.victim for one in rounds):
        of_part = [one for one in rounds if one.victim == part]
        cells = [
            _figure([one.shown_s for one in of_part]),
            _figure([one.down_s for one in of_part]),
            _figure([one.serving_s for one in of_part]),
            _figure([one.over_boot_s for one in of_part]),
        ]
        lines.append(f"| {part} | {len(of_part)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _figure(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} (worst {max(values):.2f})"
