"""Where a message begins, in every dress that a log of an engine is met in."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from studio.serving import diagnose
from studio.serving.log_shapes import split
from tests.fakes import recordings

SIGNATURES = diagnose.load(Path(__file__).resolve().parents[2] / "runtimes" / "failures.toml")
LOGS = [
    *sorted((recordings.ENGINE / "assembled").glob("*.log")),
    *sorted((recordings.ENGINE / "failures").glob("*.log")),
    *sorted((recordings.ENGINE / "lifecycle").glob("hybrid-*.log")),
    recordings.ENGINE / "lifecycle" / "unknown-env-then-kill9-worker.log",
    *sorted((recordings.ENGINE / "cuda").glob("r[0345]-*/boot.log")),
]
_STAMP = "2026-11-29T13:00:00.123456789Z"
_TAG = re.compile(r"^\(\w[\w-]* pid=\d+\)")

DRESSES: dict[str, Callable[[str], str]] = {
    "compose": lambda line: f"vllm-1  | {line}",
    "compose with times": lambda line: f"vllm-1  | {_STAMP} {line}",
    "journald": lambda line: f"Nov 29 13:00:00 gpu1 vllm[8727]: {line}",
    "journald short-iso": lambda line: f"2026-11-29T13:00:00+0000 gpu1 vllm[8727]: {line}",
    "kubectl with prefixes": lambda line: f"[pod/vllm-0/vllm] {line}",
    "containerd": lambda line: f"{_STAMP} stderr F {line}",
    "docker's JSON": lambda line: json.dumps({"log": line + "\n", "stream": "stderr"}),
    "journald's JSON": lambda line: json.dumps({"MESSAGE": line, "PRIORITY": "6"}),
    "a quotation": lambda line: f"> {line}",
    "a quotation of a quotation": lambda line: f">> {line}",
    "code in Markdown": lambda line: f"    {line}",
    "colours": lambda line: f"\x1b[31m{line}\x1b[0m",
    "a coloured tag": lambda line: _TAG.sub(lambda tag: f"\x1b[36m{tag[0]}\x1b[0m", line),
    "line ends of Windows": lambda line: f"{line}\r",
    "milliseconds": lambda line: re.sub(r"(\d\d:\d\d:\d\d) \[", r"\1.123 [", line, count=1),
    "a process within another": lambda line: f"(APIServer pid=1) {line}",
    "older tags": lambda line: _TAG.sub("(VllmWorker rank=0 pid=7)", line),
    "Ray's tags": lambda line: _TAG.sub("(RayWorkerWrapper pid=7, ip=10.0.0.2)", line),
    "older places": lambda line: re.sub(r"\[([\w./]+:\d+)\]", r"\1]", line, count=1),
    "other ids and paths": lambda line: re.sub(r"pid=\d+", "pid=4194304", line).replace(
        "/srv/", "C:\\Users\\某人\\with blank\\"
    ),
}


@pytest.mark.parametrize("dress", DRESSES, ids=list(DRESSES))
def test_a_failure_is_the_same_whoever_collected_the_log(dress: str) -> None:
    """People paste what `docker compose logs`, `journalctl` and `kubectl logs` show them."""
    for path in LOGS:
        lines = recordings.lines(path)
        plain = diagnose.matches(lines, None, SIGNATURES)
        dressed = diagnose.matches([DRESSES[dress](line) for line in lines], None, SIGNATURES)

        assert [one.code for one in dressed][:1] == [one.code for one in plain][:1], path


@pytest.mark.parametrize("dress", DRESSES, ids=list(DRESSES))
def test_a_healthy_log_stays_healthy_whoever_collected_it(dress: str) -> None:
    """A prefix that hides a level must not turn a warning into a failure."""
    for path in recordings.healthy()[::3]:
        lines = [DRESSES[dress](line) for line in recordings.lines(path)]

        assert diagnose.matches(lines, None, SIGNATURES) == [], path


@pytest.mark.parametrize(
    ("line", "level", "text"),
    [
        ("(EngineCore pid=1) ERROR 10-30 17:32:00 [core.py:1510] Foo: x", "error", "Foo: x"),
        ("INFO 10-30 17:32:00 [a.py:1] x", "info", "x"),
        ("INFO:     Started server process [7]", "info", "Started server process [7]"),
        ("[W1129 13:40:41.180110203 socket.cpp:207] [c10d] x", "warning", "[c10d] x"),
        ("[rank0]:[E1129 13:00:00.1 P.cpp:632] [Rank 0] x", "error", "[Rank 0] x"),
        ("2024-02-20 21:46:23 | ERROR | stderr | x", "error", "x"),
        ("[ 1234.567890] NVRM: Xid (PCI:0): 79, x", "none", "NVRM: Xid (PCI:0): 79, x"),
        ("/srv/x.py:12: UserWarning: x", "warning", "/srv/x.py:12: UserWarning: x"),
        ("  + Exception Group Traceback", "none", "  + Exception Group Traceback"),
        ("  | RuntimeError: x", "none", "RuntimeError: x"),
        ("vllm serve: error: x", "none", "vllm serve: error: x"),
        ("  Value error, x", "none", "  Value error, x"),
        ('{"not": "a log"}', "none", '{"not": "a log"}'),
        ('{"broken', "none", '{"broken'),
        ("", "none", ""),
    ],
)
def test_level_and_message_of_a_line(line: str, level: str, text: str) -> None:
    """All that stands before the message goes, and nothing of the message."""
    said = split(line)

    assert (said.level, said.text) == (level, text)


def test_what_is_compiled_is_no_part_of_the_message_and_what_is_stopped_is() -> None:
    """`[backbone]` stands before any message of a compilation; `[shutdown]` tells a stop."""
    assert split("INFO 10-30 17:32:00 [a.py:1] [backbone] Compiling").text == "Compiling"
    assert split("INFO 10-30 17:32:00 [a.py:1] [shutdown] API server: x").text == (
        "[shutdown] API server: x"
    )
