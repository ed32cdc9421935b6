"""A running fake engine for a test, and a plain client for whatever engine listens on a socket."""

import contextlib
import dataclasses
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

FAKE = Path(__file__).resolve().with_name("fake_vllm.py")
PYTHON = (sys.executable, "-I", "-S")
KEY = "key-of-this-boot"
DEADLINE_S = 20.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> object:
        """Return the body's document."""
        return json.loads(self.body)

    def events(self) -> list[tuple[str, object]]:
        """Return the events of a stream: name and document, or name and text."""
        events: list[tuple[str, object]] = []
        for block in self.body.decode().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
            if "data" in fields:
                data = fields["data"]
                document = json.loads(data) if data.startswith("{") else data
                events.append((fields.get("event", ""), document))
        return events


class _Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket, or over loopback."""

    def __init__(self, path: str | None, port: int | None) -> None:
        super().__init__("127.0.0.1", port, timeout=DEADLINE_S)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket that was named."""
        if self._path is None:
            super().connect()
            return
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(DEADLINE_S)
        self.sock.connect(self._path)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Where an engine listens, and its key."""

    key: str | None
    served_name: str
    path: str | None = None
    port: int | None = None

    def call(
        self,
        method: str,
        target: str,
        body: object = None,
        *,
        key: str | None = "",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request; `key` is the engine's own unless given (None: without)."""
        with contextlib.closing(_Connection(self.path, self.port)) as connection:
            response = self.begin(connection, method, target, body, key=key, headers=headers)
            raw = response.read()
        return Answer(
            status=response.status,
            headers={name.lower(): value for name, value in response.getheaders()},
            body=raw,
        )

    def begin(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        target: str,
        body: object = None,
        *,
        key: str | None = "",
        headers: Mapping[str, str] | None = None,
    ) -> http.client.HTTPResponse:
        """Send one request and return its answer before it is read."""
        fields = dict(headers or {})
        key = self.key if key == "" else key
        if key is not None:
            fields["Authorization"] = f"Bearer {key}"
        data = body if isinstance(body, str | bytes | None) else json.dumps(body)
        if data is not None:
            fields.setdefault("Content-Type", "application/json")
        connection.request(method, target, data, fields)
        return connection.getresponse()

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection of one's own."""
        return _Connection(self.path, self.port)


class Running:
    """One fake engine that was started."""

    def __init__(self, process: subprocess.Popen[bytes], engine: Engine) -> None:
        self.process = process
        self.engine = engine
        self.lines: list[str] = []

    @property
    def output(self) -> IO[bytes]:
        """Return what it prints, standard output and error together."""
        assert self.process.stdout is not None
        return self.process.stdout

    def read_until(self, needle: str) -> str:
        """Read its log up to a line that holds `needle`, and return that line."""
        for raw in self.output:
            line = raw.decode().rstrip("\r\n")
            self.lines.append(line)
            if needle in line:
                return line
        raise AssertionError("\n".join([f"`{needle}` never came:", *self.lines[-20:]]))

    def wait(self) -> int:
        """Read the rest of its log and return its exit status."""
        self.lines += self.output.read().decode().splitlines()
        return self.process.wait(DEADLINE_S)

    def group(self) -> dict[int, str]:
        """Return the living processes of its group: pid and name."""
        found = {}
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError):
                    name, _, rest = (folder / "stat").read_text().partition(") ")
                    state, _parent, group = rest.split()[:3]
                    if int(group) == self.process.pid and state != "Z":
                        found[int(folder.name)] = name.partition("(")[2]
        return found


@contextlib.contextmanager
def fake(
    *flags: str,
    model: str | None = None,
    served_name: str = "smollm2",
    fault: str = "",
    boot_s: float = 0.02,
    tokens_per_s: float = 2000.0,
    environment: Mapping[str, str] | None = None,
    waits: bool = True,
) -> Iterator[Running]:
    """Run a fake engine on a Unix socket; at the end nothing of it is left."""
    with tempfile.TemporaryDirectory(prefix="fake-", ignore_cleanup_errors=True) as folder:
        path = str(Path(folder) / "engine.sock")
        command = [*PYTHON, str(FAKE), "serve", model or folder, "--uds", path]
        process = subprocess.Popen(
            [*command, "--served-model-name", served_name, *flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={
                "PATH": os.environ["PATH"],
                "VLLM_API_KEY": KEY,
                "FAKE_VLLM_BOOT_S": str(boot_s),
                "FAKE_VLLM_TOKENS_PER_S": str(tokens_per_s),
                "FAKE_VLLM_FAULT": fault,
                **(environment or {}),
            },
        )
        running = Running(process, Engine(key=KEY, served_name=served_name, path=path))
        try:
            if waits:
                running.read_until("Application startup complete.")
            yield running
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(DEADLINE_S)
            running.output.close()
