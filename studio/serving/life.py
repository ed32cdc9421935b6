"""One engine from spawn to end: its process, its boot read from the log, its first token.

Knows nothing of states; supervisor.py decides. Ready means that a token was generated, because an
engine can answer `/health` and die on its first request.
"""

import asyncio
import contextlib
import dataclasses
import json
import re
import secrets
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import msgspec

from studio.domain.errors import EngineFailed, ErrorInfo, StudioError
from studio.domain.server import BootPhase, EngineSnapshot, EngineState, PhaseTime
from studio.host import child as host_child
from studio.host import orphans, processes
from studio.host.http_client import Upstream
from studio.host.pidwatch import End, PidWatch
from studio.serving import phases
from studio.serving.command import Launch
from studio.serving.liveness import Liveness
from studio.serving.logs import LogKeeper
from studio.serving.slow_paths import Watch

DIED_WITH_SERVICE_S = 4.0
"""How long the guard lets an engine take to end when the service itself is gone."""
_FIRST_TOKEN_S = 120.0
_POLL_S = 1.0
_LISTEN_POLL_S = 0.01
_LAST_OUTPUT_S = 2.0
"""How long output may still come after the engine's end; a stray holder of the pipe ends it."""
_BOOT_PART_S = 10.0
"""How long a booting engine may go on after one of its processes is gone: one that notices ends by
itself, and explains better."""
_KEPT_LINES = 4_000
_EVIDENCE_LINES = 5
_SPEAKER = re.compile(
    r"\(((?:EngineCore|Worker|VllmWorker|ApiServer|DPCoordinator)[\w-]{0,64}) pid=(\d{1,9})\) "
)
"""How vLLM begins the lines of those of its processes that it cannot go on without."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """How to reach the engine that serves now."""

    upstream: Upstream
    key: str
    served_name: str
    preset: str | None = None
    """None: somebody else's engine."""


class Life:
    """One engine. `run` returns when nothing of it is left."""

    def __init__(
        self,
        launch: Launch,
        *,
        home: Path,
        log: LogKeeper,
        on_news: Callable[[], None],
        watch: Watch | None = None,
    ) -> None:
        self.launch = launch
        self.key = secrets.token_hex(32)
        self.upstream = Upstream(socket_path=Path(launch.socket))
        self.exit_code: int | None = None
        self.boot_s: float | None = None
        self.problem: ErrorInfo | None = None
        self.verdict: ErrorInfo | None = None
        """The known failure that it died of, if it was one."""
        self._home = home
        self._log = log
        self._on_news = on_news
        self._signs = watch
        self._child: host_child.Child | None = None
        self._is_ending = False
        self._started_at = time.time()
        self._started = time.monotonic()
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self._said: tuple[str, ...] | None = None
        self._phases: list[PhaseTime] = []
        self._share: float | None = None
        self._known = phases.Known()
        self._reader = phases.Reader()
        self._is_listening = asyncio.Event()
        self._watch: PidWatch | None = None
        self._lost = asyncio.Event()
        self._lost_part: str | None = None
        self._lost_by: int | None = None
        self.liveness = Liveness(launch.stall_s)

    @property
    def target(self) -> Target:
        """How to reach it."""
        launch = self.launch
        return Target(
            upstream=self.upstream,
            key=self.key,
            served_name=launch.served_name,
            preset=launch.preset,
        )

    @property
    def parts(self) -> frozenset[int]:
        """Its living processes as far as they are known, its own included."""
        watched = self._watch.pids if self._watch is not None else frozenset()
        return watched | {self._child.pid} if self._child is not None else watched

    @property
    def lines(self) -> tuple[str, ...]:
        """The newest lines of its log, oldest first."""
        return tuple(self._lines)

    @property
    def last_lines(self) -> tuple[str, ...]:
        """The few that stand for its log where nothing in it explains an end."""
        return self.lines[-_EVIDENCE_LINES:]

    @property
    def said(self) -> tuple[str, ...]:
        """The same until it was killed from here: what is said after that is the kill's doing."""
        return self.lines if self._said is None else self._said

    @property
    def facts(self) -> phases.Facts:
        """What its boot has said so far."""
        return self._known.facts

    @property
    def pid(self) -> int | None:
        """The engine's own process, while there is one."""
        return self._child.pid if self._child else None

    def complete(self, snapshot: EngineSnapshot) -> EngineSnapshot:
        """Return `snapshot` with what this engine knows of itself."""
        is_booting = snapshot.state is EngineState.STARTING and bool(self._phases)
        return msgspec.structs.replace(
            snapshot,
            pid=self.pid,
            started_at=self._started_at,
            phase=self._phases[-1].phase if is_booting else None,
            phase_share=self._share,
            phases=tuple(self._phases),
            elapsed_s=self.elapsed_s,
            boot_s=self.boot_s,
            pool_tokens=self._known.whole("pool_tokens"),
            max_model_len=self._known.whole("max_model_len"),
            badges=self._signs.badges if self._signs is not None else (),
        )

    def terminate(self) -> None:
        """Ask it to end. Requests still with it are cut off first, each with a word of ours: an
        engine told to end with streams running may hang until its clients give up.
        """
        self._is_ending = True
        self.upstream.cut_off_all()
        if self._child is not None:
            self._child.terminate()

    def kill(self) -> None:
        """End it, now or as soon as it exists; whoever is still asking it gets a word of ours."""
        self._is_ending = True
        self._said = self.said
        self.upstream.cut_off_all()
        if self._child is not None:
            self._child.kill()

    async def run(
        self,
        *,
        on_start: Callable[[int], None],
        on_ready: Callable[[], None],
        on_unusable: Callable[[], None],
        on_part_died: Callable[[bool], None],
    ) -> None:
        """Start it, read its log and wait for its end; calls back at most once for each.

        `on_part_died` is told whether nobody of the rest can say why.

        Raises: EngineFailed (`engine-not-started`).
        """
        self._log.add_secrets(self.key)
        self._enter(BootPhase.INTERPRETER)
        running = await host_child.start(
            self.launch.argv,
            {
                **self.launch.environment,
                "VLLM_API_KEY": self.key,
                host_child.MARKER: str(self._home),
                host_child.TITLES_APART: "1",
            },
            python=self.launch.python,
            cwd=self._home,
            grace_s=DIED_WITH_SERVICE_S,
        )
        self._child = running
        self._watch = PidWatch(running.pid, self._on_part_end)
        self._watch.add("server", running.pid)
        if self._is_ending:
            running.kill()
        self._on_news()
        on_start(running.pid)
        try:
            async with asyncio.TaskGroup() as tasks:
                pump = tasks.create_task(running.pump(self._on_output))
                watch = tasks.create_task(self._become_ready(on_ready, on_unusable))
                parts = tasks.create_task(self._miss_parts(on_part_died))
                self.exit_code = await running.wait()
                watch.cancel()
                parts.cancel()
                if self.exit_code is None:  # the guard was killed and could not clear up
                    await asyncio.to_thread(orphans.sweep, self._home)
                await asyncio.wait([pump], timeout=_LAST_OUTPUT_S)
                pump.cancel()
        finally:
            self._child = None
            self._watch.close()
            await running.close()
            self.upstream.close()
            await asyncio.to_thread(Path(self.launch.socket).unlink, missing_ok=True)
            self._log.finish()

    @property
    def lost_part(self) -> str | None:
        """Name the process that ended first and unasked; None: none is known."""
        return self._lost_part

    @property
    def died_by(self) -> int | None:
        """Return how it ended, as an exit code; None: by us, or nothing is known.

        A part that was killed tells more than the rest, which follows in an orderly way.
        """
        if self._lost_by is not None:
            return -self._lost_by
        return None if self._is_ending else self.exit_code

    def last_words(self) -> ErrorInfo:
        """Return what can be said of its end when no known failure was recognised."""
        if self.problem is not None:
            return self.problem
        when = "while serving" if self.boot_s is not None else "before it was ready"
        message = f"The engine {self._how_ended()} {when}."
        if self._lost_part is not None:
            message = f"{self._lost_part}, a process of the engine, ended {when}."
        return ErrorInfo(
            code="engine-died",
            message=message,
            hint="The last lines of its log say more: `weir logs`.",
            evidence=self.last_lines,
            exit_status=EngineFailed.exit_status,
        )

    def _how_ended(self) -> str:
        if self.exit_code is None or self._is_ending:
            return "ended"
        if self.exit_code < 0:
            return f"was ended by signal {-self.exit_code}"
        return f"ended with exit code {self.exit_code}"

    @property
    def elapsed_s(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self._started

    def _enter(self, phase: BootPhase) -> None:
        """Begin `phase`; phases never go back, and the first one leaves nothing out."""
        now = self.elapsed_s if self._phases else 0.0
        if self._phases:
            last = self._phases[-1]
            if not phases.is_later(phase, last.phase):
                return
            self._phases[-1] = msgspec.structs.replace(last, ended_s=now)
        self._phases.append(PhaseTime(phase=phase, started_s=now))
        self._share = None

    def _on_output(self, data: bytes) -> None:
        is_news = False
        for line in self._log.feed(data):
            self._lines.append(line)
            if self._signs is not None and self._signs.offer(line):
                is_news = True
            speaker = _SPEAKER.match(line)
            if speaker is not None and self._watch is not None:
                self._watch.add(speaker[1], int(speaker[2]))
            sign = self._reader.read(line) if self.boot_s is None else None
            if sign is not None:
                is_news = True
                self._learn(sign)
        if is_news:
            self._on_news()

    def _learn(self, sign: phases.Sign) -> None:
        if sign.phase is not None:
            self._enter(sign.phase)
        self._share = sign.share
        self._known.learn(sign)
        if sign.facts.get("startup_complete"):
            self._is_listening.set()

    # -- its processes ---------------------------------------------------------------------

    def _on_part_end(self, end: End) -> None:
        if self._is_ending or self._lost.is_set():
            return
        if self._child is None or end.pid != self._child.pid:
            self._lost_part = f"{end.name} (process {end.pid})"
        elif self.boot_s is None:
            return  # its exit code tells more, in a moment
        self._lost_by = end.signal
        self._lost.set()

    async def _miss_parts(self, on_part_died: Callable[[bool], None]) -> None:
        """Call back once one of its processes is gone; a boot has time to end by itself."""
        await self._lost.wait()
        is_booting = self.boot_s is None
        if is_booting:
            await asyncio.sleep(_BOOT_PART_S)
        on_part_died(self._lost_by is not None and not is_booting)

    async def _find_parts(self) -> None:
        """Watch those too that have not spoken: a quiet worker may be killed as well."""
        if self._child is None or self._watch is None:
            return
        for name, pid in await asyncio.to_thread(processes.titled, self._child.pid):
            self._watch.add(name, pid)

    # -- its first token, and later ones ---------------------------------------------------

    async def probe(self) -> bool:
        """Ask for one token while it serves; tell whether one came, in the time of a standstill.

        Raises: EngineFailed (`engine-cannot-generate`, …) when it answers with an error.
        """
        try:
            async with asyncio.timeout(self.launch.stall_s):
                await self._generate(2 * self.launch.stall_s)  # it is we who give up
        except TimeoutError:
            self.liveness.gave_up()
            return False
        self.liveness.moved()
        return True

    async def _become_ready(
        self, on_ready: Callable[[], None], on_unusable: Callable[[], None]
    ) -> None:
        """Generate one token as soon as it listens."""
        try:
            async with asyncio.timeout(self.launch.ready_within_s):
                await self._wait_until_listening()
                self._enter(BootPhase.FIRST_TOKEN)
                self._on_news()
                await self._generate(max(_FIRST_TOKEN_S, self.launch.stall_s))
        except TimeoutError:
            self.problem = ErrorInfo(
                code="engine-too-slow",
                message=f"The engine was not ready within {self.launch.ready_within_s:.0f} s.",
                hint="Look at the last lines of its log: `weir logs`.",
                evidence=self.last_lines,
                exit_status=EngineFailed.exit_status,
            )
            on_unusable()
        except StudioError as error:
            self.problem = error.info
            on_unusable()
        else:
            self.boot_s = self.elapsed_s
            self._phases[-1] = msgspec.structs.replace(self._phases[-1], ended_s=self.boot_s)
            on_ready()
            await self._find_parts()

    async def _wait_until_listening(self) -> None:
        """Wait for `/health`, often once the log says that the server is up.

        The line comes a moment before the socket takes connections; and should its wording change
        one day, the slow look still finds the engine.
        """
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_POLL_S):
                    await self._is_listening.wait()
            with contextlib.suppress(StudioError):
                status, _, _ = await self.upstream.fetch("GET", "/health", timeout_s=_POLL_S)
                if status == 200:
                    return
            await asyncio.sleep(_LISTEN_POLL_S)

    async def _generate(self, within_s: float) -> None:
        body = {
            "model": self.launch.served_name, "prompt": "1, 2, 3,", "max_tokens": 1,
            "temperature": 0,
        }  # fmt: skip
        status, _, answer = await self.upstream.fetch(
            "POST",
            "/v1/completions",
            headers=[
                (b"content-type", b"application/json"),
                (b"authorization", f"Bearer {self.key}".encode()),
            ],
            body=json.dumps(body).encode(),
            timeout_s=within_s,
        )
        if status != 200 or b'"choices"' not in answer:
            raise EngineFailed(
                "engine-cannot-generate",
                f"The engine is up but did not generate a token (status {status}).",
                hint="Its log says why: `weir logs`.",
                evidence=(answer[:500].decode("utf-8", "replace"),),
            )
