"""The real `weir` as a child process, in a home of its own; fake engine or real one."""

import contextlib
import dataclasses
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil

from studio.app.settings import Settings
from studio.host.child import MARKER
from studio.host.documents import write_json
from studio.host.paths import Paths, bundled_root
from tests.fakes.catalogue import install_fake, make_catalogue

LIMIT_S = 60.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Weir:
    """One home and the commands run in it."""

    paths: Paths
    environment: Mapping[str, str]
    port: int
    started: list[subprocess.Popen[str]] = dataclasses.field(default_factory=list)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command and return its process."""
        process = subprocess.Popen(
            [sys.executable, "-m", "studio", *words],
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.paths.home,
            start_new_session=True,
            preexec_fn=_as_from_a_shell,
        )
        self.started.append(process)
        return process

    def run(self, *words: str, limit_s: float = LIMIT_S) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, whatever its exit status."""
        process = self.start(*words)
        try:
            output, errors = process.communicate(timeout=limit_s)
        finally:
            process.kill()
        return subprocess.CompletedProcess(words, process.returncode, output, errors)

    def json(self, *words: str, limit_s: float = LIMIT_S) -> Any:
        """Run a command that prints one document, and return it; the command must succeed."""
        done = self.run(*words, "--json", limit_s=limit_s)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def begin_service(self) -> None:
        """Start the service alone, so that a failed `up` leaves one to be asked about it."""
        self.start("service", "run")
        deadline = time.monotonic() + LIMIT_S
        while not (self.paths.service / "service.json").exists():
            assert time.monotonic() < deadline, "the service did not start"
            time.sleep(0.02)

    def service_pid(self) -> int:
        """Return the process id of the running service."""
        address = json.loads((self.paths.service / "service.json").read_bytes())
        return int(address["pid"])

    def engine_pids(self) -> list[int]:
        """Return every living engine process that this home's service started."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                is_ours = process.environ().get(MARKER) == str(self.paths.home)
                if is_ours and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process.pid)
        return found

    def end(self) -> None:
        """End whatever is left, without asking."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.kill(self.service_pid(), signal.SIGKILL)
        for pid in self.engine_pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in self.started:
            process.kill()
            process.communicate()


def _as_from_a_shell() -> None:
    """Let signals work, also where the tests themselves run under `nohup` or in the background."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def free_port() -> int:
    """Return a loopback port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def weir_home(home: Path, catalogue: Path | None, person: Path | None = None) -> Iterator[Weir]:
    """Yield a `weir` in `home`; `catalogue` None means the shipped one.

    `person` is a folder to be $HOME, in which nobody else writes.
    """
    home.mkdir(parents=True, exist_ok=True)
    paths = Paths(home=home, catalogue=catalogue or bundled_root())
    port = free_port()
    write_json(paths.settings_file, Settings(port=port))
    environment = {**os.environ, "WEIR_HOME": str(home), "NO_COLOR": "1"}
    environment.pop("WEIR_CATALOGUE", None)
    environment["PYTHONPATH"] = str(bundled_root())
    if catalogue is not None:
        environment["WEIR_CATALOGUE"] = str(catalogue)
    if person is not None:
        pip_config = Path.home() / ".config" / "pip" / "pip.conf"
        if pip_config.is_file():  # where packages come from is the machine's matter
            environment.setdefault("PIP_CONFIG_FILE", str(pip_config))
        for name in [name for name in environment if name.startswith("XDG_")]:
            del environment[name]
        environment["HOME"] = str(person)
    weir = Weir(paths=paths, environment=environment, port=port)
    try:
        yield weir
    finally:
        weir.end()


@contextlib.contextmanager
def fake_weir(folder: Path, **options: Any) -> Iterator[Weir]:
    """Yield a `weir` whose only preset serves the fake engine, installed already."""
    catalogue = make_catalogue(folder / "catalogue", **options)
    with weir_home(folder / "wéir home", catalogue) as weir:
        install_fake(weir.paths)
        yield weir
