"""Another machine's service, through a stand-in for ssh."""

import asyncio
import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from studio.control import remote
from studio.domain.errors import BadInput, ServiceUnreachable, StudioError
from studio.host.http_ports import listen
from tests.fakes.ssh import FakeSsh
from tests.fakes.waiting import gone, until, until_async
from tests.fakes.weir import free_port
from tests.ui.fake_http import TOKEN
from tests.ui.fake_service import FakeService

HOST = "gpu-box"


class Far:
    """The other machine: a home, a service, and the way to it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "weir home ä"
        self.ssh = FakeSsh(folder / "bin")
        self.service = FakeService()
        self.service.open()
        self.write()
        self.reach = remote.SshReach(HOST, None, self.ssh.environ(self.home))

    def write(self, token: str = TOKEN) -> None:
        """Write what a running service writes."""
        (self.home / "service").mkdir(parents=True, exist_ok=True)
        port = int(self.service.address.rpartition(":")[2])
        address = {"port": port, "pid": 1, "version": "0", "started_at": 0.0}
        (self.home / "service/service.json").write_text(json.dumps(address), encoding="utf-8")
        (self.home / "service/token").write_text(token, encoding="ascii")

    def kinds(self) -> list[str]:
        """Return the calls of ssh."""
        return [kind for _host, kind, _pid in self.ssh.calls()]


async def ended(reach: remote.SshReach) -> None:
    """End its tunnel, and hear of that while the loop runs."""
    tunnel = reach._tunnel
    reach.end()
    if tunnel is not None:
        await tunnel.last_words()


@pytest.fixture
async def far(tmp_path: Path) -> AsyncIterator[Far]:
    """Return another machine with a running service."""
    made = Far(tmp_path)
    yield made
    await ended(made.reach)
    await asyncio.to_thread(made.service.close)


async def test_the_service_answers_through_the_tunnel_which_is_kept(far: Far) -> None:
    """The second connection needs no second login."""
    client = await far.reach.connect()
    assert (await client.status()).service.home == "/home/ada/weir"
    await client.close()

    again = await far.reach.connect()
    await again.close()

    assert far.kinds() == ["script", "tunnel"]


async def test_the_gateway_comes_along_where_its_port_is_free_here(far: Far) -> None:
    """The address in the window then leads to the engine from here too."""
    port = free_port()
    engine = await listen("127.0.0.1", 0)
    taken = int(engine.getsockname()[1])
    far.home.joinpath("settings.json").write_text(json.dumps({"port": port}), encoding="utf-8")

    client = await far.reach.connect()
    await client.close()
    assert await remote._answers(port)

    await ended(far.reach)
    far.home.joinpath("settings.json").write_text(json.dumps({"port": taken}), encoding="utf-8")
    again = await far.reach.connect()
    await again.close()
    engine.close()


async def test_a_service_that_came_back_elsewhere_is_found_again(far: Far) -> None:
    """Port and token are others after every start."""
    client = await far.reach.connect()
    await client.close()
    await asyncio.to_thread(far.service.close)
    far.service.open()
    far.write()

    again = await far.reach.connect()
    assert (await again.status()).service.pid == 4200
    await again.close()

    assert far.kinds() == ["script", "tunnel"] * 2
    await gone([int(far.ssh.calls()[1][2])])


async def test_a_tunnel_that_died_is_dug_anew(far: Far) -> None:
    """A laptop that slept, a router that forgot."""
    client = await far.reach.connect()
    await client.close()
    os.kill(int(far.ssh.calls()[1][2]), signal.SIGKILL)
    tunnel = far.reach._tunnel
    assert tunnel is not None
    await until_async(lambda: not tunnel.is_running, "the tunnel's end")

    again = await far.reach.connect()
    await again.close()

    assert far.kinds() == ["script", "tunnel"] * 2


async def test_no_service_there_says_how_to_start_one(far: Far) -> None:
    """It is never started from here: nobody would know where its output goes."""
    shutil.rmtree(far.home / "service")

    with pytest.raises(ServiceUnreachable) as missing:
        await far.reach.connect()

    assert missing.value.info.code == "service-not-running"
    assert "weir up --detach" in missing.value.info.message
    assert HOST in missing.value.info.message


async def test_what_ssh_refuses_is_told_in_words(far: Far) -> None:
    """The window's line shows the message."""
    far.ssh.fail("Host key verification failed.\r\n")

    with pytest.raises(ServiceUnreachable) as refused:
        await far.reach.connect()

    assert refused.value.info.code == "ssh-host-key"


async def test_a_folder_of_ones_own_can_be_named(far: Far, tmp_path: Path) -> None:
    """With spaces, quotes and umlauts."""
    other = tmp_path / "it's Jörg's"
    shutil.move(far.home, other)
    reach = remote.SshReach(HOST, str(other), far.ssh.environ(far.home))

    client = await reach.connect()
    await client.close()
    await ended(reach)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("", "remote-not-understood"),
        ("Welcome to gpu-box\nfish: Unknown command", "remote-not-understood"),
        ("weir-remote-1 end /h\n", "service-not-running"),
        (
            "weir-remote-1 service/service.json\n{broken\nweir-remote-1 end /h\n",
            "service-not-running",
        ),
    ],
)
def test_nonsense_from_the_other_side_is_no_address(said: str, code: str) -> None:
    """Login messages, other shells, half-written files."""
    with pytest.raises(ServiceUnreachable) as refused:
        remote.read_found(HOST, said)

    assert refused.value.info.code == code


def test_greetings_around_the_answer_do_no_harm() -> None:
    """`.bashrc` of many people prints something."""
    said = (
        "hello\n\nweir-remote-1 service/service.json\n"
        '{"port": 7, "pid": 1, "version": "0", "started_at": 0.0}\n'
        "\nweir-remote-1 service/token\nabc\n\nweir-remote-1 settings.json\n"
        '{"port": 19}\n\nweir-remote-1 end /home/ada/x y\nbye\n'
    )

    assert remote.read_found(HOST, said) == remote.Found(7, "abc", 19)


@pytest.mark.parametrize(
    "text", ["", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:x", "10.0.0.5:7000", "gpu-box:7000", ":7"]
)
def test_a_token_is_sent_to_this_machines_own_ports_only(text: str) -> None:
    """Anywhere else it could be read on the way."""
    with pytest.raises(BadInput) as refused:
        remote.require_address(text)

    assert refused.value.info.code == "remote-address"


async def test_an_address_with_a_token_reads_it_anew_each_time(far: Far, tmp_path: Path) -> None:
    """The service has another token after its restart."""
    token = tmp_path / "token"
    token.write_text("wrong", encoding="ascii")
    port = far.service.address.rpartition(":")[2]
    place, connect = remote.reach(
        ssh=None, address=f"localhost:{port}", token_file=token, home=None
    )
    assert place == f"localhost:{port}"
    with pytest.raises(StudioError):
        await connect()

    token.write_text(TOKEN, encoding="ascii")
    client = await connect()
    await client.close()


def test_an_address_without_a_token_is_refused() -> None:
    """Before a window opens that could never show anything."""
    with pytest.raises(BadInput) as refused:
        remote.reach(ssh=None, address="127.0.0.1:7", token_file=None, home=None)

    assert refused.value.info.code == "token-missing"


SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin")


@pytest.fixture
def real_ssh(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Return an environment whose `ssh` knows a real sshd of ours as `gpu-box`."""
    ssh = shutil.which("ssh")
    if SSHD is None or ssh is None or (os.getuid() == 0 and not Path("/run/sshd").is_dir()):
        pytest.skip("no sshd that could be started here")
    for name in ("host", "user"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True
        )
    port = free_port()
    (tmp_path / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {tmp_path}/host\nPidFile none\n"
        f"AuthorizedKeysFile {tmp_path}/user.pub\nStrictModes no\nUsePAM no\n"
        "PasswordAuthentication no\nPermitRootLogin yes\n",
        encoding="ascii",
    )
    known = (tmp_path / "host.pub").read_text(encoding="ascii")
    (tmp_path / "known").write_text(f"[127.0.0.1]:{port} {known}", encoding="ascii")
    (tmp_path / "config").write_text(
        f"Host {HOST}\n HostName 127.0.0.1\n Port {port}\n User {getpass.getuser()}\n"
        f" IdentityFile {tmp_path}/user\n IdentitiesOnly yes\n"
        f" UserKnownHostsFile {tmp_path}/known\n",
        encoding="ascii",
    )
    program = tmp_path / "real/ssh"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {ssh} -F {tmp_path}/config "$@"\n', encoding="ascii")
    program.chmod(0o755)
    server = subprocess.Popen(
        [SSHD, "-D", "-e", "-f", str(tmp_path / "sshd_config")], stderr=subprocess.DEVNULL
    )
    until(lambda: listens(port), "sshd")
    yield {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    server.kill()
    server.wait()


def listens(port: int) -> bool:
    """Tell whether somebody listens."""
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


async def test_a_real_ssh_over_loopback_does_the_same(
    far: Far, real_ssh: dict[str, str], tmp_path: Path
) -> None:
    """The stand-in proves our half only; its unknown key and its login are OpenSSH's own."""
    reach = remote.SshReach(HOST, str(far.home), real_ssh)
    client = await reach.connect()
    assert (await client.status()).service.home == "/home/ada/weir"
    await client.close()
    tunnel = reach._tunnel
    assert tunnel is not None
    await ended(reach)
    await gone([tunnel.pid])

    (tmp_path / "known").write_text("", encoding="ascii")
    with pytest.raises(ServiceUnreachable) as refused:
        await reach.connect()
    assert refused.value.info.code == "ssh-host-key"
