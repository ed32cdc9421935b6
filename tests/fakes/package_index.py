"""A package index on loopback: a page for each package, as JSON or as HTML, and its wheels."""

import hashlib
import json
from pathlib import Path

from tests.fakes.hostile import Exchange, Hostile, good, status

_JSON = "application/vnd.pypi.simple.v1+json"


def index_of(wheels: Path, *, speaks_json: bool = True, says_hashes: bool = True) -> Hostile:
    """Return a server of every wheel in a folder; its index is at `/simple/`."""
    files = {f"/files/{path.name}": path.read_bytes() for path in wheels.glob("*.whl")}
    server = Hostile(files)
    server.etag = None

    def answer(exchange: Exchange) -> bool:
        target = exchange.request.target
        if not target.startswith("/simple/"):
            return good(exchange)
        name = target.strip("/").rpartition("/")[2]
        found = {
            path.rpartition("/")[2]: data
            for path, data in files.items()
            if path.rpartition("/")[2].split("-")[0].replace("_", "-") == name
        }
        if not found:
            return status("404 Not Found")(exchange)
        page = _json(name, found, says_hashes) if speaks_json else _html(found, says_hashes)
        kind = _JSON if speaks_json else "text/html"
        return status("200 OK", {"Content-Type": kind}, page)(exchange)

    server.always = answer
    return server


def _json(name: str, found: dict[str, bytes], says_hashes: bool) -> bytes:
    listed = [
        {
            "filename": file,
            "url": f"../../files/{file}",
            "hashes": {"sha256": hashlib.sha256(data).hexdigest()} if says_hashes else {},
            "size": len(data),
        }
        for file, data in found.items()
    ]
    return json.dumps({"meta": {"api-version": "1.1"}, "name": name, "files": listed}).encode()


def _html(found: dict[str, bytes], says_hashes: bool) -> bytes:
    links = [
        f'<a href="../../files/{file}'
        f'{"#sha256=" + hashlib.sha256(data).hexdigest() if says_hashes else ""}">{file}</a>'
        for file, data in found.items()
    ]
    return f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>".encode()
