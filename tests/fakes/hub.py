"""A hub of models on loopback, with the shapes of Hugging Face's and ModelScope's real APIs.

Files of LFS are redirected to a second port, as to a delivery network. That the real
huggingface_hub downloads from it (tests/hub) proves that it is one.
"""

import contextlib
import dataclasses
import hashlib
import http.server
import json
import socket
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator

COMMIT = "a" * 40
NEWER = "b" * 40
NAME = "owner/model"


@dataclasses.dataclass
class Hub:
    """What it holds, what it does wrong, and what it was asked."""

    files: dict[str, bytes]
    lfs: frozenset[str] = frozenset()
    commit: str = COMMIT
    page_files: int = 1000
    gated_token: str | None = None
    faults: dict[str, list[tuple[int, dict[str, str], bytes]]] = dataclasses.field(
        default_factory=dict
    )
    """By a part of the path: answers that come before the right one."""
    cut_after: int | None = None
    """Bodies of the delivery network end after so many bytes."""
    replaced: dict[str, bytes] = dataclasses.field(default_factory=dict)
    """What is delivered in place of a file, its list unchanged."""
    asked: list[tuple[str, str, dict[str, str]]] = dataclasses.field(default_factory=list)
    """Host, path and headers of each request."""
    sent_bytes: int = 0
    """What the delivery network has written to its sockets, bodies only."""
    bytes_per_s: float | None = None
    """Of all its connections together."""
    piece_bytes: int = 16 << 10
    """How much is written, and counted, at a time."""
    send_buffer: int | None = None
    """Of its sockets; None: what the system gives them, a few megabytes."""
    connections: int = 0
    """How many were made to it and to its delivery network."""
    under_way: int = 0
    """Requests that are being answered."""
    token_names: dict[str, str] = dataclasses.field(default_factory=dict)
    """Who a token is of, for those who ask."""
    url: str = ""
    cdn: str = ""
    _due: float = 0.0
    _lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    _digests: dict[tuple[str, int], tuple[bytes, str]] = dataclasses.field(default_factory=dict)

    def sha256_of(self, data: bytes) -> str:
        """Return what LFS calls a content, reckoned once: a real hub does not read it each time."""
        return self._once("sha256", data, sha256)

    def blob_id_of(self, data: bytes) -> str:
        """Return what git calls a content, reckoned once."""
        return self._once("git", data, blob_id)

    def _once(self, kind: str, data: bytes, reckon: Callable[[bytes], str]) -> str:
        key = (kind, id(data))
        if key not in self._digests:
            self._digests[key] = (data, reckon(data))  # holds the data: an id is of what lives
        return self._digests[key][1]

    def wait_turn(self, size: int) -> None:
        """Wait until so many bytes may be sent."""
        if self.bytes_per_s is None:
            return
        with self._lock:
            now = time.monotonic()
            self._due = max(self._due, now) + size / self.bytes_per_s
            pause = self._due - now
        time.sleep(pause)

    def connected(self) -> None:
        """Note that somebody has connected."""
        with self._lock:
            self.connections += 1

    def count(self, size: int) -> None:
        """Note that so many bytes were written."""
        with self._lock:
            self.sent_bytes += size

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        """Count a request as under way."""
        with self._lock:
            self.under_way += 1
        try:
            yield
        finally:
            with self._lock:
                self.under_way -= 1


def sha256(data: bytes) -> str:
    """Return what LFS calls a content."""
    return hashlib.sha256(data).hexdigest()


def blob_id(data: bytes) -> str:
    """Return what git calls a content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@contextlib.contextmanager
def running(hub: Hub) -> Iterator[Hub]:
    """Serve until the end of the block."""
    servers = [_Server(("127.0.0.1", 0), hub, is_cdn=is_cdn) for is_cdn in (False, True)]
    hub.url, hub.cdn = (f"http://127.0.0.1:{server.server_port}" for server in servers)
    threads = [threading.Thread(target=one.serve_forever, args=(0.02,)) for one in servers]
    for thread in threads:
        thread.start()
    try:
        yield hub
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    """More connections at a time than five wait a second for the next try, as at no real hub."""

    def __init__(self, address: tuple[str, int], hub: Hub, *, is_cdn: bool) -> None:
        super().__init__(address, _Handler)
        self.hub = hub
        self.is_cdn = is_cdn

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is no error of a server."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.hub.connected()
        size = self.server.hub.send_buffer
        if size is not None:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)

    def do_GET(self) -> None:
        with self.server.hub.answering():
            self._answer(is_head=False)

    def do_POST(self) -> None:
        """ModelScope's login: the only thing that is posted."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = self.server.hub.token_names.get(body.get("AccessToken", ""))
        if self.path != "/api/v1/login" or name is None:
            self._send(400, {}, b'{"Code":10010101001,"Message":"no token"}', is_head=False)
        else:
            data = {"AccessToken": "session", "Username": name, "Email": None}
            self._json({"Code": 200, "Success": True, "Data": data}, {}, is_head=False)

    def do_HEAD(self) -> None:
        with self.server.hub.answering():
            self._answer(is_head=True)

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, *, is_head: bool) -> None:
        hub = self.server.hub
        parts = urllib.parse.urlsplit(self.path)
        path, query = urllib.parse.unquote(parts.path), urllib.parse.parse_qs(parts.query)
        hub.asked.append((f"http://{self.headers['Host']}", path, dict(self.headers)))
        for part, answers in hub.faults.items():
            if part in path and answers:
                self._send(*answers.pop(0), is_head=is_head)
                return
        if self.server.is_cdn:
            self._content(path.removeprefix("/cdn/"), {}, is_head=is_head)
        elif path == "/api/whoami-v2":
            self._whoami(is_head=is_head)
        elif path.startswith("/api/v1/models/"):
            self._modelscope(path, query, is_head=is_head)
        elif path.startswith(f"/api/models/{NAME}"):
            self._api(path.removeprefix(f"/api/models/{NAME}"), query, is_head=is_head)
        elif path.startswith(f"/{NAME}/resolve/"):
            revision, _, name = path.removeprefix(f"/{NAME}/resolve/").partition("/")
            self._resolve(revision, name, is_head=is_head)
        else:
            self._refuse(401, "RepoNotFound", is_head=is_head)

    def _whoami(self, *, is_head: bool) -> None:
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        name = self.server.hub.token_names.get(token)
        if name is None:
            said = b'{"error": "Invalid user token."}'
            self._send(401, {"X-Error-Message": "Invalid user token."}, said, is_head=is_head)
            return
        found = {"type": "user", "name": name, "fullname": name,
                 "auth": {"accessToken": {"displayName": "weir", "role": "read"}}}  # fmt: skip
        self._json(found, {}, is_head=is_head)

    def _known(self, revision: str) -> bool:
        return revision in ("main", "master", self.server.hub.commit, COMMIT)

    def _api(self, rest: str, query: dict[str, list[str]], *, is_head: bool) -> None:
        hub = self.server.hub
        kind, _, revision = rest.strip("/").partition("/")
        if not self._known(revision or "main"):
            self._refuse(404, "RevisionNotFound", is_head=is_head)
        elif kind == "tree":
            start = int(query.get("cursor", ["0"])[0])
            names = sorted(hub.files)
            page = [self._entry(name) for name in names[start : start + hub.page_files]]
            headers = {}
            if start + hub.page_files < len(names):
                base = f"{hub.url}{urllib.parse.quote(self.path.partition('?')[0])}"
                following = f"{base}?recursive=true&cursor={start + hub.page_files}"
                headers["Link"] = f'<{following}>; rel="next"'
            self._json(page, headers, is_head=is_head)
        else:
            siblings = [{"rfilename": name} for name in sorted(hub.files)]
            sha = hub.commit if revision in ("", "main") else revision
            found = {"_id": "1", "id": NAME, "modelId": NAME, "sha": sha, "siblings": siblings,
                     "private": False, "tags": [], "downloads": 0, "likes": 0}  # fmt: skip
            self._json(found, {}, is_head=is_head)

    def _entry(self, name: str) -> dict[str, object]:
        hub = self.server.hub
        data = hub.files[name]
        entry: dict[str, object] = {
            "type": "file", "oid": hub.blob_id_of(data), "size": len(data), "path": name,
        }  # fmt: skip
        if name in hub.lfs:
            entry["lfs"] = {"oid": hub.sha256_of(data), "size": len(data), "pointerSize": 134}
            entry["xetHash"] = hub.sha256_of(data)
        return entry

    def _resolve(self, revision: str, name: str, *, is_head: bool) -> None:
        hub = self.server.hub
        if hub.gated_token and self.headers.get("Authorization") != f"Bearer {hub.gated_token}":
            self._refuse(403 if "Authorization" in self.headers else 401, "GatedRepo",
                         is_head=is_head)  # fmt: skip
        elif not self._known(revision):
            self._refuse(404, "RevisionNotFound", is_head=is_head)
        elif name not in hub.files:
            self._refuse(404, "EntryNotFound", is_head=is_head)
        elif name in hub.lfs:
            data = hub.files[name]
            headers = {
                "X-Repo-Commit": hub.commit, "X-Linked-Etag": f'"{hub.sha256_of(data)}"',
                "X-Linked-Size": str(len(data)), "Location": f"{hub.cdn}/cdn/{_quoted(name)}",
            }  # fmt: skip
            self._send(302, headers, b"", is_head=is_head)
        else:
            headers = {"X-Repo-Commit": hub.commit, "ETag": f'"{hub.blob_id_of(hub.files[name])}"'}
            self._content(name, headers, is_head=is_head)

    def _modelscope(self, path: str, query: dict[str, list[str]], *, is_head: bool) -> None:
        hub = self.server.hub
        if path == f"/api/v1/models/{NAME}":
            self._json({"Code": 200, "Success": True, "Data": {"Name": NAME}}, {}, is_head=is_head)
        elif path == f"/api/v1/models/{NAME}/repo":
            name = query["FilePath"][0]
            headers = {"Location": f"{hub.cdn}/cdn/{_quoted(name)}"}
            self._send(302, headers, b"", is_head=is_head)
        elif path == f"/api/v1/models/{NAME}/repo/files":
            folders = {one for name in hub.files for one in _folders(name)}
            files: list[dict[str, object]] = [
                {"Name": one.rpartition("/")[2], "Path": one, "Type": "tree", "Size": 0,
                 "Sha256": "", "Revision": hub.commit, "CommittedDate": 1}
                for one in sorted(folders)
            ]  # fmt: skip
            files += [
                {"Name": name.rpartition("/")[2], "Path": name, "Type": "blob", "Size": len(data),
                 "Sha256": hub.sha256_of(data), "Revision": hub.commit, "CommittedDate": 1}
                for name, data in sorted(hub.files.items())
            ]  # fmt: skip
            # What it does not know it answers with a list that is none; of heads it tells a part.
            head = {"Id": "", "ShortId": hub.commit[:8]}
            data: dict[str, object] = {"Files": None, "LatestCommitter": None}
            if self._known(query["Revision"][0]):
                data = {"Files": files, "LatestCommitter": head}
            self._json({"Code": 200, "Success": True, "Data": data}, {}, is_head=is_head)
        else:
            self._send(404, {}, b'{"Code":10010205001,"Message":"not found"}', is_head=is_head)

    def _content(self, name: str, headers: dict[str, str], *, is_head: bool) -> None:
        hub = self.server.hub
        data = hub.replaced.get(name, hub.files[name])
        headers = {"ETag": f'"{hub.sha256_of(data)}"', "Accept-Ranges": "bytes", **headers}
        asked = self.headers.get("Range")
        status = 200
        if asked and data:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            start, end = int(first), min(int(last) + 1 if last else len(data), len(data))
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(data)}"
            data, status = data[start:end], 206
        self._send(status, headers, data, is_head=is_head)

    def _json(self, document: object, headers: dict[str, str], *, is_head: bool) -> None:
        headers = {"Content-Type": "application/json", **headers}
        self._send(200, headers, json.dumps(document).encode(), is_head=is_head)

    def _refuse(self, status: int, code: str, *, is_head: bool) -> None:
        headers = {"X-Error-Code": code, "X-Error-Message": f"said by the hub: {code}"}
        self._send(status, headers, b"{}", is_head=is_head)

    def _send(self, status: int, headers: dict[str, str], data: bytes, *, is_head: bool) -> None:
        hub = self.server.hub
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if is_head:
            return
        if self.server.is_cdn and hub.cut_after is not None and len(data) > hub.cut_after:
            data = data[: hub.cut_after]
            self.close_connection = True
        with contextlib.suppress(ConnectionError):
            self._body(data)

    def _body(self, data: bytes) -> None:
        hub = self.server.hub
        if not self.server.is_cdn:
            self.wfile.write(data)
            return
        view = memoryview(data)
        for start in range(0, len(data), hub.piece_bytes):
            piece = view[start : start + hub.piece_bytes]
            hub.wait_turn(len(piece))
            self.wfile.write(piece)
            hub.count(len(piece))


def _folders(name: str) -> list[str]:
    parts = name.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def _quoted(name: str) -> str:
    return urllib.parse.quote(name)
