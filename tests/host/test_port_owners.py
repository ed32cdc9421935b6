"""Whose a port is: as much as this user may see, and nothing made up."""

import os
import pwd
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from studio.host import port_owners
from studio.host.port_owners import PortOwner, find

_LISTENS = (
    "import socket,sys;s=socket.create_server(('127.0.0.1',0));"
    "print(s.getsockname()[1],flush=True);sys.stdin.read()"
)
TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:{port} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000 {uid:>5} 0 1 1
   1: broken
"""


def proc(folder: Path, *, tcp: str = "", tcp6: str = "") -> Path:
    """Return a stand-in for /proc with these tables."""
    (folder / "net").mkdir()
    (folder / "net" / "tcp").write_text(tcp)
    (folder / "net" / "tcp6").write_text(tcp6)
    return folder


def hide_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the operating system keep processes of others to itself, as it does without root."""
    monkeypatch.setattr(psutil, "net_connections", lambda **_options: [])


def test_a_program_of_ours_is_named_with_its_process() -> None:
    """The person ends that one, and no other."""
    with socket.create_server(("127.0.0.1", 0)) as holder:
        owner = find(holder.getsockname()[1])

    assert owner is not None
    assert owner.pid == os.getpid()
    assert owner.words == f"{psutil.Process().name()} (process {os.getpid()})"


def test_ipv6_is_seen_too() -> None:
    """Many servers listen on :: only."""
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as holder:
        owner = find(holder.getsockname()[1])

    assert owner is not None
    assert owner.pid == os.getpid()


def test_nobody_is_nobody() -> None:
    """A port that is bound and not listened on has no owner to end."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))

        assert find(bound.getsockname()[1]) is None


@pytest.mark.parametrize("table", ["tcp", "tcp6"])
def test_of_another_user_the_user_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    """The kernel hides the process and shows the user."""
    hide_processes(monkeypatch)
    root = TABLE.format(port=f"{18020:04X}", state="0A", uid=0)

    owner = find(18020, proc=proc(tmp_path, **{table: root}))

    assert owner == PortOwner(user=pwd.getpwuid(0).pw_name)
    assert owner.words == "a program that does not show itself (of user root)"


def test_a_user_without_a_name_has_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Users of containers are in no list of ours."""
    hide_processes(monkeypatch)
    table = TABLE.format(port=f"{18020:04X}", state="0A", uid=99999)

    owner = find(18020, proc=proc(tmp_path, tcp=table))

    assert owner is not None
    assert owner.user == "number 99999"


def test_a_connection_is_no_listener(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Established connections use the same local port."""
    hide_processes(monkeypatch)
    table = TABLE.format(port=f"{18020:04X}", state="01", uid=0)

    assert find(18020, proc=proc(tmp_path, tcp=table)) is None
    assert find(18020, proc=tmp_path / "none") is None


@pytest.mark.parametrize(
    ("theirs", "ours", "said"),
    [
        (f"0::/system.slice/docker-{'3f2a' * 16}.scope", "0::/user.slice", "Docker 3f2a3f2a3f2a"),
        (f"0::/docker/{'ab12' * 16}", "0::/", "Docker ab12ab12ab12"),
        (f"0::/machine.slice/libpod-{'0c' * 32}.scope", "0::/", "Podman 0c0c0c0c0c0c"),
        ("0::/lxc/web/init.scope", "0::/", "LXC"),
        (f"0::/crio-{'0c' * 32}.scope", "0::/", "another container 0c0c0c0c0c0c"),
        (f"0::/docker/{'ab12' * 16}", f"0::/docker/{'ab12' * 16}", None),
        (f"0::/docker/{'ab12' * 16}/x", f"0::/docker/{'ab12' * 16}", None),
        ("0::/user.slice", "0::/system.slice", None),
    ],
)
def test_a_container_is_named_where_it_is_not_ours(
    tmp_path: Path, theirs: str, ours: str, said: str | None
) -> None:
    """Ending a process in a container does not help: it is started again."""
    child = subprocess.Popen(
        [
            sys.executable, "-c",
            _LISTENS,
        ],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert child.stdout is not None
        port = int(child.stdout.readline())
        for name, group in ((str(child.pid), theirs), ("self", ours)):
            (tmp_path / name).mkdir()
            (tmp_path / name / "cgroup").write_text(group + "\n")

        owner = find(port, proc=tmp_path)
    finally:
        child.communicate("")

    assert owner is not None
    assert owner.pid == child.pid
    assert owner.container == said


@pytest.mark.parametrize(
    ("owner", "words"),
    [
        (PortOwner(name="nginx", pid=8, user="www-data"), "nginx (process 8, of user www-data)"),
        (
            PortOwner(name="docker-proxy", pid=9),
            "docker-proxy (process 9, which publishes a port of a container)",
        ),
        (PortOwner(name="python3", pid=7, container="LXC"), "python3 (process 7, in LXC)"),
        (PortOwner(pid=7), "a program that does not show itself (process 7)"),
        (PortOwner(), "a hidden program"),
        (PortOwner(name="x"), "x"),
    ],
)
def test_all_that_is_known_is_said(owner: PortOwner, words: str) -> None:
    """And nothing that is not."""
    assert owner.words == words


def test_a_process_that_just_ended_is_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the list and the look it may be gone."""
    monkeypatch.setattr(port_owners, "_pid", lambda _port: 4_194_304)

    assert find(1) == PortOwner(pid=4_194_304)
