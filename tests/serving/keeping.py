"""A supervisor over the fake engine, with all that it announces kept for the test to look at."""

import asyncio
import contextlib
import dataclasses
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from studio.domain.errors import ErrorInfo, StudioError
from studio.domain.metrics import LogLine
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.settings import CareSettings
from studio.host import processes
from studio.host.child import MARKER
from studio.host.paths import Paths, bundled_root
from studio.serving import diagnose
from studio.serving.command import Launch
from studio.serving.logs import LogKeeper
from studio.serving.supervisor import Supervisor
from tests.fakes.catalogue import install_fake_model
from tests.fakes.running import FAKE

LIMIT_S = 30.0
SIGNATURES = diagnose.load(bundled_root() / "runtimes" / "failures.toml")
PYTHON = str(Path(sys.executable).resolve())


def fake_launch(
    home: Path,
    model: Path,
    *,
    fault: str = "",
    boot_s: float = 0.05,
    number: int = 0,
    program: str | None = None,
) -> Launch:
    """Return a launch of the fake engine, or of a `program` that gets the socket as its word."""
    socket = str(home / f"engine-{number}.sock")
    engine = (
        PYTHON, "-I", "-S", str(FAKE), "serve", str(model), "--uds", socket,
        "--served-model-name", "smollm2", "--max-model-len", "2048",
        "--disable-uvicorn-access-log",
    )  # fmt: skip
    return Launch(
        argv=engine if program is None else (PYTHON, "-c", program, socket),
        environment={
            "PATH": os.environ["PATH"],
            "FAKE_VLLM_BOOT_S": str(boot_s),
            "FAKE_VLLM_TOKENS_PER_S": "0",
            "FAKE_VLLM_FAULT": fault,
        },
        preset="fake-demo",
        served_name="smollm2",
        runtime="fake",
        runtime_id="f" * 64,
        knobs={},
        overrides={"fault": fault},
        python=PYTHON,
        socket=socket,
        ready_within_s=LIMIT_S,
        drain_s=5.0,
    )


async def explain(lines: Sequence[str], code: int | None) -> ErrorInfo | None:
    """Find the cause as the service does."""
    return await asyncio.to_thread(diagnose.diagnose, lines, code, SIGNATURES)


async def no_drain(_within_s: float) -> None:
    """Nobody is being answered."""


@dataclasses.dataclass(slots=True, kw_only=True)
class Keeping:
    """One supervisor of one home."""

    home: Path
    model: Path
    supervisor: Supervisor
    log: LogKeeper
    seen: list[EngineSnapshot]
    changed: asyncio.Event

    def launch(
        self, *, fault: str = "", boot_s: float = 0.05, number: int = 0, **changes: Any
    ) -> Launch:
        """Return a launch of the fake engine; `number` makes another socket."""
        made = fake_launch(self.home, self.model, fault=fault, boot_s=boot_s, number=number)
        return dataclasses.replace(made, **changes)

    def program(self, code: str) -> Launch:
        """Return a launch of any program in the engine's place."""
        return fake_launch(self.home, self.model, program=code)

    @property
    def states(self) -> list[EngineState]:
        """Return the states announced so far, each once in a row."""
        states: list[EngineState] = []
        for snapshot in self.seen:
            if not states or states[-1] is not snapshot.state:
                states.append(snapshot.state)
        return states

    async def until(self, holds: Callable[[EngineSnapshot], bool]) -> EngineSnapshot:
        """Wait for an announcement, from now on, of which something holds."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                count = len(self.seen)
                await self.changed.wait()
                for snapshot in self.seen[count:]:
                    if holds(snapshot):
                        return snapshot

    async def until_state(self, state: EngineState) -> EngineSnapshot:
        """Wait until the engine is in `state`, which it may be already."""
        now = self.supervisor.snapshot()
        return now if now.state is state else await self.until(lambda s: s.state is state)

    def left(self) -> list[str]:
        """Return what still exists of any engine: processes and sockets."""
        names = [" ".join(one.cmdline()) for one in processes.marked(self.home)]
        return names + [path.name for path in self.home.glob("*.sock")]

    def make_folder(self, path: str) -> None:
        """Put a folder where something else is expected."""
        Path(path).mkdir()

    def leave_orphan(self) -> subprocess.Popen[bytes]:
        """Start a process as an earlier service of this home would have left it.

        Not through the event loop: who sweeps may reap it first, and the loop would wait for ever.
        """
        return subprocess.Popen(
            [PYTHON, "-c", "import threading; threading.Event().wait()"],
            env={**os.environ, MARKER: str(self.home)},
        )

    def lines(self) -> list[LogLine]:
        """Return the log."""
        return self.log.tail(100_000)


async def refused(kept: Keeping, launch: Launch) -> StudioError:
    """Return the error that a start ends with."""
    try:
        async with asyncio.timeout(LIMIT_S):
            await kept.supervisor.ensure_ready(launch)
    except StudioError as error:
        return error
    raise AssertionError("it started")


@contextlib.asynccontextmanager
async def keeping(
    folder: Path,
    *,
    drain: Callable[[float], Awaitable[None]] = no_drain,
    care: Callable[[], CareSettings] = CareSettings,
    before_start: Callable[[Launch], Awaitable[None]] | None = None,
    crashes: Path | None = None,
) -> AsyncIterator[Keeping]:
    """Yield a running supervisor; on the way out it is cancelled, which ends its engine.

    `crashes`: what an earlier service of this home left of its engines' deaths.
    """
    home = Path(tempfile.mkdtemp(prefix="wéir "))  # short enough for a socket
    if crashes is not None:
        shutil.copytree(crashes, home / "logs" / "crashes")
    model = install_fake_model(Paths(home=folder / "modèle home", catalogue=bundled_root()))
    seen: list[EngineSnapshot] = []
    changed = _Pulse()
    log = LogKeeper(
        home / "logs" / "engine.log", clock=time.time, on_lines=lambda _lines, _dropped: None
    )

    def publish(snapshot: EngineSnapshot) -> None:
        seen.append(snapshot)
        changed.beat()

    supervisor = Supervisor(
        home=home,
        log=log,
        diagnose=explain,
        publish=publish,
        drain=drain,
        forecast_s=lambda _launch: 12.5,
        care=care,
        before_start=before_start,
    )
    made = Keeping(
        home=home, model=model, supervisor=supervisor, log=log, seen=seen, changed=changed
    )
    try:
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(supervisor.run())
            await asyncio.sleep(0)
            try:
                yield made
            finally:
                running.cancel()
    finally:
        log.close()
        shutil.rmtree(home, ignore_errors=True)


class _Pulse(asyncio.Event):
    """An event that wakes those who wait now, and nobody later."""

    def beat(self) -> None:
        """Wake them."""
        self.set()
        self.clear()
