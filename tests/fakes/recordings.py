"""The recordings of real engines in tests/data/engine."""

import re
from pathlib import Path

ENGINE = Path(__file__).resolve().parents[1] / "data" / "engine"
_TIME_COLUMN = re.compile(r"(?m)^ {0,7}\d+\.\d\d ")


def raw(path: Path) -> bytes:
    """Return a log as the engine wrote it, without the time column that one recording has."""
    data = path.read_bytes()
    if path.name.endswith(".timed.log"):
        data = _TIME_COLUMN.sub("", data.decode()).encode()
    return data


def lines(path: Path) -> list[str]:
    """Return a log's lines, cut at carriage returns too."""
    return [line for line in re.split(r"[\r\n]+", raw(path).decode()) if line]


def boots() -> list[Path]:
    """Return the logs of engines that came up."""
    cuda = [
        path
        for path in sorted((ENGINE / "cuda").glob("*/boot.log"))
        if "Application startup complete." in path.read_text(encoding="utf-8")
    ]
    return sorted((ENGINE / "boot").glob("*.log")) + cuda


def healthy() -> list[Path]:
    """Return the logs of engines that came up and ended only because they were told to."""
    return [
        path
        for path in boots()
        if path.name != "main-ngram-apikey.timed.log" and not path.parent.name.startswith("r0-")
    ] + [ENGINE / "lifecycle" / f"{name}.log" for name in ("sigterm-inflight", "sigint-drain-20s")]


def name_of(path: Path) -> str:
    """Return a short name for test ids."""
    return path.parent.name if path.stem == "boot" else path.stem.removesuffix(".timed")
