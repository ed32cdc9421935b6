"""Small files, whole or refused."""

import contextlib
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import Damaged, NetworkFailure, NotFound
from studio.host import small_file
from studio.host.network import NetworkPolicy

POLICY = NetworkPolicy()


@contextlib.contextmanager
def serving(body: bytes, status: int = 200, moved: str | None = None) -> Iterator[str]:
    """Yield the address of a server that gives one answer; below /moved it redirects."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_moved = moved is not None and self.path == "/moved"
            self.send_response(302 if is_moved else status)
            if is_moved:
                self.send_header("Location", moved)
            self.send_header("Content-Length", "0" if is_moved else str(len(body)))
            self.end_headers()
            self.wfile.write(b"" if is_moved else body)

        def log_message(self, *_words: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def test_a_file_comes_from_a_folder_and_over_http(tmp_path: Path) -> None:
    """To the byte, also after a redirection."""
    path = tmp_path / "fööd feed.json"
    path.write_bytes(b"here")

    assert await small_file.read(str(path), POLICY, most_bytes=4) == b"here"
    assert await small_file.read(path.as_uri(), POLICY, most_bytes=4) == b"here"
    with serving(b"there", moved="/feed.json") as url:
        assert await small_file.read(f"{url}/moved", POLICY, most_bytes=9) == b"there"


async def test_what_is_too_large_is_refused_wherever_it_lies(tmp_path: Path) -> None:
    """A page that never ends must not fill the memory."""
    path = tmp_path / "large"
    path.write_bytes(b"x" * 11)
    with serving(b"x" * 11) as url:
        for address in (str(path), f"{url}/large"):
            with pytest.raises(Damaged, match="larger than the 10 bytes") as caught:
                await small_file.read(address, POLICY, most_bytes=10)
            assert caught.value.code == "file-too-large"


async def test_what_cannot_be_had_says_why(tmp_path: Path) -> None:
    """A stick that is not plugged in, a server that has none, a network switched off."""
    with pytest.raises(NotFound, match="No such file"):
        await small_file.read(str(tmp_path / "none"), POLICY, most_bytes=10)
    with serving(b"", status=404) as url, pytest.raises(NetworkFailure, match="404"):
        await small_file.read(f"{url}/feed.json", POLICY, most_bytes=10)
    off = msgspec.structs.replace(POLICY, offline_source="WEIR_OFFLINE")
    with pytest.raises(NetworkFailure, match="switched off by WEIR_OFFLINE") as caught:
        await small_file.read("http://127.0.0.1:9/x", off, most_bytes=10)
    assert caught.value.code == "offline"
    with pytest.raises(NetworkFailure) as refused:
        await small_file.read("http://127.0.0.1:9/x", POLICY, most_bytes=10)
    assert refused.value.code == "download-failed"
