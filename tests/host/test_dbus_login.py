"""Word of sleep, over a real bus with a stand-in for logind."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from studio.domain.errors import HostLacks
from studio.host import dbus_login
from studio.host.dbus_login import SleepWatch
from tests.fakes.logind import Logind, logind, private_bus
from tests.fakes.waiting import LIMIT_S, until_async


@contextlib.asynccontextmanager
async def listening(watch: SleepWatch) -> AsyncIterator[None]:
    """Let `watch` run while inside."""
    async with asyncio.timeout(2 * LIMIT_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(watch.run())
        await until_async(lambda: watch.is_listening, "the watch")
        yield
        running.cancel()


@pytest.fixture
def bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run a bus of one's own; a busy machine gets the time that it needs."""
    monkeypatch.setattr(dbus_login, "READY_WITHIN_S", LIMIT_S)
    with private_bus(tmp_path, monkeypatch):
        yield


async def test_sleep_waits_until_the_service_is_ready(bus: None) -> None:
    """The lock is let go when the work is done, not before, and not only after five seconds."""
    heard: list[tuple[bool, int]] = []
    may_sleep = asyncio.Event()
    with logind() as system:

        async def hear(is_before: bool) -> None:
            heard.append((is_before, system.held))
            if is_before:
                await may_sleep.wait()

        async with listening(SleepWatch(hear)):
            assert system.asked == [
                ("sleep", "Weir Studio", "The engine is told before the machine sleeps", "delay")
            ]
            system.announce(is_before=True)
            await until_async(lambda: heard == [(True, 1)], "word of sleep")
            assert system.held == 1

            may_sleep.set()

            await until_async(lambda: system.held == 0, "the lock's end")


async def test_after_waking_the_next_sleep_is_put_off_again(bus: None) -> None:
    """A laptop sleeps more than once."""
    heard: list[bool] = []

    async def hear(is_before: bool) -> None:
        heard.append(is_before)

    with logind() as system:
        async with listening(SleepWatch(hear)):
            for count in (1, 2, 3):
                system.announce(is_before=True)
                await until_async(lambda: system.held == 0, "the lock's end")
                system.announce(is_before=False)
                await until_async(lambda wanted=count + 1: len(system.locks) == wanted, "a lock")
                await until_async(lambda: system.held == 1, "a lock that is held")
            await until_async(lambda: heard == [True, False] * 3, "all words")


async def test_word_of_sleep_before_the_lock_is_there_is_heard(bus: None) -> None:
    """A lid that is closed at once again: the word comes while the next lock is asked for."""
    heard: list[bool] = []

    async def hear(is_before: bool) -> None:
        heard.append(is_before)

    with logind() as system:
        async with listening(SleepWatch(hear)):
            system.announce(is_before=True)
            await until_async(lambda: system.held == 0, "the lock's end")
            system.announces_first = True
            system.announce(is_before=False)

            await until_async(lambda: heard == [True, False, True], "all words")
            await until_async(lambda: system.held == 0, "the second lock's end")


async def test_the_end_of_a_waking_lets_no_sleep_through(bus: None) -> None:
    """A laptop that sleeps again while its engine is still looked at: that is told first."""
    heard: list[bool] = []
    looked, may_sleep = asyncio.Event(), asyncio.Event()
    may_sleep.set()

    async def hear(is_before: bool) -> None:
        heard.append(is_before)
        await (may_sleep if is_before else looked).wait()

    watch = SleepWatch(hear)
    with logind() as system:
        async with listening(watch):
            system.announce(is_before=True)
            await until_async(lambda: system.held == 0, "the lock's end")
            system.announce(is_before=False)
            await until_async(lambda: len(system.locks) == 2 and len(heard) == 2, "the waking")
            may_sleep.clear()
            system.announce(is_before=True)
            await until_async(lambda: watch._told.qsize() == 1, "word of the next sleep")

            looked.set()

            await until_async(lambda: heard == [True, False, True], "all words")
            assert not watch._ready.is_set()
            assert system.held == 1
            may_sleep.set()
            await until_async(lambda: system.held == 0, "the second lock's end")


async def test_an_end_while_the_lock_is_asked_for_leaves_none(bus: None) -> None:
    """A service that is stopped as it starts, while logind has other things to do."""

    async def hear(_is_before: bool) -> None:
        return

    watch = SleepWatch(hear)
    with logind() as system:
        system.may_answer.clear()
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(watch.run())
            await until_async(lambda: len(system.asked) == 1, "the wish for a lock")
            running.cancel()
        system.may_answer.set()

        await until_async(lambda: len(system.locks) == 1 and system.held == 0, "the lock's end")
    assert not watch.is_listening


async def test_a_bus_is_given_as_long_to_let_us_in_as_to_answer(
    bus: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that has just started is busy; who gives up then hears nothing of sleep again."""
    granted_s: list[float] = []

    def open_slowly(**options: Any) -> DBusConnection:
        granted_s.append(options["auth_timeout"])
        return open_dbus_connection(**options)

    async def hear(_is_before: bool) -> None:
        return

    monkeypatch.setattr(dbus_login, "open_dbus_connection", open_slowly)
    with logind():
        async with listening(SleepWatch(hear)):
            assert granted_s == [dbus_login.REPLY_S]


async def test_its_end_leaves_no_lock_and_no_thread(bus: None) -> None:
    """A lock that a service forgot would slow every sleep down until the next login."""

    async def hear(_is_before: bool) -> None:
        return

    with logind() as system:
        async with listening(SleepWatch(hear)):
            assert system.held == 1
        await until_async(lambda: system.held == 0, "the lock's end")

    def threads() -> list[str]:
        return [one.name for one in threading.enumerate() if one.name == "weir-sleep"]

    await until_async(lambda: threads() == [], "the thread's end")


@pytest.mark.parametrize("refuses", [True, False])
async def test_where_nobody_announces_sleep_it_is_said(bus: None, refuses: bool) -> None:
    """A bus without logind, and one whose logind says no."""

    async def hear(_is_before: bool) -> None:
        raise AssertionError

    with contextlib.ExitStack() as stack:
        if refuses:
            stack.enter_context(logind(refuses=True))
        with pytest.raises(HostLacks) as caught:
            await SleepWatch(hear).run()

    assert caught.value.code == "no-logind"


async def test_without_a_bus_it_is_said_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most containers have none."""
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", f"unix:path={tmp_path / 'none'}")

    async def hear(_is_before: bool) -> None:
        raise AssertionError

    with pytest.raises(HostLacks):
        await SleepWatch(hear).run()


async def test_a_bus_that_goes_away_ends_the_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its caller may then try again; nothing hangs."""

    async def hear(_is_before: bool) -> None:
        return

    async with asyncio.timeout(2 * LIMIT_S), asyncio.TaskGroup() as tasks:
        with private_bus(tmp_path, monkeypatch):
            system = Logind()
            watch = SleepWatch(hear)
            running = tasks.create_task(watch.run())
            await until_async(lambda: watch.is_listening, "the watch")
        await running
        system.close()
