"""The real `weir` as a child process, in a home of its own; fake engine or real one."""

import contextlib
import dataclasses
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import psutil

from studio.app.settings import Settings
from studio.control.address import read_address
from studio.host.child import MARKER
from studio.host.documents import write_json
from studio.host.paths import Paths, bundled_root
from tests.fakes.catalogue import install_fake, make_catalogue
from tests.fakes.waiting import until

LIMIT_S = 60.0
_LOWEST_PORT, _PORTS = 20_000, 12_000
"""Below those that Linux gives to connections and to listeners that ask for any (32768 and up):
one of these might be taken by then."""


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

    def told(self, path: str = "status") -> Any:
        """Return what the service answers to one question, or an empty document without one.

        For whoever waits for a state: a command a look would take the machine from what is
        waited for.
        """
        found = read_address(self.paths)
        if found is None:
            return {}
        address, token = found
        with contextlib.suppress(httpx.HTTPError):
            answer = httpx.get(
                f"http://127.0.0.1:{address.port}/control/v1/{path}",
                headers={"Authorization": f"Bearer {token}"},
                timeout=LIMIT_S,
                trust_env=False,
            )
            if answer.status_code == httpx.codes.OK:
                return answer.json()
        return {}

    def engine_state(self) -> str:
        """Return the engine's state; `unknown` without a service."""
        return str(self.told().get("engine", {}).get("state", "unknown"))

    def begin_service(self, *words: str) -> subprocess.Popen[str]:
        """Start the service alone, so that a failed `up` leaves one to be asked about it."""
        process = self.start("service", "run", *words)
        until((self.paths.service / "service.json").exists, "the service", limit_s=LIMIT_S)
        return process

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
        forget_sockets(self.paths)


def forget_sockets(paths: Paths) -> None:
    """Remove the folder of sockets outside a home; the service, when it may, does it itself."""
    if paths.sockets != paths.service:
        shutil.rmtree(paths.sockets, ignore_errors=True)


def _as_from_a_shell() -> None:
    """Let signals work, also where the tests themselves run under `nohup` or in the background."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def free_port() -> int:
    """Return a loopback port that nobody listens on, and that nobody is given by accident."""
    while True:
        port = _LOWEST_PORT + secrets.randbelow(_PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


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
