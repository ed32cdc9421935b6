"""Real git repositories made by git, and a server that hands them out by git's own upload-pack."""

import contextlib
import gzip
import http.server
import os
import subprocess
import threading
import urllib.parse
from collections.abc import Iterator, Mapping
from pathlib import Path

_IDENTITY = {
    "GIT_AUTHOR_NAME": "Tester",
    "GIT_AUTHOR_EMAIL": "tester@example.invalid",
    "GIT_AUTHOR_DATE": "2026-11-01T12:00:00+0000",
    "GIT_COMMITTER_NAME": "Tester",
    "GIT_COMMITTER_EMAIL": "tester@example.invalid",
    "GIT_COMMITTER_DATE": "2026-11-01T12:00:00+0000",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(folder: Path, *arguments: str, data: bytes | None = None) -> bytes:
    """Run git in a folder and return what it prints."""
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        env={**os.environ, **_IDENTITY},
        input=data,
        capture_output=True,
        check=True,
    )
    return done.stdout


def make_repository(folder: Path, files: Mapping[str, bytes], *, old: bool = True) -> str:
    """Make a repository whose second commit holds `files`; return that commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    if old:
        (folder / "old.txt").write_bytes(b"Only in the first commit.\n" * 50)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", "First")
        (folder / "old.txt").unlink()
    return commit(folder, files, "Second")


def commit(folder: Path, files: Mapping[str, bytes], message: str) -> str:
    """Write files, commit them, and return the commit."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        if data.startswith(b"#!"):
            path.chmod(0o755)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD").decode().strip()


class GitServer:
    """What the server was asked, and how it misbehaves."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.asked: list[str] = []
        self.bodies: list[bytes] = []
        self.moved_to: str | None = None
        self.status: int | None = None
        self.cut_at: int | None = None
        self.flip_at: int | None = None
        self.instead: bytes | None = None


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers from one repository; what it needs hangs on the listener."""

    def do_GET(self) -> None:
        """Introduce the repository."""
        server = self._listener.fake
        path = urllib.parse.urlsplit(self.path).path
        server.asked.append(self.path)
        if server.moved_to is not None and path.startswith("/series/"):
            self._moved(server.moved_to + self.path.removeprefix("/series"))
        elif not path.endswith("/info/refs") or server.status is not None:
            self._answer(b"", status=server.status or 404)
        else:
            head = b"001e# service=git-upload-pack\n0000" if not self._is_new() else b""
            self._answer(head + self._run(["--advertise-refs"], b""))

    def do_POST(self) -> None:
        """Hand out what is asked for, a little broken where a test wants it so."""
        server = self._listener.fake
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        server.asked.append(self.path)
        server.bodies.append(body)
        answer = bytearray(self._run([], body))
        if server.flip_at is not None:
            answer[server.flip_at] ^= 0xFF
        kind = "application/x-git-upload-pack-result"
        self._answer(bytes(answer[: server.cut_at]), kind=kind)

    @property
    def _listener(self) -> "_Listener":
        assert isinstance(self.server, _Listener)
        return self.server

    def _is_new(self) -> bool:
        return self.headers.get("Git-Protocol") == "version=2"

    def _run(self, arguments: list[str], body: bytes) -> bytes:
        version = {"GIT_PROTOCOL": "version=2"} if self._is_new() else {}
        return subprocess.run(
            [*self._listener.program, *arguments, self._listener.repository],
            input=body,
            env={**os.environ, **_IDENTITY, **version},
            capture_output=True,
            check=False,
        ).stdout

    def _moved(self, target: str) -> None:
        self.send_response(301)
        self.send_header("Location", target)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _answer(
        self,
        data: bytes,
        status: int = 200,
        kind: str = "application/x-git-upload-pack-advertisement",
    ) -> None:
        instead = self._listener.fake.instead
        data = data if instead is None else instead
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _Listener(http.server.ThreadingHTTPServer):
    """The socket, and what its handlers need to know."""

    def __init__(self, repository: Path, *, can_filter: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repository = str(repository)
        self.fake = GitServer(f"http://127.0.0.1:{self.server_address[1]}/series")
        settings = ("-c", f"uploadpack.allowFilter={str(can_filter).lower()}")
        self.program = (
            "git",
            *settings,
            "-c",
            "safe.directory=*",
            "upload-pack",
            "--stateless-rpc",
        )


@contextlib.contextmanager
def serving(repository: Path, *, can_filter: bool = True) -> Iterator[GitServer]:
    """Serve one repository at `/series` on loopback, as `git http-backend` does."""
    listener = _Listener(repository, can_filter=can_filter)
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield listener.fake
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()
