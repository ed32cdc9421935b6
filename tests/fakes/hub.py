"""A hub of models on loopback, with the shapes of Hugging Face's and ModelScope's real APIs.

Files of LFS are redirected to a second port, as to a delivery network. That the real
huggingface_hub downloads from it (tests/hub) proves that it is one.
"""

import contextlib
import dataclasses
import hashlib
import http.server
import json
import threading
import urllib.parse
from collections.abc import Iterator

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
    url: str = ""
    cdn: str = ""


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

    def __init__(self, address: tuple[str, int], hub: Hub, *, is_cdn: bool) -> None:
        super().__init__(address, _Handler)
        self.hub = hub
        self.is_cdn = is_cdn

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is no error of a server."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._answer(is_head=False)

    def do_HEAD(self) -> None:
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
        elif path.startswith("/api/v1/models/"):
            self._modelscope(path, query, is_head=is_head)
        elif path.startswith(f"/api/models/{NAME}"):
            self._api(path.removeprefix(f"/api/models/{NAME}"), query, is_head=is_head)
        elif path.startswith(f"/{NAME}/resolve/"):
            revision, _, name = path.removeprefix(f"/{NAME}/resolve/").partition("/")
            self._resolve(revision, name, is_head=is_head)
        else:
            self._refuse(401, "RepoNotFound", is_head=is_head)

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
        data = self.server.hub.files[name]
        entry: dict[str, object] = {
            "type": "file", "oid": blob_id(data), "size": len(data), "path": name,
        }  # fmt: skip
        if name in self.server.hub.lfs:
            entry["lfs"] = {"oid": sha256(data), "size": len(data), "pointerSize": 134}
            entry["xetHash"] = sha256(data)
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
                "X-Repo-Commit": hub.commit, "X-Linked-Etag": f'"{sha256(data)}"',
                "X-Linked-Size": str(len(data)), "Location": f"{hub.cdn}/cdn/{_quoted(name)}",
            }  # fmt: skip
            self._send(302, headers, b"", is_head=is_head)
        else:
            headers = {"X-Repo-Commit": hub.commit, "ETag": f'"{blob_id(hub.files[name])}"'}
            self._content(name, headers, is_head=is_head)

    def _modelscope(self, path: str, query: dict[str, list[str]], *, is_head: bool) -> None:
        hub = self.server.hub
        if path == f"/api/v1/models/{NAME}/repo":
            name = query["FilePath"][0]
            headers = {"Location": f"{hub.cdn}/cdn/{_quoted(name)}"}
            self._send(302, headers, b"", is_head=is_head)
        elif path == f"/api/v1/models/{NAME}/repo/files" and self._known(query["Revision"][0]):
            files = [
                {"Name": name.rpartition("/")[2], "Path": name, "Type": "blob", "Size": len(data),
                 "Sha256": sha256(data), "Revision": hub.commit, "CommittedDate": 1}
                for name, data in sorted(hub.files.items())
            ]  # fmt: skip
            data = {"Files": files, "LatestCommitter": {"Id": hub.commit}}
            self._json({"Code": 200, "Success": True, "Data": data}, {}, is_head=is_head)
        else:
            self._send(404, {}, b'{"Code":10010205001,"Message":"not found"}', is_head=is_head)

    def _content(self, name: str, headers: dict[str, str], *, is_head: bool) -> None:
        hub = self.server.hub
        data = hub.replaced.get(name, hub.files[name])
        headers = {"ETag": f'"{sha256(data)}"', "Accept-Ranges": "bytes", **headers}
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
            self.wfile.write(data)
            if self.server.is_cdn:
                hub.sent_bytes += len(data)


def _quoted(name: str) -> str:
    return urllib.parse.quote(name)
