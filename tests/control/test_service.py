"""The service process: one a home, and it ends in order, whatever ends it."""

import asyncio
import contextlib
import json
import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from studio.control import address, launcher
from studio.control.client import ControlClient
from studio.domain.control import UpRequest
from studio.domain.errors import HostLacks, ServiceUnreachable
from studio.domain.events import ServiceStopping
from tests.fakes.catalogue import install_fake
from tests.fakes.waiting import gone, until
from tests.fakes.weir import Weir, fake_weir, weir_home

LIMIT_S = 30.0
LONG = Path(*["a-folder-with-a-long-name-and-ünïcödé"] * 5)


async def client_of(weir: Weir) -> ControlClient:
    """Return a client of the running service."""
    return await launcher.connect(weir.paths, start=False, hold=False)


def begin(weir: Weir, *words: str) -> subprocess.Popen[str]:
    """Start the service and wait until it can be found."""
    process = weir.start("service", "run", *words)
    until(address.address_file(weir.paths).exists, "the service")
    return process


def mount(folder: Path, options: str) -> None:
    """Put a small disk of its own on `folder`."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "weir-test", str(folder)],
        capture_output=True, check=False,
    )  # fmt: skip
    if mounted.returncode != 0:
        pytest.skip(f"mounting a tmpfs is not allowed here: {mounted.stderr.decode().strip()}")


@contextlib.contextmanager
def tiny_home(folder: Path, catalogue: Path) -> Iterator[Weir]:
    """Yield a `weir` whose home is a disk of one MiB."""
    folder.mkdir()
    mount(folder, "size=1m")
    try:
        with weir_home(folder, catalogue) as weir:
            yield weir
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Leave not one byte."""
    with contextlib.suppress(OSError), (folder / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def test_its_files_are_private_and_tell_where_it_is(weir: Weir) -> None:
    """Whoever reads the token may stop the engine and make keys."""
    process = begin(weir)

    found, token = address.read_address(weir.paths) or (None, "")
    assert found is not None
    assert found.pid == process.pid
    assert len(token) >= 32
    for path in (address.address_file(weir.paths), address.token_file(weir.paths)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(weir.paths.service.stat().st_mode) == 0o700


def test_a_second_one_on_the_same_home_steps_back(weir: Weir) -> None:
    """It must not touch the first one's files, and it is no failure."""
    begin(weir)
    before = address.address_file(weir.paths).read_bytes()

    second = weir.run("service", "run")

    assert second.returncode == 0
    assert "runs already" in second.stdout
    assert address.address_file(weir.paths).read_bytes() == before
    assert asyncio.run(_pid(weir)) == json.loads(before)["pid"]


async def _pid(weir: Weir) -> int:
    client = await client_of(weir)
    status = await client.status()
    await client.close()
    return status.service.pid


def test_each_start_has_a_token_of_its_own(weir: Weir) -> None:
    """A token that leaked is worth nothing after the next start."""
    tokens = set()
    for _ in range(2):
        process = begin(weir)
        tokens.add(address.token_file(weir.paths).read_text())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=LIMIT_S)

    assert len(tokens) == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_in_order(weir: Weir, number: signal.Signals) -> None:
    """systemd, Ctrl+C, a closed terminal: engine stopped, files removed, exit status 0."""
    process = begin(weir)
    asyncio.run(_up(weir))
    assert weir.engine_pids()

    process.send_signal(number)
    _, errors = process.communicate(timeout=LIMIT_S)

    assert process.returncode == 0
    assert errors == ""
    assert weir.engine_pids() == []
    assert {path.name for path in weir.paths.service.iterdir()} == {"lock"}
    log = (weir.paths.logs / "service.log").read_text(encoding="utf-8")
    assert number.name in log


async def _up(weir: Weir, **overrides: str) -> None:
    client = await client_of(weir)
    await client.up(UpRequest(overrides=overrides))
    await client.close()


def test_two_signals_in_a_row_do_no_harm(weir: Weir) -> None:
    """Ctrl+C twice is what people press."""
    process = begin(weir)
    asyncio.run(_up(weir))

    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=LIMIT_S)

    assert (process.returncode, errors) == (0, "")
    assert weir.engine_pids() == []


async def test_down_ends_it_and_says_so_first(weir: Weir) -> None:
    """The window hears why its stream ends."""
    process = begin(weir)
    client = await client_of(weir)
    heard: list[object] = []

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:

        async def listen() -> None:
            async with contextlib.aclosing(client.events()) as events:
                await anext(events)
                tasks.create_task(client.down())
                heard.extend([event async for event in events])

        tasks.create_task(listen())
    await client.close()

    assert ServiceStopping(reason="weir down") in heard
    await gone([process.pid])
    with pytest.raises(ServiceUnreachable):
        await client_of(weir)


async def test_a_down_while_it_boots_ends_both(weir: Weir) -> None:
    """Nobody waits a minute to be allowed to stop."""
    begin(weir)
    client = await client_of(weir)

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        starting = tasks.create_task(_refused_up(client))
        async with contextlib.aclosing(client.events()) as events:
            async for event in events:
                if getattr(getattr(event, "engine", None), "phase", None) is not None:
                    break
        await client.down()
        assert await starting == "up-stopped"
    await client.close()

    assert weir.engine_pids() == []


async def _refused_up(client: ControlClient) -> str:
    with pytest.raises(Exception, match="stopped") as caught:
        await client.up(UpRequest(overrides={"boot_s": "60"}))
    return str(getattr(caught.value, "code", caught.value))


def test_whoever_never_came_is_not_waited_for_for_ever(weir: Weir) -> None:
    """Started for a terminal that was killed before it could hold on."""
    code = (
        "from studio.control import service\n"
        "from studio.host import paths\n"
        "service.FIRST_HOLD_S = 0.1\n"
        "raise SystemExit(service.run(paths.from_environment(), until_released=True))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], env=dict(weir.environment), timeout=LIMIT_S, check=False
    )

    assert ended.returncode == 0
    assert not address.address_file(weir.paths).exists()


def _begun(code: str, weir: Weir) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", code], env=dict(weir.environment))


async def test_whoever_waits_for_an_answer_keeps_the_service_going(weir: Weir) -> None:
    """A second command may find the service of a first one that is just over."""
    code = (
        "from studio.control import service\n"
        "from studio.host import paths\n"
        "service.FIRST_HOLD_S = 1.0\n"
        "raise SystemExit(service.run(paths.from_environment(), until_released=True))"
    )
    child = _begun(code, weir)
    try:
        until(lambda: address.address_file(weir.paths).exists(), "the service's address")
        client = await launcher.connect(weir.paths, start=False, hold=False)
        result = await client.up(UpRequest(overrides={"boot_s": "3"}))
        await client.close()
    finally:
        child.wait(LIMIT_S)

    assert result.preset == "fake-demo"
    assert child.returncode == 0


def test_a_home_that_cannot_be_written_is_refused_in_words(weir: Weir, tmp_path: Path) -> None:
    """A read-only disk, somebody else's folder, a file in the way."""
    (tmp_path / "file").write_text("")
    environment = {**weir.environment, "WEIR_HOME": str(tmp_path / "file" / "home")}

    done = subprocess.run(
        [sys.executable, "-m", "studio", "service", "run"],
        env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip

    assert done.returncode == 4
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_read_only_disk_is_refused_in_words(weir: Weir, tmp_path: Path) -> None:
    """A disk with errors is mounted read-only by the system, in the middle of a day."""
    with tiny_home(tmp_path / "tiny", weir.paths.catalogue) as tiny:
        remounted = ["mount", "-o", "remount,ro", str(tiny.paths.home)]
        subprocess.run(remounted, check=True)

        done = tiny.run("up", "--detach", "--json")

    error = json.loads(done.stdout)
    assert done.returncode == 4
    assert error["code"] == "not-writable"
    assert "Read-only" in error["message"]
    assert "WEIR_HOME" in error["hint"]


def test_a_full_disk_is_refused_in_words(weir: Weir, tmp_path: Path) -> None:
    """Before a token or an address was half written."""
    with tiny_home(tmp_path / "tiny", weir.paths.catalogue) as tiny:
        fill(tiny.paths.home)

        done = tiny.run("service", "run")

        assert done.returncode == 4
        assert "full" in done.stderr
        assert "WEIR_HOME" in done.stderr
        assert "Traceback" not in done.stderr
        with pytest.raises(HostLacks) as caught:
            address.require_writable(tiny.paths)
        assert caught.value.code == "disk-full"


def test_a_disk_that_fills_up_ends_no_service(weir: Weir, tmp_path: Path) -> None:
    """Logs and settings are lost then, not the engine that somebody is talking to."""
    with tiny_home(tmp_path / "tiny", weir.paths.catalogue) as tiny:
        install_fake(tiny.paths)
        process = begin(tiny)
        fill(tiny.paths.home)

        up = tiny.run("up", "--detach", "--json")
        status = tiny.json("status")
        tiny.run("down")
        process.communicate(timeout=LIMIT_S)

    document = json.loads(up.stdout)
    assert up.returncode in (0, 4), up.stdout + up.stderr
    assert document.get("code") in (None, "disk-full")
    assert status["service"]["pid"] == process.pid
    assert process.returncode == 0


def test_a_damaged_settings_file_is_named_with_what_to_do(weir: Weir) -> None:
    """Half a file after a full disk, or one that was edited."""
    weir.paths.settings_file.write_text('{"port": "18020"}')

    done = weir.run("service", "run")

    assert done.returncode == 4
    assert "settings.json" in done.stderr
    assert "delete" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_damaged_database_is_named(weir: Weir) -> None:
    """The keys are in it; nothing is thrown away unasked."""
    weir.paths.database.write_bytes(b"no database at all" * 100)

    done = weir.run("service", "run")

    assert done.returncode == 4
    assert "studio.db" in done.stderr
    assert "Traceback" not in done.stderr
    assert weir.paths.database.read_bytes().startswith(b"no database")


def test_a_long_home_serves_through_a_short_folder(tmp_path: Path) -> None:
    """A Unix socket's path ends at 107 bytes; the person's folder may not."""
    with fake_weir(tmp_path / LONG) as weir:
        assert len(os.fsencode(weir.paths.service / "engine-01234567.sock")) > 107
        sockets = weir.paths.sockets
        begin(weir)
        asyncio.run(_up(weir))

        assert {path.suffix for path in sockets.iterdir() if not path.is_symlink()} == {".sock"}
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
        assert weir.run("down").returncode == 0
        until(lambda: not sockets.exists(), "the end of the folder")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a folder that is another user's")
def test_a_short_folder_that_is_a_trap_is_refused(tmp_path: Path) -> None:
    """Its name can be guessed, and anybody may write to /tmp."""
    with fake_weir(tmp_path / LONG) as weir:
        sockets = weir.paths.sockets
        sockets.mkdir()
        try:
            os.chown(sockets, 65534, 65534)

            done = weir.run("service", "run")
        finally:
            sockets.rmdir()

    assert done.returncode == 4
    assert "another user" in done.stderr


def test_no_secret_is_logged_at_the_start(weir: Weir) -> None:
    """Logs are pasted into issues."""
    process = begin(weir)
    token = address.token_file(weir.paths).read_text()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=LIMIT_S)

    log = (weir.paths.logs / "service.log").read_text(encoding="utf-8")
    assert "control port" in log
    assert token not in log


def test_service_and_engine_may_open_as_many_files_as_the_system_allows(tmp_path: Path) -> None:
    """A shell gives 1,024, with which an engine fails under load; the hard limit is the rule."""
    hard = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 1_048_576)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with fake_weir(tmp_path) as weir:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
            begin(weir)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        asyncio.run(_up(weir))
        pids = [weir.service_pid(), *weir.engine_pids()]

        found = [psutil.Process(pid).rlimit(psutil.RLIMIT_NOFILE)[0] for pid in pids]

    assert len(found) > 2
    assert set(found) == {hard}
