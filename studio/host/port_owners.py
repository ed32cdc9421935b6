"""Who listens on a TCP port of this machine: program, process, user, container, as far as seen.

A socket of another user shows its user and hides its process; one in another network namespace is
not seen at all. What is not known is None, never guessed.
"""

import dataclasses
import re
import sys
from pathlib import Path

import psutil

PROC = Path("/proc")
_LISTENING = "0A"
"""TCP_LISTEN, as in the kernel's include/net/tcp_states.h."""
_CONTAINER = re.compile(
    r"(?P<kind>docker|libpod|crio|cri-containerd|kubepods|lxc|containerd|garden|buildkit)"
    r"(?:\S*?(?P<id>[0-9a-f]{12})[0-9a-f]{52})?"
)
_KINDS = {"libpod": "Podman", "docker": "Docker", "lxc": "LXC", "kubepods": "Kubernetes"}
_PUBLISHERS = frozenset(("docker-proxy", "rootlessport", "slirp4netns", "pasta", "conmon"))
"""Programs that listen for a container."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PortOwner:
    """Who listens."""

    name: str | None = None
    pid: int | None = None
    user: str | None = None
    """None: the same as ours, or not known."""
    container: str | None = None
    """`Docker`, `Podman 3f2a…`, `another container`; None: none, or the one we are in."""

    @property
    def words(self) -> str:
        """Return all that is known, for a sentence: `nginx (process 812, of user www-data)`."""
        facts = [
            f"process {self.pid}" if self.pid is not None else "",
            f"of user {self.user}" if self.user else "",
            f"in {self.container}" if self.container else "",
        ]
        if self.name in _PUBLISHERS:
            facts.append("which publishes a port of a container")
        said = ", ".join(fact for fact in facts if fact)
        if self.name is None:
            return f"a program that does not show itself ({said})" if said else "a hidden program"
        return f"{self.name} ({said})" if said else self.name


def find(port: int, *, proc: Path = PROC) -> PortOwner | None:
    """Return who listens on `port` at any address; None: nobody that is seen from here."""
    pid = _pid(port)
    if pid is not None:
        return _of_process(pid, proc)
    user_id = _user_id(port, proc)
    if user_id is None:
        return None
    return PortOwner(user=_user_name(user_id) or f"number {user_id}")


def _pid(port: int) -> int | None:
    try:
        connections = psutil.net_connections(kind="tcp")
    except (psutil.Error, OSError):
        return None
    for one in connections:
        is_there = one.laddr and one.laddr.port == port and one.status == psutil.CONN_LISTEN
        if is_there and one.pid is not None:
            return int(one.pid)
    return None


def _of_process(pid: int, proc: Path) -> PortOwner:
    try:
        process = psutil.Process(pid)
        name = process.name()
    except psutil.Error:
        return PortOwner(pid=pid)
    user = None
    try:
        user = process.username()
        if user == psutil.Process().username():
            user = None
    except (psutil.Error, KeyError):
        pass
    return PortOwner(name=name or None, pid=pid, user=user, container=_container(pid, proc))


def _container(pid: int, proc: Path) -> str | None:
    """Return the container of a process, where it is another one than ours."""
    theirs, ours = _groups(proc / str(pid)), _groups(proc / "self")
    if theirs is None or theirs == ours:
        return None
    match = _CONTAINER.search(theirs)
    if match is None or (ours is not None and match[0] in ours and match["id"]):
        return None
    kind = _KINDS.get(match["kind"], "another container")
    return f"{kind} {match['id']}" if match["id"] else kind


def _groups(folder: Path) -> str | None:
    try:
        return (folder / "cgroup").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _user_id(port: int, proc: Path) -> int | None:
    """Return whose listening socket it is, from the kernel's own table, which shows all users."""
    for name in ("tcp", "tcp6"):
        try:
            table = (proc / "net" / name).read_text(encoding="ascii", errors="replace")
        except OSError:
            continue
        for line in table.splitlines()[1:]:
            fields = line.split()
            if len(fields) < 8 or fields[3] != _LISTENING:
                continue
            if _hexadecimal(fields[1].rpartition(":")[2]) == port and fields[7].isdecimal():
                return int(fields[7])
    return None


def _hexadecimal(text: str) -> int | None:
    try:
        return int(text, 16)
    except ValueError:
        return None


def _user_name(user_id: int) -> str | None:
    if sys.platform == "win32":
        return None
    import pwd

    try:
        return pwd.getpwuid(user_id).pw_name
    except KeyError:
        return None
