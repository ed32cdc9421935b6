"""Clean roots of Debian by debootstrap, in which packages are tried; as root.

Whatever is mounted in one is gone before it is removed, else this machine's /dev would go with it.
A root can be without a network: a namespace of its own, in which only the loopback is.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SUITES = ("bookworm", "trixie")
USER = "zoë"
HOME = "/home/zoë of weir"
MIRROR = "http://deb.debian.org/debian"
_BASE = "ca-certificates,procps"
BORROWED = "libsqlite3-0 libffi8 libreadline8 libnuma1 libgomp1"
"""What an interpreter and a runtime of another machine need, that a clean root lacks."""
_QUIET = ("var/lib/dpkg", "var/cache", "var/log", "var/lib/apt", "etc/ld.so.cache", "proc", "sys",
          "dev", "tmp", "run", "home", "usr/share/icons", "etc/.pwd.lock")  # fmt: skip


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class Root:
    """A clean Debian below a folder."""

    def __init__(self, folder: Path, home: str = HOME) -> None:
        self.folder = folder
        self.home = home
        self._namespace: list[str] = []

    @property
    def home_folder(self) -> Path:
        """Return the person's home as this machine sees it."""
        return self.folder / self.home.lstrip("/")

    def start(self, *command: str, user: str = "root", **more: str) -> subprocess.Popen[str]:
        """Start a command inside; its words come in one piece. `more` joins its environment."""
        inside = ["chroot", str(self.folder)]
        if user != "root":
            inside = ["chroot", f"--userspec={user}:{user}", str(self.folder)]
        environment = {
            "HOME": self.home if user != "root" else "/root",
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive", "LANG": "C.UTF-8", **more,
        }  # fmt: skip
        return subprocess.Popen(
            [*self._namespace, *inside, *command], env=environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def run(self, *command: str, user: str = "root", check: bool = True, **more: str) -> str:
        """Run a command inside; return what it said. Raises: RuntimeError."""
        with self.start(*command, user=user, **more) as running:
            said, _ = running.communicate(timeout=1_800)
        if check and running.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {running.returncode}\n{said}")
        return said

    def refused(self, *command: str, user: str, **more: str) -> str:
        """Run what has to be refused in words of ours; return them. Raises: RuntimeError."""
        with self.start(*command, user=user, **more) as running:
            said, _ = running.communicate(timeout=600)
        if running.returncode in (0, -signal.SIGSEGV, -signal.SIGABRT):
            raise RuntimeError(f"{' '.join(command)}: {running.returncode}, not refused\n{said}")
        return refusal(said[max(said.find("error: "), 0) :])

    @contextmanager
    def offline(self) -> Iterator[None]:
        """Be without a network: what is started meanwhile has the loopback only."""
        with subprocess.Popen(["unshare", "--net", "sleep", "infinity"]) as holder:
            self._namespace = ["nsenter", f"--net=/proc/{holder.pid}/ns/net"]
            try:
                _until_apart(holder.pid)
                subprocess.run([*self._namespace, "ip", "link", "set", "lo", "up"], check=True)
                yield
            finally:
                self._namespace = []
                holder.kill()

    def apt(self, *words: str) -> None:
        """Run apt-get without questions and without what packages only recommend."""
        self.run("apt-get", "-y", "-qq", "--no-install-recommends", *words)

    def files(self) -> set[str]:
        """Return all files and links of the system, what every package changes left out."""
        found = set()
        for top, folders, files in os.walk(self.folder):
            inside = str(Path(top).relative_to(self.folder)).removeprefix(".")
            if inside.startswith(_QUIET):
                folders.clear()
                continue
            links = [one for one in folders if Path(top, one).is_symlink()]
            names = {str(Path(inside, name)) for name in (*files, *links)}
            found |= {name for name in names if not name.startswith(_QUIET)}
        return found


@contextmanager
def root(suite: str, folder: Path, mirror: str, shared: Path | None) -> Iterator[Root]:
    """Yield a clean root with a user; what was mounted is gone afterwards."""
    say(f"{suite}: debootstrap")
    subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={_BASE}", suite, str(folder), mirror],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    made = Root(folder)
    with mounted(folder, shared):
        made.run("apt-get", "update", "-qq")
        made.run("useradd", "--badname", "--create-home", "--home-dir", HOME, USER, check=False)
        if not (folder / HOME.lstrip("/")).is_dir():
            made.run("useradd", "--create-home", "--home-dir", HOME, "zoe")
        yield made


def _until_apart(pid: int) -> None:
    """Wait until a process has left this machine's network."""
    ours = Path("/proc/self/ns/net").readlink()
    while Path(f"/proc/{pid}/ns/net").readlink() == ours:
        time.sleep(0.01)


def clear(folder: Path) -> None:
    """Remove a root, unless something is still mounted in it: that would be this machine's /dev.

    Raises: RuntimeError.
    """
    require_nothing_mounted(folder)
    shutil.rmtree(folder, ignore_errors=True)


def require_nothing_mounted(folder: Path) -> None:
    """Look before anything in a root is removed. Raises: RuntimeError where anything is mounted."""
    inside = f"{folder.resolve()}/"
    lines = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    places = (re.sub(r"\\([0-7]{3})", _sign, line.split()[1]) for line in lines)
    found = next((place for place in places if f"{place}/".startswith(inside)), None)
    if found is not None:
        raise RuntimeError(f"{found} is mounted: `umount --recursive {found}`, then try again")


def _sign(octal: re.Match[str]) -> str:
    """Return a sign that the kernel writes as a number, as blanks are."""
    return chr(int(octal[1], 8))


@contextmanager
def mounted(folder: Path, shared: Path | None) -> Iterator[None]:
    """Have the kernel's file systems in a root, and a folder of this machine at its place."""
    mounts = ("proc", "sys", "dev")
    for name in mounts:
        subprocess.run(["mount", "--rbind", f"/{name}", str(folder / name)], check=True)
        subprocess.run(["mount", "--make-rslave", str(folder / name)], check=True)
    if shared is not None:
        place = folder / str(shared).lstrip("/")
        place.mkdir(parents=True)
        for parent in place.parents:
            if parent == folder:
                break
            parent.chmod(0o755)
        subprocess.run(["mount", "--bind", "-o", "ro", str(shared), str(place)], check=True)
    try:
        yield
    finally:
        end_all(folder)
        for name in mounts:
            subprocess.run(["umount", "--recursive", "--lazy", str(folder / name)], check=False)
        if shared is not None:
            place = folder / str(shared).lstrip("/")
            subprocess.run(["umount", "--lazy", str(place)], check=True)


def end_all(folder: Path) -> None:
    """End what still runs inside a root, and nothing else."""
    for place in Path("/proc").glob("[0-9]*/root"):
        with suppress(OSError):
            if place.readlink().is_relative_to(folder):
                os.kill(int(place.parent.name), signal.SIGKILL)


@contextmanager
def over(place: Path, *what: str) -> Iterator[None]:
    """Have something else mounted at a place of a root for a while."""
    place.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", *what, str(place)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def screen() -> list[str]:
    """Return what gives a command a screen; its number is one that this machine's own lack.

    A root has its own /tmp, but shares the abstract sockets on which screens are found as well.
    """
    return ["xvfb-run", "-a", "-n", str(random.randint(1_000, 30_000))]


def refusal(said: str) -> str:
    """Return the first line of a refusal, which is ours. Raises: RuntimeError."""
    if not said.startswith("error: ") or "Traceback" in said:
        raise RuntimeError(f"this is no refusal of ours: {said}")
    return said.splitlines()[0]


def require_sentences(what: str, said: str) -> None:
    """Refuse what a person could not read. Raises: RuntimeError."""
    if not said.strip() or "Traceback" in said:
        raise RuntimeError(f"{what} says {said}")
