"""What the fake engine prints: recorded lines, made to speak of this engine."""

import contextlib
import json
import os
import re
import sys
import time
from pathlib import Path

from tests.fakes.vllm.settings import (
    BLOCK_TOKENS,
    LAYERS,
    TOKEN_BYTES,
    WEIGHTS_BYTES,
    Settings,
)

ENGINE = Path(__file__).resolve().parents[2] / "data" / "engine"
_TAG = re.compile(r"^\((\w+(?:[-_]\w+)*) pid=\d+\)")
_NAMED = re.compile(r"\b(EngineCore|Worker) pid \d+")
_STAMP = re.compile(r"\b\d\d-\d\d \d\d:\d\d:\d\d\b")
_CLOCK = re.compile(r"\b\d\d-\d\d (\d\d):(\d\d):(\d\d)\b")
_TIMED = re.compile(r"^ *(\d+\.\d\d) (.*)$", re.DOTALL)
_NGRAM = (
    "ngram-based",
    "Loading drafter",
    "max_num_scheduled_tokens is",
    "tool choice",
    "min_p and",
)
"""The timed recording ran with speculation; a preset that asks for none must not read of it."""
_GIB = 1 << 30


def read(path: Path) -> list[tuple[float, str]]:
    """Return a recorded log as seconds since its beginning and line, line ends kept.

    Times are the recording's own, from its time column or from its stamps.
    """
    script: list[tuple[float, str]] = []
    at = first = None
    for line in path.read_bytes().decode().splitlines(keepends=True):
        if (timed := _TIMED.match(line)) and path.name.endswith(".timed.log"):
            script.append((float(timed[1]), timed[2]))
            continue
        if clock := _CLOCK.search(line):
            at = int(clock[1]) * 3600 + int(clock[2]) * 60 + int(clock[3])
            first = at if first is None else first
        script.append((0.0 if at is None or first is None else float(at - first), line))
    return script


def without_speculation(script: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return the script without the lines that only speculation brings."""
    return [(at, line) for at, line in script if not any(word in line for word in _NGRAM)]


def with_ledger(
    script: list[tuple[float, str]], before: str, settings: Settings
) -> list[tuple[float, str]]:
    """Return the script with the ledger that our patch makes EngineCore print."""
    place = next((at for at, (_, line) in enumerate(script) if before in line), None)
    if place is None:
        return script
    at, line = script[place]
    tag = _TAG.match(line)
    head = f"{tag[0]} " if tag else ""
    text = json.dumps(ledger(settings), separators=(",", ":"))
    printed = f"{head}INFO 11-29 13:00:00 [boot_ledger.py:45] WEIR_LEDGER {text}\n"
    return [*script[:place], (at, printed), *script[place:]]


def ledger(settings: Settings) -> dict[str, object]:
    """Return the ledger's document, as the patched engine gives it for the demo model."""
    blocks = settings.pool_tokens // BLOCK_TOKENS
    page = TOKEN_BYTES * BLOCK_TOKENS // LAYERS
    sizes: dict[str, object] = {
        "weights_bytes": WEIGHTS_BYTES,
        "activation_peak_bytes": None,
        "non_torch_bytes": None,
        "graph_pool_bytes": None,
        "kv_bytes": blocks * page * LAYERS,
    }
    worker = {
        **sizes,
        "rank": 0,
        "consumed_bytes": None,
        "graph_pool_estimate_bytes": None,
        "resident_bytes": 2_500_000_000,
        "kv_available_bytes": settings.kv_bytes,
    }
    group = {
        "kind": "full_attention",
        "layers": LAYERS,
        "block_tokens": BLOCK_TOKENS,
        "page_bytes": page,
    }
    return {
        "schema_version": 1,
        "engine_version": "0.32.0",
        "device": "cpu",
        "data_parallel_index": 0,
        "tensor_parallel_size": 1,
        "pipeline_parallel_size": 1,
        "max_model_len": settings.max_model_len,
        "pool_tokens": settings.pool_tokens,
        "max_concurrency": settings.pool_tokens / settings.max_model_len,
        "blocks": blocks,
        "block_tokens": BLOCK_TOKENS,
        "kv_dtype": "auto",
        **sizes,
        "groups": [group],
        "workers": [worker],
    }


class Printer:
    """Prints lines as this engine's own: its pids, the present time, its numbers."""

    def __init__(self, settings: Settings) -> None:
        self.pids: dict[str, int] = {"APIServer": os.getpid()}
        length, pool = settings.max_model_len, settings.pool_tokens
        need, have = length * TOKEN_BYTES / _GIB, pool * TOKEN_BYTES / _GIB
        share = pool / length
        self._replacements: list[tuple[re.Pattern[str], str]] = [
            (re.compile(pattern, re.MULTILINE), text.replace("\\", r"\\"))
            for pattern, text in (
                (r"/srv/models/[\w.-]+", settings.model),
                (r"non-default args: \{.*\}", f"non-default args: {settings.arguments}"),
                (r"speculative_config=SpeculativeConfig\(.*?\)", "speculative_config=None"),
                (r"Started server process \[\d+\]", f"Started server process [{os.getpid()}]"),
                (r"served_model_name=[\w.-]+", f"served_model_name={settings.served_names[0]}"),
                (r"Using max model len \d+", f"Using max model len {length}"),
                (r"max_seq_len=\d+", f"max_seq_len={length}"),
                (r"Explicitly set \([\d.]+/", f"Explicitly set ({settings.kv_bytes / _GIB:.2f}/"),
                (r"KV cache size: [\d,]+ tokens", f"KV cache size: {pool:,} tokens"),
                (
                    r"concurrency for .+x$",
                    f"concurrency for {length:,} tokens per request: {share:.2f}x",
                ),
                (r"Starting vLLM server on \S+", f"Starting vLLM server on {settings.address}"),
            )
        ]
        if pool < length:
            self._replacements += [
                (re.compile(r"max seq len \(\d+\)"), f"max seq len ({length})"),
                (
                    re.compile(r"[\d.]+ GiB KV cache is needed"),
                    f"{need:.2f} GiB KV cache is needed",
                ),
                (re.compile(r"memory \([\d.]+ GiB\)"), f"memory ({have:.2f} GiB)"),
                (re.compile(r"maximum model length is \d+"), f"maximum model length is {pool}"),
            ]

    def adapt(self, line: str) -> str:
        """Return a recorded line as this engine would have printed it now."""
        if tag := _TAG.match(line):
            pid = self.pids.get(_role(tag[1]), self.pids["APIServer"])
            line = f"({tag[1]} pid={pid})" + line[tag.end() :]
        line = _NAMED.sub(self._pid_of, line)
        line = _STAMP.sub(time.strftime("%m-%d %H:%M:%S"), line, count=1)
        for pattern, text in self._replacements:
            line = pattern.sub(text, line)
        return line

    def _pid_of(self, match: re.Match[str]) -> str:
        pid = self.pids.get(_role(match[1]))
        return match[0] if pid is None else f"{match[1]} pid {pid}"

    def show(self, line: str) -> None:
        """Print a recorded line where the real engine prints it."""
        adapted = self.adapt(line)
        is_out = line.startswith("(") or '"GET ' in line or '"POST ' in line
        write(adapted if adapted.endswith("\n") else adapted + "\n", to_stderr=not is_out)

    def show_all(self, path: str, begin: str, end: str | None = None) -> None:
        """Print a recording from the line that holds `begin`, up to before `end`, at once."""
        going = False
        for _, line in read(ENGINE / path):
            going = going or begin in line
            if going and end is not None and end in line:
                return
            if going:
                self.show(line)


def write(text: str, *, to_stderr: bool = False) -> None:
    """Write at once; nobody who listens is no reason to die."""
    stream = sys.stderr if to_stderr else sys.stdout
    with contextlib.suppress(OSError, ValueError):
        stream.write(text)
        stream.flush()


def _role(name: str) -> str:
    if name.startswith(("Worker", "VllmWorker")):
        return "Worker"
    return "EngineCore" if name.startswith("EngineCore") else "APIServer"
