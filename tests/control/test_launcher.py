"""Finding the service, or starting it, whatever an earlier one left behind."""

import asyncio
import contextlib
import json
import os
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from studio.app.studio import Studio
from studio.app.wiring import Parts
from studio.control import address, launcher, service
from studio.control.router import Router
from studio.domain.errors import HostLacks, NotFound, ServiceUnreachable, StudioError
from studio.host import files
from studio.host.paths import Paths
from tests.app.running import fake_paths
from tests.fakes.waiting import gone, until, until_async
from tests.fakes.weir import free_port

LIMIT_S = 40


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Paths]:
    """Return a home; a service that was started in it is killed after the test."""
    with fake_paths(tmp_path) as made:
        monkeypatch.setenv("WEIR_HOME", str(made.home))
        monkeypatch.setenv("WEIR_CATALOGUE", str(made.catalogue))
        yield made
        end_services(made)


def end_services(paths: Paths) -> None:
    """Kill what runs in this home."""
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if process.environ().get("WEIR_HOME") == str(paths.home):
                process.kill()
                process.wait(20)


async def connect(paths: Paths, *, start: bool = True, hold: bool = False) -> int:
    """Return the process id of the service that was found or started."""
    async with asyncio.timeout(LIMIT_S):
        client = await launcher.connect(paths, start=start, hold=hold)
        status = await client.status()
        await client.close()
    return status.service.pid


def leave(paths: Paths, *, port: int, token: str = "old", pid: int = 1) -> None:
    """Leave the files of a service that was killed."""
    files.make_private(paths.service)
    place = {"port": port, "pid": pid, "version": "0.0.9", "started_at": 0.0}
    address.address_file(paths).write_text(json.dumps(place))
    address.token_file(paths).write_text(token)


@contextlib.contextmanager
def foreigner(*said: bytes, hangs: bool = False) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the port of another program, and what it was told."""
    told: list[bytes] = []
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        told.append(connection.recv(65_536))
                        if hangs:
                            done.wait(LIMIT_S)
                        for piece in said:
                            connection.sendall(piece)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1], told
        done.set()
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(LIMIT_S)


async def test_without_a_service_the_answer_is_that_none_runs(paths: Paths) -> None:
    """And looking leaves no trace in a home that may not even exist."""
    with pytest.raises(ServiceUnreachable) as caught:
        await connect(paths, start=False)

    assert caught.value.code == "service-not-running"
    assert "weir up" in (caught.value.hint or "")
    assert not paths.service.exists()


async def test_one_is_started_and_found_again(paths: Paths) -> None:
    """It outlives whoever started it; the next one joins."""
    first = await connect(paths)

    assert await connect(paths) == first
    assert await connect(paths, start=False) == first


async def test_two_at_once_end_up_with_one(paths: Paths) -> None:
    """The window and a terminal, opened in the same second."""
    async with asyncio.TaskGroup() as tasks:
        found = [tasks.create_task(connect(paths)) for _ in range(4)]

    assert len({task.result() for task in found}) == 1


def _nobody() -> tuple[int, list[bytes]]:
    return free_port(), []


@pytest.mark.parametrize(
    "said",
    [
        None,
        (b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>",),
        (b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n",),
        (b"SSH-2.0-OpenSSH_9.2\r\n",),
        (b"",),
    ],
    ids=["nobody", "a web page", "another token", "ssh", "hangs up"],
)
async def test_whoever_has_the_port_of_a_killed_service_is_not_taken_for_it(
    paths: Paths, said: tuple[bytes, ...] | None
) -> None:
    """It may be anybody's by now."""
    with contextlib.ExitStack() as stack:
        port, _ = _nobody() if said is None else stack.enter_context(foreigner(*said))
        leave(paths, port=port)

        with pytest.raises(ServiceUnreachable) as caught:
            await connect(paths, start=False)

    assert caught.value.code == "service-not-running"


async def test_the_files_of_a_killed_service_bar_nobody(paths: Paths) -> None:
    """A program with another token answers where it was; the start does not mind."""
    with foreigner(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n") as (port, _):
        leave(paths, port=port)

        assert psutil.pid_exists(await connect(paths))


async def test_a_foreign_program_that_says_nothing_costs_seconds_only(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would otherwise cost the whole patience of a start."""
    monkeypatch.setattr(launcher, "JOIN_S", 0.5)
    with foreigner(hangs=True) as (port, _):
        leave(paths, port=port)

        assert psutil.pid_exists(await connect(paths))


@pytest.mark.parametrize(
    "damage",
    [
        lambda p: address.address_file(p).write_bytes(b""),
        lambda p: address.address_file(p).write_bytes(b"\x00" * 120),
        lambda p: address.address_file(p).write_bytes(b'{"port": "18020"}'),
        lambda p: address.address_file(p).write_bytes(b'{"port": -1, "pid": 1, '
                                                      b'"version": "", "started_at": 0}'),
        lambda p: address.address_file(p).write_bytes(b'{"port": 99999, "pid": 1, '
                                                      b'"version": "", "started_at": 0}'),
        lambda p: address.token_file(p).write_bytes(b"\xff\xfe"),
        lambda p: address.token_file(p).write_bytes(b"two\nlines\r\n: x"),
        lambda p: address.token_file(p).write_bytes(b""),
        lambda p: address.token_file(p).unlink(),
    ],
    ids=["empty", "zeros", "wrong type", "port -1", "port 99999", "token no text",
         "token lines", "token empty", "no token"],
)  # fmt: skip
async def test_damaged_files_are_taken_for_stale_ones(
    paths: Paths, damage: Callable[[Paths], object]
) -> None:
    """After a power cut the start must work, not explain JSON."""
    leave(paths, port=free_port())
    damage(paths)

    with pytest.raises(ServiceUnreachable) as caught:
        await connect(paths, start=False)

    assert caught.value.code == "service-not-running"


async def test_damaged_files_are_written_anew(paths: Paths) -> None:
    """By the service that is started."""
    leave(paths, port=free_port())
    address.address_file(paths).write_bytes(b"\x00" * 120)
    address.token_file(paths).write_bytes(b"\xff\xfe")

    assert psutil.pid_exists(await connect(paths))


async def test_a_service_that_is_just_ending_is_waited_out(paths: Paths) -> None:
    """`weir down; weir up`: the old one still holds the lock, and answers no more."""
    with files.exclusive(address.lock_file(paths)) as is_ours:
        assert is_ours
        async with asyncio.TaskGroup() as tasks:
            starting = tasks.create_task(connect(paths))
            log = paths.logs / "service-start.log"
            await until_async(lambda: log.exists() and b"already" in log.read_bytes(), "a try")
            release(paths)
            assert psutil.pid_exists(await starting)


def release(paths: Paths) -> None:
    """Let go of this process's lock on the home, as an ending service does."""
    address.lock_file(paths).unlink()


async def test_a_folder_full_of_strange_modules_changes_nothing(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People stand in folders with a `secrets.py`; it must not become part of the service."""
    strange = tmp_path / "strange"
    strange.mkdir()
    for name in ("secrets", "logging", "httpx", "msgspec", "studio"):
        (strange / f"{name}.py").write_text("raise SystemExit('a stranger was imported')\n")
    monkeypatch.chdir(strange)

    assert psutil.pid_exists(await connect(paths))


async def test_a_service_that_cannot_start_says_why(paths: Paths) -> None:
    """Its last words are the evidence: here, settings that are no JSON."""
    paths.settings_file.write_text('{"port": ')

    with pytest.raises(StudioError) as caught:
        await connect(paths)

    error = caught.value
    assert error.code == "service-not-started"
    assert "service-start.log" in (error.hint or "")
    assert any("settings.json" in line for line in error.evidence)
    assert not any("Traceback" in line for line in error.evidence)


async def test_a_home_that_is_a_file_says_so(paths: Paths, tmp_path: Path) -> None:
    """Nothing is started then."""
    (tmp_path / "file").write_text("")
    blocked = Paths(home=tmp_path / "file" / "home", catalogue=paths.catalogue)

    with pytest.raises(HostLacks) as caught:
        await connect(blocked)

    assert caught.value.code == "not-writable"
    assert "WEIR_HOME" in (caught.value.hint or "")


async def test_a_held_service_ends_with_its_holder(paths: Paths) -> None:
    """`weir up` in a terminal that is closed must leave nothing."""
    async with asyncio.timeout(LIMIT_S):
        client = await launcher.connect(paths, start=True, hold=True)
        async with contextlib.aclosing(client.events(hold=True)) as events:
            await anext(events)
            pid = (await client.status()).service.pid
        await client.close()

    await gone([pid])
    assert not address.address_file(paths).exists()


async def test_a_held_service_stays_once_somebody_keeps_it(paths: Paths) -> None:
    """`weir up --detach` beside a `weir up`."""
    async with asyncio.timeout(LIMIT_S):
        client = await launcher.connect(paths, start=True, hold=True)
        async with contextlib.aclosing(client.events(hold=True)) as events:
            await anext(events)
            pid = (await client.status()).service.pid
            assert await connect(paths) == pid
        await client.close()

    with pytest.raises(psutil.TimeoutExpired):
        await asyncio.to_thread(psutil.Process(pid).wait, service.RELEASE_S + 1.5)


@contextlib.asynccontextmanager
async def offline(paths: Paths) -> AsyncIterator[Any]:
    """Yield a client that needs no service."""

    async def nothing() -> None:
        return

    studio = Studio(Parts(paths))
    client = launcher.in_process(Router(studio, down=nothing), studio.close)
    yield client
    await client.close()


async def test_presets_need_no_service(paths: Paths) -> None:
    """`weir presets` on a fresh machine starts nothing and writes nothing."""
    before = sorted(paths.home.rglob("*"))
    async with offline(paths) as client:
        (preset,) = await client.presets()

    assert preset.id == "fake-demo"
    assert preset.usable
    assert preset.download_bytes == 0
    assert sorted(paths.home.rglob("*")) == before


async def test_errors_come_through_without_a_service(paths: Paths) -> None:
    """With the same code as over the wire, hostile names included."""
    async with offline(paths) as client:
        with pytest.raises(StudioError) as caught:
            await client.revoke_key("../../stop?x#ü")
        with pytest.raises(StudioError) as streamed:
            async with contextlib.aclosing(client.events()) as events:
                await anext(events)

    assert caught.value.code == "key-unknown"
    assert "../../stop?x#ü" in caught.value.message
    assert streamed.value.code == "path-unknown"
    assert isinstance(caught.value, StudioError)
    assert caught.value.exit_status == NotFound.exit_status


def test_the_log_of_the_start_is_private(paths: Paths) -> None:
    """It may hold paths and names of the person."""
    asyncio.run(connect(paths))
    log = paths.logs / "service-start.log"

    until(log.exists, "the log")
    assert log.stat().st_mode & 0o077 == 0
    assert os.getuid() == log.stat().st_uid
