"""The fake engine's life: boot by the recorded script, serve, end in one of many ways."""

import asyncio
import contextlib
import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

from tests.fakes.vllm import http, log, tree
from tests.fakes.vllm.api import Api
from tests.fakes.vllm.engine import Engine
from tests.fakes.vllm.settings import Settings

BOOT_LOG = log.ENGINE / "boot" / "main-ngram-apikey.timed.log"
_BANNER = "non-default args:"
_CORE_SPEAKS = "Initializing a V1 LLM engine"
_READY = "Application startup complete."
_POOL_IS_MADE = "init engine ("
_LINGER_S = 0.2
"""Between the engine's death and the end of the process; 5 s with the real one."""

_CRASH = "lifecycle/hybrid-float32-crash-on-first-request.log"
_CORE_KILLED = "lifecycle/main-then-kill9-enginecore.log"
_WORKER_KILLED = "lifecycle/unknown-env-then-kill9-worker.log"
_ABORTED = "boot/smollm2-f32-eager.log"
_DRAINED = "lifecycle/sigint-drain-20s.log"


def run(settings: Settings) -> int:
    """Live one life; returns the exit status."""
    tree.rename("vllm")
    if "ignore-sigterm" in settings.faults:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    life = Life(settings)
    status = life.boot()
    return asyncio.run(life.serve()) if status is None else status


class Life:
    """One fake engine."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._printer = log.Printer(settings)
        self._began = time.monotonic()
        self._socket: socket.socket | None = None
        self._tree: tree.Tree | None = None

    def boot(self) -> int | None:
        """Print the boot; returns an exit status when it fails."""
        settings, faults = self._settings, self._settings.faults
        if not Path(settings.model).is_dir() and settings.model.startswith("/"):
            return self._fail("model-missing", 1)
        self._socket = self._bind()
        if self._socket is None or "port-in-use" in faults:
            return self._fail("port-in-use", 1)
        if "refuse-kv-cold" in faults and self._is_first():
            return self._replay(log.ENGINE / "phases" / "cold-refusal.log", 1)
        if "refuse-kv" in faults or settings.pool_tokens < settings.max_model_len:
            return self._fail("maxlen-too-large-kv", 1)
        if "die-in-boot" in faults:
            return self._fail("oom-ulimit", 1)
        script = log.read(settings.boot_log or BOOT_LOG)
        if settings.boot_log is None:
            script = log.without_speculation(script)
        if settings.is_patched:
            script = log.with_ledger(script, _POOL_IS_MADE, settings)
        end = next(index for index, (_, line) in enumerate(script) if _READY in line)
        self._play(script[:end], hang="hang-in-boot" in faults)
        return None

    async def serve(self) -> int:
        """Serve until told to stop, or until the engine is dead; returns 0 like the real one."""
        engine = Engine(self._settings)
        api = Api(engine, on_first_request=lambda: self._on_request(engine))
        loop = asyncio.get_running_loop()
        stop, dead = asyncio.Event(), asyncio.Event()
        if "ignore-sigterm" not in self._settings.faults:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, stop.set)
        loop.add_signal_handler(signal.SIGCHLD, lambda: self._on_child(engine, dead))
        server = await asyncio.start_server(
            lambda reader, writer: http.serve_connection(api.handle, reader, writer),
            sock=self._socket,
            limit=http.MAX_HEAD,
        )
        self._printer.show(f"INFO:     {_READY}")
        self._on_child(engine, dead)
        async with asyncio.TaskGroup() as tasks:
            helpers = [tasks.create_task(self._misbehave())]
            helpers += [tasks.create_task(_wait(event)) for event in (stop, dead)]
            await asyncio.wait(helpers[1:], return_when=asyncio.FIRST_COMPLETED)
            for helper in helpers:
                helper.cancel()
        if dead.is_set():
            await _until(lambda: api.in_flight == 0, _LINGER_S)
            server.close()
            await asyncio.sleep(_LINGER_S)
        else:
            await self._stop(engine, api, server)
        return 0

    def _play(self, script: list[tuple[float, str]], *, hang: bool = False) -> None:
        """Print a script at the recorded cadence, sped up; processes appear where they speak."""
        boot_s = self._settings.faults.get("slow-boot", self._settings.boot_s)
        pace = boot_s / max(script[-1][0], 0.001)
        for at, line in script:
            if hang and at > script[-1][0] / 2:
                while True:
                    time.sleep(60)
            if _BANNER in line and "ignore-sigterm" not in self._settings.faults:
                # Observed with 0.32.0: from here on until it serves, SIGTERM is lost.
                signal.signal(signal.SIGTERM, lambda *_: None)
            if _CORE_SPEAKS in line and self._tree is None:
                self._grow()
            self._wait_until(at * pace)
            self._printer.show(line)
        self._wait_until(boot_s)
        if self._tree is None and not hang:
            self._grow()

    def _fail(self, recording: str, status: int) -> int:
        """Replay a failed boot."""
        return self._replay(log.ENGINE / "failures" / f"{recording}.log", status)

    def _is_first(self) -> bool:
        """Return whether no engine has compiled in this place yet; now one has."""
        mark = Path(self._settings.uds or self._settings.model).parent / "fake-compiled"
        is_first = not mark.exists()
        mark.touch()
        return is_first

    def _replay(self, path: Path, status: int) -> int:
        self._play(log.read(path))
        if self._tree is not None:
            self._tree.end()
        return status

    def _grow(self) -> None:
        grown = tree.grow(
            self._socket,
            ignores_sigterm="ignore-sigterm" in self._settings.faults,
            workers=self._settings.workers,
        )
        self._tree = grown
        self._printer.pids |= {"EngineCore": grown.core_pid, "Worker": grown.worker_pid}

    def _wait_until(self, second: float) -> None:
        left = self._began + second - time.monotonic()
        if left > 0:
            time.sleep(left)

    def _bind(self) -> socket.socket | None:
        """Take the address, as the real one does, before any model is touched."""
        settings = self._settings
        try:
            if settings.uds:
                bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                bound.bind(settings.uds)
                return bound
            bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind((settings.host, settings.port))
        except OSError:
            return None
        return bound

    def _on_request(self, engine: Engine) -> None:
        engine.requests_seen += 1
        if "die-on-first-request" in self._settings.faults and engine.requests_seen == 1:
            self._printer.show_all(_CRASH, "WorkerProc hit an exception", "AsyncLLM output_handler")
            engine.die()  # no token comes out of it, however fast it would be
            if self._tree is not None:
                os.kill(self._tree.core_pid, signal.SIGTERM)

    def _on_child(self, engine: Engine, dead: asyncio.Event) -> None:
        """Notice that EngineCore ended, and die of it."""
        assert self._tree is not None
        ended = self._tree.ended()
        if ended is None or engine.is_stopping or dead.is_set():
            return
        if "deaf" in self._settings.faults:
            return
        engine.die()
        dead.set()
        if ended == tree.WORKER_DIED:
            self._printer.show_all(_WORKER_KILLED, "died unexpectedly", "INFO:     Shutting down")
        elif ended < 0:
            self._printer.show_all(_CORE_KILLED, "Parent process exited", "INFO:     Shutting down")
        else:
            self._printer.show_all(_CRASH, "AsyncLLM output_handler", "INFO:     Shutting down")
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._tree.worker_pid, signal.SIGKILL)

    async def _misbehave(self) -> None:
        """Do what the faults of a serving engine ask for."""
        faults = self._settings.faults
        async with asyncio.TaskGroup() as tasks:
            if "die-after" in faults:
                tasks.create_task(self._kill_core(faults["die-after"]))
            if "spew" in faults:
                tasks.create_task(self._spew(faults["spew"]))

    async def _kill_core(self, after_s: float) -> None:
        await asyncio.sleep(after_s)
        if self._tree is not None:
            os.kill(self._tree.core_pid, signal.SIGKILL)

    async def _spew(self, lines_per_s: float) -> None:
        line = self._printer.adapt(
            "(EngineCore pid=1) INFO 11-29 13:42:36 [flood.py:1] The same again, line number "
        )
        began, printed = time.monotonic(), 0
        while True:
            due = int((time.monotonic() - began) * lines_per_s)
            log.write("".join(f"{line}{number}\n" for number in range(printed, due)))
            printed = max(printed, due)
            await asyncio.sleep(0.02)

    async def _stop(self, engine: Engine, api: Api, server: asyncio.Server) -> None:
        """Abort or drain, end the processes, close."""
        timeout_s = self._settings.shutdown_timeout_s
        if timeout_s > 0:
            await _until(lambda: api.in_flight == 0, timeout_s)
        self._printer.show_all(
            _DRAINED if timeout_s else _ABORTED,
            "[shutdown] API server: shutdown triggered",
            "INFO:     Shutting down",
        )
        engine.stop()
        server.close()
        hangs = "hang-on-stop" in self._settings.faults
        await _until(lambda: api.in_flight == 0, 3600 if hangs else 1.0)
        assert self._tree is not None
        self._tree.end()
        self._printer.show_all(_ABORTED, "INFO:     Shutting down")


async def _wait(event: asyncio.Event) -> None:
    await event.wait()


async def _until(is_true: Callable[[], bool], within_s: float) -> None:
    """Wait for a state, at most for so long."""
    until = time.monotonic() + within_s
    while not is_true() and time.monotonic() < until:
        await asyncio.sleep(0.005)
