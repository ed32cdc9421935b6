"""What systemd is asked, and what is said where it does not run."""

import logging
import os
import socket
from pathlib import Path

import pytest

from studio.domain.errors import HostLacks
from studio.host import systemd
from studio.host.systemd import Notifier, UserManager
from tests.fakes import fake_systemd


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Return the folder in which the stand-in keeps its state."""
    fake_systemd.install(tmp_path / "bin", tmp_path / "state")
    return tmp_path / "state"


def manager(state: Path, **environ: str) -> UserManager:
    """Return a manager that finds the stand-in."""
    path = f"{state.parent / 'bin'}:{os.environ['PATH']}"
    return UserManager(
        {"PATH": path, "HOME": str(state.parent), **environ}, root=state / "root", uid=4321
    )


def calls(state: Path) -> list[str]:
    """Return what was called."""
    return (state / "calls").read_text(encoding="utf-8").splitlines()


async def test_the_version_decides_what_a_unit_may_say(state: Path) -> None:
    """Read from the manager itself, which may be another than the tool."""
    (state / "version").write_text("255.4-1ubuntu8")

    assert await manager(state).version() == 255


async def test_no_systemd_is_said_without_calling_anything(state: Path, tmp_path: Path) -> None:
    """Containers have the programs and no manager; their own words help nobody."""
    found = UserManager({"PATH": f"{tmp_path / 'bin'}"}, root=tmp_path / "bare", uid=1)

    with pytest.raises(HostLacks) as caught:
        await found.version()

    assert caught.value.code == "no-systemd"
    assert "weir service run --autostart" in (caught.value.hint or "")
    assert not (state / "calls").exists()


async def test_wsl_without_systemd_hears_how_to_switch_it_on(tmp_path: Path) -> None:
    """WSL runs without it unless two lines say otherwise."""
    found = UserManager({"WSL_DISTRO_NAME": "Ubuntu"}, root=tmp_path, uid=1)

    with pytest.raises(HostLacks) as caught:
        await found.version()

    assert "/etc/wsl.conf" in (caught.value.hint or "")
    assert "systemd=true" in (caught.value.hint or "")
    assert "wsl --shutdown" in (caught.value.hint or "")


async def test_a_shell_of_su_hears_how_to_log_in(state: Path) -> None:
    """The manager is there and cannot be reached: the commonest trap of user units."""
    (state / "no-session").touch()

    with pytest.raises(HostLacks) as caught:
        await manager(state).version()

    assert caught.value.code == "no-user-session"
    assert "Failed to connect to bus" in caught.value.evidence[-1]


async def test_the_session_is_found_where_the_variable_is_missing(state: Path) -> None:
    """Cron and sudo drop XDG_RUNTIME_DIR, and systemctl finds nothing without it."""
    (state / "root" / "run" / "user" / "4321").mkdir(parents=True)

    found = manager(state)

    assert found._variables()["XDG_RUNTIME_DIR"] == str(state / "root/run/user/4321")
    assert manager(state, XDG_RUNTIME_DIR="/mine")._variables()["XDG_RUNTIME_DIR"] == "/mine"


async def test_linger_is_switched_and_seen(state: Path) -> None:
    """What runs without a login is decided by one file, which anybody may look at."""
    found = manager(state)
    assert found.has_linger() is False

    await found.linger(on=True)

    assert found.has_linger() is True
    assert calls(state) == [f"loginctl --no-ask-password enable-linger {found.user}"]
    await found.linger(on=False)
    assert found.has_linger() is False


async def test_a_refused_linger_names_what_an_administrator_types(state: Path) -> None:
    """Over SSH polkit says no; the way out is one line."""
    (state / "refuse").touch()
    found = manager(state)

    with pytest.raises(HostLacks) as caught:
        await found.linger(on=True)

    assert caught.value.code == "linger-refused"
    assert f"sudo loginctl enable-linger {found.user}" in (caught.value.hint or "")


async def test_a_call_that_fails_brings_systemds_own_words(state: Path) -> None:
    """They are what a person can look up."""
    (state / "refuse").write_text("daemon-reload")

    with pytest.raises(HostLacks) as caught:
        await manager(state).reload()

    assert caught.value.code == "systemd-refused"
    assert caught.value.evidence == ("daemon-reload: refused by the test",)


async def test_a_unit_that_nobody_installed_has_no_state(state: Path) -> None:
    """Zero is what systemd writes for no process."""
    found = await manager(state).state()

    assert (found.pid, found.enabled, found.active) == (None, None, "inactive")


def test_the_manager_hears_and_the_engine_does_not(tmp_path: Path) -> None:
    """An engine that inherited the address could tell systemd that we are ready."""
    address = str(tmp_path / "notify")
    environ = {"NOTIFY_SOCKET": address}
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(address)
        notifier = Notifier(environ)

        notifier.say("READY=1", "STATUS=fine")

        assert listener.recv(100) == b"READY=1\nSTATUS=fine"
    assert environ == {}
    assert notifier.is_heard


def test_an_abstract_address_is_understood() -> None:
    """Some managers listen on a name that no folder holds."""
    name = f"weir-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(f"\0{name}")

        Notifier({"NOTIFY_SOCKET": f"@{name}"}).say("READY=1")

        assert listener.recv(100) == b"READY=1"


@pytest.mark.parametrize("address", ["", "/nobody/listens/here"])
def test_a_manager_that_is_not_there_is_no_failure(address: str) -> None:
    """The service runs by hand too."""
    Notifier({"NOTIFY_SOCKET": address}).say("READY=1")


def test_the_journal_gets_weights_and_no_times() -> None:
    """It has its own; `journalctl -p warning` goes by the weight."""
    status = os.fstat(2)
    (handler,) = systemd.journal_handlers({"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"})
    record = logging.LogRecord("studio", logging.WARNING, "", 0, "two\nlines", (), None)

    assert handler.format(record) == "<4>studio: two\n<4>lines"


def test_without_a_journal_nothing_is_written_twice() -> None:
    """A variable inherited by a shell under systemd names another stream than ours."""
    assert systemd.journal_handlers({}) == []
    assert systemd.journal_handlers({"JOURNAL_STREAM": "1:2"}) == []


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"HOME": "/home/me"}, "/home/me/.config/systemd/user"),
        ({"HOME": "/home/me", "XDG_CONFIG_HOME": "/elsewhere"}, "/elsewhere/systemd/user"),
        ({"HOME": "/home/me", "XDG_CONFIG_HOME": "relative"}, "/home/me/.config/systemd/user"),
    ],
)
def test_the_unit_lies_where_systemd_looks(environ: dict[str, str], folder: str) -> None:
    """systemd ignores a relative XDG_CONFIG_HOME, so a unit there would never be found."""
    assert systemd.unit_folder(environ) == Path(folder)
