"""A PowerShell that runs for ever, ends, hangs, floods, or is not there: a stand-in plays each."""

import asyncio
import contextlib
import os
import signal
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.host import adapter_memory
from studio.host.adapter_watch import AdapterWatch
from tests.fakes.waiting import gone, until_async

USE = "weir-use|luid_0x00000000_0x0000d3f5_phys_0|{shared}|22000000000"
GOOD = f"""
echo 'weir-card|00000000_0000d3f5|4318|25757220864|NVIDIA GeForce RTX 4090'
while :; do
  echo '{USE.format(shared=1_886_000_000)}'; echo weir-end; sleep 0.05
done
"""


def stand_in(folder: Path, script: str) -> dict[str, str]:
    """Put a `powershell.exe` of ours on the PATH, which notes its process id."""
    program = folder / "powershell.exe"
    program.write_text(f'#!/bin/sh\necho $$ >> "{folder}/pids"\n{script}\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"PATH": f"{folder}:{os.environ['PATH']}", "WSL_INTEROP": "/run/WSL/1_interop"}


def pids(folder: Path) -> list[int]:
    """Return the process ids of all that were started."""
    file = folder / "pids"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


@contextlib.asynccontextmanager
async def watching(watch: AdapterWatch) -> AsyncIterator[None]:
    """Let it run."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(watch.run())
        try:
            yield
        finally:
            task.cancel()


async def test_readings_come_as_they_are_written(tmp_path: Path) -> None:
    """And nothing is left behind at the end."""
    folder = tmp_path / "wéir bin"
    folder.mkdir()
    watch = AdapterWatch(environ=stand_in(folder, GOOD))
    assert watch.now.note is not None

    async with watching(watch):
        await until_async(lambda: bool(watch.now.adapters), "a reading")
        (adapter,) = watch.now.adapters

    assert adapter.shared_bytes == 1_886_000_000
    assert adapter.name == "NVIDIA GeForce RTX 4090"
    assert watch.starts == 1
    await gone(pids(folder))


async def test_one_that_is_killed_is_started_again(tmp_path: Path) -> None:
    """Windows Update, a task manager; meanwhile it is not known, and why is said."""
    watch = AdapterWatch(environ=stand_in(tmp_path, GOOD), first_pause_s=0.05)

    async with watching(watch):
        await until_async(lambda: bool(watch.now.adapters), "a reading")
        os.kill(pids(tmp_path)[0], signal.SIGKILL)
        await until_async(lambda: not watch.now.adapters, "the loss")
        assert watch.now.note is not None
        assert "ended" in watch.now.note
        await until_async(lambda: bool(watch.now.adapters), "a reading of the next one")

    assert watch.starts == 2
    await gone(pids(tmp_path))


async def test_one_that_ends_at_once_is_tried_more_and_more_rarely(tmp_path: Path) -> None:
    """A machine where it cannot work is not kept busy with it."""
    watch = AdapterWatch(environ=stand_in(tmp_path, "exit 3"), first_pause_s=0.05)

    async with watching(watch):
        await until_async(lambda: watch.starts >= 4, "a fourth start")

    assert watch.pause_s >= 8 * 0.05
    assert "exit status 3" in (watch.now.note or "")


async def test_a_silent_one_is_ended_and_started_again(tmp_path: Path) -> None:
    """It waits for something on Windows' side that never comes."""
    environ = stand_in(tmp_path, "sleep 600")
    watch = AdapterWatch(environ=environ, silent_s=0.3, first_pause_s=0.05)

    async with watching(watch):
        await until_async(lambda: watch.starts >= 2, "a second start")

    await gone(pids(tmp_path))


async def test_an_old_reading_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lay there a minute ago says nothing of now."""
    once = GOOD.replace("sleep 0.05", "sleep 600")
    watch = AdapterWatch(environ=stand_in(tmp_path, once))

    async with watching(watch):
        await until_async(lambda: bool(watch.now.adapters), "a reading")
        monkeypatch.setattr(adapter_memory, "FRESH_S", 0.0)
        await until_async(lambda: not watch.now.adapters, "its end")

    assert "not answered" in (watch.now.note or "")


async def test_no_powershell_is_a_sentence(tmp_path: Path) -> None:
    """Interop may be switched off."""
    watch = AdapterWatch(environ={"PATH": str(tmp_path)}, first_pause_s=0.05)

    async with watching(watch):
        await until_async(lambda: watch.starts >= 2, "a second try")

    assert "cannot be started from here" in (watch.now.note or "")


async def test_a_flood_of_words_is_read_and_forgotten(tmp_path: Path) -> None:
    """Errors in red over the same pipe must not hide the readings."""
    noise = "i=0; while [ $i -lt 2000 ]; do echo 'Get-Counter : nonsense'; i=$((i+1)); done"
    watch = AdapterWatch(environ=stand_in(tmp_path, f"{noise}\n{GOOD}"))

    async with watching(watch):
        await until_async(lambda: bool(watch.now.adapters), "a reading")

    await gone(pids(tmp_path))
