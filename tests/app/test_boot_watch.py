"""Every boot is followed and kept, whatever it ends with."""

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from studio.app.boot_history import BootHistoryFile
from studio.app.boot_watch import BootWatch, in_words
from studio.domain.boots import BootOutcome, BootRecord, BootTry
from studio.domain.server import BootPhase, EngineSnapshot, EngineState
from studio.domain.units import GIB
from tests.app.boot_samples import REFUSED, about, boot, engine
from tests.fakes.waiting import until_async

ENDED = ((BootPhase.WEIGHTS, 0.0, 15.0), (BootPhase.FIRST_TOKEN, 15.0, 30.0))
READY = engine(EngineState.READY, *ENDED, boot_s=30.0)
LOADING = engine(EngineState.STARTING, (BootPhase.WEIGHTS, 0.0, None), elapsed_s=5.0)


@dataclasses.dataclass(slots=True)
class Made:
    """A watch, its file, and what the engine's log says."""

    watch: BootWatch
    file: BootHistoryFile
    facts: dict[str, int | float | str]

    async def kept(self, count: int) -> tuple[BootRecord, ...]:
        """Return the boots in the file, once there are so many."""
        await until_async(lambda: len(self.file.read().boots) >= count, "boots kept")
        return self.file.read().boots


@contextlib.asynccontextmanager
async def watching(folder: Path, *known: BootRecord) -> AsyncIterator[Made]:
    """Yield a watch that runs, with a history."""
    file = BootHistoryFile(folder / "boots.json")
    for one in known:
        await file.add(one)
    facts: dict[str, int | float | str] = {}
    made = Made(BootWatch(file, lambda: facts), file, facts)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(made.watch.run())
        yield made
        running.cancel()


def hear(watch: BootWatch, *engines: EngineSnapshot) -> None:
    """Tell it what the supervisor says, one after the other."""
    for one in engines:
        watch.heard(one)


async def test_a_boot_is_forecast_followed_and_kept(tmp_path: Path) -> None:
    """The second boot of a kind is forecast from the first, and says so while it boots."""
    cache = str(tmp_path)
    async with watching(tmp_path, boot(compile_cache=cache)) as made:
        await made.watch.begin(about(), BootTry.FIRST)
        assert made.watch.whole_s() == 30.0
        hear(made.watch, LOADING)

        shown = made.watch.complete(LOADING)
        assert (shown.is_cold, shown.is_cold_certain) == (False, False)
        assert shown.remaining_s == 15.0 - 5.0 + 5.0
        assert shown.note == "about 15 s left: loading weights"
        assert [one.phase for one in shown.forecast] == [
            BootPhase.WEIGHTS,
            BootPhase.FIRST_TOKEN,
        ]

        made.facts.update(pool_tokens=1000, is_eager=1)
        hear(made.watch, LOADING, READY)
        _old, new = await made.kept(2)

    assert (new.outcome, new.is_cold, new.boot_s, new.forecast_s) == (
        BootOutcome.SERVED,
        False,
        30.0,
        30.0,
    )
    assert new.phases_s == {"weights": 15.0, "first-token": 15.0}
    assert new.why == ()
    assert made.watch.last == new


async def test_a_ready_engine_says_what_its_boot_was_and_what_to_do_now(tmp_path: Path) -> None:
    """`weir status`, long after the boot."""
    before = boot(pool_tokens=900, kv_bytes=4 * GIB, compile_cache=str(tmp_path))
    async with watching(tmp_path, before) as made:
        await made.watch.begin(about(), BootTry.WARM, ("Tried again.",))
        made.facts.update(pool_tokens=1000, cache_loaded=1, kv_gib=5.0)
        hear(made.watch, LOADING, READY)

        shown = made.watch.complete(READY)

    assert (shown.is_cold, shown.is_cold_certain) == (False, True)
    assert shown.tries == ("Tried again.",)
    assert "100 tokens larger" in (shown.pool_note or "")
    assert [one.command for one in shown.offers] == ["weir presets pin p"]
    other = msgspec.structs.replace(READY, preset="q")
    assert made.watch.complete(other) == other


@pytest.mark.parametrize("path", ["/gone", "x" * 5000, "\0", "/proc/1/cwd/x"])
async def test_a_cache_that_cannot_be_looked_at_is_none(tmp_path: Path, path: str) -> None:
    """Its name comes from a log: it may be too long, broken, or somebody else's."""
    async with watching(tmp_path, boot(compile_cache=path)) as made:
        await made.watch.begin(about(), BootTry.FIRST)
        hear(made.watch, LOADING)

        assert made.watch.complete(LOADING).is_cold is True


async def test_a_refused_boot_makes_the_next_one_warm(tmp_path: Path) -> None:
    """Both are in the history, each with its place in the start."""
    failed = engine(EngineState.FAILED, error=REFUSED)
    async with watching(tmp_path) as made:
        await made.watch.begin(about(cache=str(tmp_path)), BootTry.FIRST)
        compiling = engine(
            EngineState.STARTING, (BootPhase.COMPILE, 0.0, 9.0), (BootPhase.KV_CACHE, 9.0, None)
        )
        made.facts.update(compiled=1)
        hear(made.watch, compiling)
        assert made.watch.complete(compiling).is_cold
        hear(made.watch, failed)

        await made.watch.begin(about(cache=str(tmp_path)), BootTry.WARM, ("Again.",))
        made.facts.clear()
        hear(made.watch, LOADING)
        assert made.watch.complete(LOADING).is_cold is False
        assert (made.watch.complete(LOADING).note or "").startswith("second try, warm: ")
        hear(made.watch, READY)
        first, second = await made.kept(2)

    assert (first.outcome, first.error, first.attempt) == (
        BootOutcome.FAILED,
        "kv-cache-too-small",
        BootTry.FIRST,
    )
    assert (second.outcome, second.attempt) == (BootOutcome.SERVED, BootTry.WARM)


async def test_a_restart_after_a_death_and_a_stop_are_boots_too(tmp_path: Path) -> None:
    """Nobody announces those; each is kept once."""
    again = msgspec.structs.replace(LOADING, started_at=1_764_000_100.0)
    async with watching(tmp_path) as made:
        await made.watch.begin(about(), BootTry.FIRST)
        hear(made.watch, LOADING, READY, READY)
        hear(made.watch, engine(EngineState.BACKING_OFF), again)
        hear(made.watch, engine(EngineState.STOPPING), engine(EngineState.STOPPED))
        hear(made.watch, engine(EngineState.STOPPED))
        first, second = await made.kept(2)

    assert (first.attempt, first.outcome) == (BootTry.FIRST, BootOutcome.SERVED)
    assert (second.attempt, second.outcome) == (BootTry.RESTART, BootOutcome.STOPPED)
    assert first.at < second.at


async def test_an_engine_that_nobody_announced_is_left_alone(tmp_path: Path) -> None:
    """Before the first start there is nothing to say."""
    async with watching(tmp_path) as made:
        hear(made.watch, LOADING, READY)

        assert made.watch.complete(LOADING) == LOADING
        assert made.watch.whole_s() is None
        assert made.watch.last is None
        assert made.watch.asked(engine(EngineState.READY, overrides={"a": "1"})) == {"a": "1"}


async def test_what_the_person_asked_for_is_told_apart_from_a_pin(tmp_path: Path) -> None:
    """A restart after an unpin must not pin again."""
    running = engine(
        EngineState.READY, overrides={"max_num_seqs": "4", "kv_cache_memory_bytes": "5"}
    )
    async with watching(tmp_path) as made:
        await made.watch.begin(about(asked={"max_num_seqs": "4"}), BootTry.FIRST)

        assert made.watch.asked(running) == {"max_num_seqs": "4"}


async def test_what_is_over_is_written_before_the_service_ends(tmp_path: Path) -> None:
    """`weir down` comes right after the boot."""
    async with watching(tmp_path) as made:
        await made.watch.begin(about(), BootTry.FIRST)
        hear(made.watch, LOADING, READY)

    assert len(made.file.read().boots) == 1


async def test_the_log_of_the_service_labels_every_boot(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Cold or warm, how long, and of what it failed."""
    async with watching(tmp_path) as made:
        await made.watch.begin(about(), BootTry.FIRST)
        with caplog.at_level(logging.INFO):
            hear(made.watch, LOADING, engine(EngineState.FAILED, error=REFUSED))

    assert "boot of p on engine r1: cold (a guess), failed" in caplog.text
    assert "kv-cache-too-small" in caplog.text
    assert in_words(boot(is_cold=None, attempt=BootTry.WARM)).endswith(
        "unknown, served after 30.0 s, try: warm, pool 1,000 tokens"
    )
