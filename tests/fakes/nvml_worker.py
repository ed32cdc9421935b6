"""The other end of `NvmlHost`: one question a line, one JSON answer a line."""

import sys
import time
from typing import Any

import msgspec

from studio.host import nvml
from studio.host.bounded import Bounded, Overdue
from studio.host.gpu_report import GpuReport

_SHORT_S = 0.3
_bounded: Bounded[GpuReport] = Bounded(nvml.read, name="nvml", within_s=_SHORT_S)


def answer(question: str) -> Any:
    """Return the answer: a report, or how long a bounded call took."""
    if question == "report":
        return nvml.read()
    started = time.monotonic()
    try:
        _bounded.call()
    except Overdue:
        return {"overdue": True, "seconds": time.monotonic() - started}
    return {"overdue": False, "seconds": time.monotonic() - started}


def main() -> None:
    """Answer until standard input ends."""
    for line in sys.stdin:
        sys.stdout.buffer.write(msgspec.json.encode(answer(line.strip())) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
