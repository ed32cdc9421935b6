"""Findings about caches: announced, kept between runs, and without any text."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from studio.app.cache import Cache, kept
from studio.domain.events import CacheFound, Event
from studio.gateway.cache_doctor import CacheDoctor
from tests.fakes.waiting import until_async
from tests.gateway.prompt_support import SYSTEM
from tests.gateway.test_cache_doctor import case, look


async def found(path: Path, events: list[Event]) -> Cache:
    """Return a cache whose doctor has found something."""
    doctor = CacheDoctor(on_finding=lambda finding: made.heard(finding))
    made = Cache(path, doctor, names=lambda: {"k1": "laptop"}, publish=events.append)
    made.begin()
    await look(doctor, *(case(n, head=f"It is 1{n}:00.\n{SYSTEM}") for n in range(1, 6)))
    return made


class LastFirst(ThreadPoolExecutor):
    """Threads of which the first begins after the second has ended."""

    def __init__(self) -> None:
        super().__init__(1)
        self._held: Callable[[], object] | None = None
        self._is_first = True

    def submit(self, fn, /, *args, **kwargs):
        """Run `fn`, or hold it back."""
        if self._is_first:
            self._is_first = False
            self._held = lambda: fn(*args, **kwargs)
            return Future()
        future = super().submit(fn, *args, **kwargs)
        if self._held is not None:
            super().submit(self._held)
            self._held = None
        return future


async def test_a_finding_is_announced_and_survives_a_kill(tmp_path: Path) -> None:
    """It is written when it is found, not when the service ends."""
    events: list[Event] = []
    path = tmp_path / "cache-findings.json"
    made = await found(path, events)

    (event,) = events
    assert isinstance(event, CacheFound)
    assert event.finding.key == "laptop"
    await until_async(path.exists, "the file of findings")
    assert [one.id for one in kept(path)] == [event.finding.id]
    assert made.current == 1
    assert made.report().is_live


async def test_without_a_service_the_last_findings_are_shown(tmp_path: Path) -> None:
    """`weir cache` answers also when everything is stopped."""
    path = tmp_path / "cache-findings.json"
    await (await found(path, [])).keep()

    again = Cache(path, CacheDoctor(findings=kept(path)), names=dict, publish=[].append)

    report = again.report()
    assert not report.is_live
    assert len(report.findings) == 1


async def test_the_file_holds_no_text_of_a_prompt(tmp_path: Path) -> None:
    """Nor a hash of it."""
    path = tmp_path / "cache-findings.json"
    await (await found(path, [])).keep()

    text = path.read_text(encoding="utf-8")

    assert path.stat().st_mode & 0o077 == 0
    for word in ("Rule", "brief", "Question", "It is 1"):
        assert word not in text


async def test_they_are_forgotten_when_told_and_with_their_key(tmp_path: Path) -> None:
    """What still is will be found again."""
    path = tmp_path / "cache-findings.json"
    made = await found(path, [])
    await made.forget("k1")
    assert kept(path) == ()

    made = await found(path, [])
    assert (await made.clear()).findings == ()
    assert kept(path) == ()


async def test_what_was_forgotten_does_not_come_back_with_a_slow_thread(tmp_path: Path) -> None:
    """The write of a finding may begin after the write without it; the newer state counts."""
    path = tmp_path / "cache-findings.json"
    threads = LastFirst()
    asyncio.get_running_loop().set_default_executor(threads)
    made = await found(path, [])

    await made.clear()
    await asyncio.to_thread(lambda: None)  # the write of the finding, held back, has ended

    assert kept(path) == ()


def test_a_damaged_file_holds_none(tmp_path: Path) -> None:
    """A service starts without them."""
    path = tmp_path / "cache-findings.json"
    path.write_text("nonsense")

    assert kept(path) == ()
    assert kept(tmp_path / "none.json") == ()
