"""Answers of the real engine (vLLM 0.32), as recorded in tests/data/api."""

import dataclasses
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "data" / "api"
MORE = Path(__file__).parents[1] / "data" / "engine" / "api"
"""All that was recorded; what most tests need is in the first folder."""


@dataclasses.dataclass(frozen=True)
class Recorded:
    """One answer."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    @property
    def is_stream(self) -> bool:
        """Return whether the answer is a stream of events."""
        return any(b"event-stream" in value for name, value in self.headers)

    @property
    def events(self) -> list[bytes]:
        """Return the events, each with its blank line."""
        return [event + b"\n\n" for event in self.body.split(b"\n\n") if event.strip()]


def recorded(name: str) -> Recorded:
    """Return the recording `name`, framing headers left out."""
    path = FOLDER / f"{name}.http"
    path = path if path.exists() else MORE / path.name
    head, _, body = path.read_bytes().partition(b"\n\n")
    first, *lines = head.replace(b"\r", b"").split(b"\n")
    pairs = (line.split(b": ", 1) for line in lines)
    headers = [
        (name.lower(), value)
        for name, value in pairs
        if name.lower() not in {b"content-length", b"transfer-encoding"}
    ]
    if any(b"event-stream" in value for _, value in headers):
        body = body.rstrip(b"\n") + b"\n\n"  # the recorder added a newline
    return Recorded(int(first.split()[1]), headers, body)
