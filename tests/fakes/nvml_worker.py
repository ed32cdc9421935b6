"""The other end of `NvmlHost`: one question a line, one JSON answer a line."""

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from studio.host import card_nvml, nvml
from studio.host.bounded import Bounded, Overdue
from studio.host.card_reader import CardReader
from studio.host.card_smi import Program
from studio.host.gpu_report import GpuReport

_SHORT_S = 1.0
_bounded: Bounded[GpuReport] = Bounded(nvml.read, name="nvml", within_s=_SHORT_S)


class Live:
    """The sampler's reader of cards, on a clock that the questions move on."""

    def __init__(self) -> None:
        self._now = 0.0
        self._loop = asyncio.new_event_loop()
        self._session = card_nvml.Session(clock=lambda: self._now)
        no_program = Program(lambda: None, clock=lambda: self._now)
        self._reader = CardReader(self._session, no_program, clock=lambda: self._now)

    def end(self) -> None:
        """Let go of the library, as at the end of a service."""
        self._reader.close()
        self._reader.wait()

    def read(self, later_s: float, within_s: float, *, all_links: bool) -> Any:
        """Return what the cards do, so many seconds after the last question."""
        self._now += later_s
        started = time.monotonic()
        reading = self._loop.run_until_complete(self._reader.read(within_s, all_links=all_links))
        return {"reading": reading, "seconds": time.monotonic() - started}


_lives = [Live()]


def answer(question: str) -> Any:
    """Return the answer: a report, cards of a reader old or new, or how long a call took."""
    word, *numbers = question.split()
    if word == "report":
        return nvml.read()
    if word == "live":
        later_s, within_s = (float(number) for number in numbers[:2])
        return _lives[-1].read(later_s, within_s, all_links="links" in numbers)
    if word == "fresh":
        _lives.pop().end()
        _lives.append(Live())
        return {}
    if word == "folders":
        card_nvml._DRIVER_CARDS = Path(question.partition(" ")[2])
        return {}
    _bounded._within_s = float(numbers[0]) if numbers else _SHORT_S
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
