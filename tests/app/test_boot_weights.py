"""Bytes of the weights while they load."""

import os

import pytest

from studio.app.boot_weights import WeightsMeter
from studio.domain.server import BootPhase, EngineSnapshot, EngineState
from studio.host.reading import TakenIn
from tests.app.boot_samples import engine

PID = os.getpid()


def loading(share: float | None = None) -> EngineSnapshot:
    """Return an engine that loads weights."""
    return engine(EngineState.STARTING, (BootPhase.WEIGHTS, 1.0, None), phase_share=share, pid=PID)


class Counter:
    """Plays the processes' own counters."""

    def __init__(self) -> None:
        self.taken: TakenIn | None = TakenIn(read_bytes=500, mapped_bytes=50)

    def __call__(self, _pid: int) -> TakenIn | None:
        """Return what was set."""
        return self.taken


def test_shards_of_the_log_are_bytes_of_the_checkpoint() -> None:
    """A quarter of the shards is a quarter of the bytes."""
    meter = WeightsMeter()
    meter.begin(1000, None)

    meter.heard(loading(0.25), {})
    assert (meter.loaded_bytes, meter.size) == (250, 1000)
    meter.heard(loading(None), {"weights_s": 3.0})
    assert meter.loaded_bytes == 1000


def test_a_drafter_is_loaded_after_the_model() -> None:
    """Its bar begins at nothing again; the sum must not."""
    meter = WeightsMeter()
    meter.begin(1000, 200)

    meter.heard(loading(1.0), {})
    meter.heard(loading(0.0), {"weights_s": 3.0, "loads_drafter": 1})
    assert meter.loaded_bytes == 1000
    meter.heard(loading(0.5), {"weights_s": 3.0, "loads_drafter": 1})

    assert (meter.loaded_bytes, meter.size) == (1100, 1200)


async def test_one_large_file_is_followed_by_what_the_processes_took_in() -> None:
    """The log is silent from 0 of 1 to 1 of 1, for minutes."""
    counter = Counter()
    meter = WeightsMeter(counter)
    meter.begin(1000, None)
    meter.heard(engine(EngineState.STARTING, (BootPhase.ENGINE, 0.0, None), pid=PID), {})
    await meter.look()  # code came in before the weights

    meter.heard(loading(0.0), {})
    counter.taken = TakenIn(read_bytes=600, mapped_bytes=450)
    await meter.look()
    assert meter.loaded_bytes == 400
    counter.taken = TakenIn(read_bytes=700, mapped_bytes=60)  # copied, and unmapped again
    await meter.look()
    assert meter.loaded_bytes == 400
    counter.taken = TakenIn(read_bytes=700, mapped_bytes=9_999)
    await meter.look()

    assert meter.loaded_bytes == 1000


@pytest.mark.parametrize("size", [None, 1000])
async def test_what_nobody_says_stays_unknown(size: int | None) -> None:
    """No counters, or no size: never zero, never a guess."""
    counter = Counter()
    counter.taken = None
    meter = WeightsMeter(counter)
    meter.begin(size, None)

    meter.heard(loading(0.0), {})
    await meter.look()

    assert meter.loaded_bytes is None


async def test_another_engine_begins_at_nothing() -> None:
    """A restart must not show the bytes of the boot before."""
    meter = WeightsMeter()
    meter.begin(1000, None)
    meter.heard(loading(0.5), {})

    meter.begin(2000, None)

    assert (meter.loaded_bytes, meter.size) == (None, 2000)
