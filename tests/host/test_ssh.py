"""ssh as a helper: what it is told, and what its words mean."""

from pathlib import Path

import pytest

from studio.domain.errors import BadInput, HostLacks, ServiceUnreachable
from studio.host import ssh
from tests.fakes.ssh import FakeSsh
from tests.fakes.waiting import gone, until_async


@pytest.fixture
def fake(tmp_path: Path) -> FakeSsh:
    """Return a stand-in for ssh, in a folder with a space."""
    return FakeSsh(tmp_path / "b in")


@pytest.mark.parametrize("host", ["", " ", "-oProxyCommand=evil", "a b", "a\nb", "--"])
def test_what_could_be_an_option_is_no_host(host: str) -> None:
    """ssh runs programs that options name."""
    with pytest.raises(BadInput) as refused:
        ssh.require_host(host)

    assert refused.value.info.code == "ssh-host"


@pytest.mark.parametrize("host", ["gpu-box", "ada@gpu-box", "ssh://ada@gpu-box:2222", "kiste-ä"])
def test_whatever_ssh_takes_is_a_host(host: str) -> None:
    """Names of `~/.ssh/config` may be anything."""
    assert ssh.require_host(f" {host} ") == host


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("Host key verification failed.", "ssh-host-key"),
        ("ada@gpu: Permission denied (publickey,password).", "ssh-login-refused"),
        ("ssh: Could not resolve hostname gpu: Name or service not known", "ssh-host-unknown"),
        ("ssh: connect to host gpu port 22: Connection refused", "ssh-refused"),
        ("ssh: connect to host gpu port 22: Connection timed out", "ssh-unreachable"),
        ("ssh: connect to host gpu port 22: No route to host", "ssh-unreachable"),
        ("bind [127.0.0.1]:18020: Address already in use", "ssh-port-taken"),
        ("kex_exchange_identification: read: Connection reset by peer", "ssh-failed"),
    ],
)
def test_what_ssh_says_becomes_a_sentence_with_a_way_out(line: str, code: str) -> None:
    """Each of the ways in which a first try ends."""
    error = ssh.said("gpu", (line,)).info

    assert error.code == code
    assert "gpu" in error.message
    assert error.hint
    assert error.evidence == (line,)


def test_silence_is_a_failure_too() -> None:
    """A child that was killed said nothing."""
    assert ssh.said("gpu", ()).info.message == "The program ssh could not reach gpu."


async def test_a_script_runs_in_the_posix_shell_of_the_other_machine(
    fake: FakeSsh, tmp_path: Path
) -> None:
    """Whatever the login shell is; quotes and umlauts arrive."""
    home = tmp_path / "Jörg's home"
    said = await ssh.run_script(
        "gpu", 'printf "%s\\n" "$WEIR_HOME" "it\'s"', environ=fake.environ(home)
    )

    assert said.splitlines() == [str(home), "it's"]


async def test_a_refused_login_is_told_as_one(fake: FakeSsh, tmp_path: Path) -> None:
    """Exit status 255 is ssh's own."""
    fake.fail("ada@gpu: Permission denied (publickey).\n")

    with pytest.raises(ServiceUnreachable) as refused:
        await ssh.run_script("gpu", "true", environ=fake.environ(tmp_path))

    assert refused.value.info.code == "ssh-login-refused"


async def test_a_tunnel_lives_until_it_is_ended(fake: FakeSsh, tmp_path: Path) -> None:
    """And nothing of it is left."""
    environ = fake.environ(tmp_path)
    running = await ssh.tunnel("gpu", {0: 9}, environ=environ)
    await until_async(lambda: bool(fake.calls()), "the call")
    pid = int(fake.calls()[0][2])
    assert running.is_running
    assert running.pid == pid

    running.end()

    assert await running.last_words() == ()
    assert not running.is_running
    await gone([pid])


async def test_a_machine_without_ssh_says_so(tmp_path: Path) -> None:
    """A container, or Windows without the feature."""
    with pytest.raises(HostLacks) as lacking:
        await ssh.tunnel("gpu", {1: 2}, environ={"PATH": str(tmp_path)})

    assert lacking.value.info.code == "program-missing"


def test_a_token_is_read_from_its_file_or_its_lack_is_said(tmp_path: Path) -> None:
    """A copy with a line end, an empty file, none."""
    path = tmp_path / "token"
    path.write_text("abc\n", encoding="ascii")
    assert ssh.token_of(path) == "abc"

    path.write_bytes(b"")
    for place in (path, tmp_path / "none"):
        with pytest.raises(BadInput) as unreadable:
            ssh.token_of(place)
        assert unreadable.value.info.code == "token-unreadable"
