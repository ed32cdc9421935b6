"""Clean roots of Debian by debootstrap, in which packages are tried; as root.

A Debian is made once and copied for each trial. Whatever is mounted in a root is gone before it is
removed, else this machine's /dev would go with it; what a trial that was killed left mounted is
taken off first. A root can be without a network: a namespace of its own with the loopback alone.
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
_MERGED = ("bin/", "sbin/", "lib/", "lib64/")
"""Links into /usr."""
_QUIET = ("var/lib/dpkg", "var/cache", "var/log", "var/lib/apt", "etc/ld.so.cache", "proc", "sys",
          "dev", "tmp", "run", "home", "usr/share/icons/hicolor/icon-theme.cache",
          "etc/.pwd.lock")  # fmt: skip


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

    def run(
        self, *command: str, user: str = "root", check: bool = True, within_s: float = 1_800,
        **more: str,
    ) -> str:  # fmt: skip
        """Run a command inside; return what it said. Raises: RuntimeError."""
        running, said = self._ended(within_s, *command, user=user, **more)
        if check and running.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {running.returncode}\n{said}")
        return said

    def _ended(
        self, within_s: float, *command: str, user: str, **more: str
    ) -> tuple[subprocess.Popen[str], str]:
        """Return a command that has ended and what it said. Raises: RuntimeError when it hangs."""
        with self.start(*command, user=user, **more) as running:
            try:
                said, _ = running.communicate(timeout=within_s)
            except subprocess.TimeoutExpired as late:
                end_all(self.folder)
                heard = late.output or b""  # bytes also where text was asked for
                said = heard.decode("utf-8", "replace") if isinstance(heard, bytes) else heard
                words = f"{' '.join(command)}: not done after {within_s:.0f} s"
                raise RuntimeError(f"{words}\n{said}") from late
            finally:
                running.kill()  # where this program is ended; what has ended is not harmed
        return running, said

    def refused(self, *command: str, user: str, **more: str) -> str:
        """Run what has to be refused in words of ours; return them. Raises: RuntimeError."""
        running, said = self._ended(600, *command, user=user, **more)
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

    def owned(self) -> set[str]:
        """Return what belongs to packages that are installed, as `files` names it."""
        lists = (self.folder / "var/lib/dpkg/info").glob("*.list")
        lines = [line[1:] for path in lists for line in path.read_text("utf-8").splitlines()]
        return {f"usr/{line}" if line.startswith(_MERGED) else line for line in lines}

    def named(self, word: str) -> set[str]:
        """Return everything with a word in its name, also where every package changes things."""
        found = set()
        for top, folders, files in os.walk(self.folder):
            if Path(top) == self.folder:
                folders[:] = [name for name in folders if name not in ("proc", "sys", "dev")]
            paths = (Path(top, name) for name in (*folders, *files) if word in name)
            found |= {f"/{path.relative_to(self.folder)}" for path in paths}
        return found

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


def base(suite: str, work: Path, mirror: str, more: str) -> Path:
    """Return a clean Debian with a person in it, made where `work` has none yet.

    `more`: packages that it has beside the least. Raises: subprocess.CalledProcessError.
    """
    marked = f"{suite}-{'borrowing' if more else 'plain'}"
    whole, part = work / f"base-{marked}", work / f"base-{marked}.part"
    if whole.is_dir():
        return whole
    clear(part)
    say(f"  {suite}: debootstrap")
    subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={_BASE}", suite, str(part), mirror],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    made = Root(part)
    with mounted(part, None):
        made.run("apt-get", "update", "-qq")
        if more:
            made.apt("install", *more.split())
        made.run("useradd", "--badname", "--create-home", "--home-dir", HOME, USER, check=False)
        if not (part / HOME.lstrip("/")).is_dir():
            made.run("useradd", "--create-home", "--home-dir", HOME, "zoe")
    part.rename(whole)
    return whole


def person(made: Root) -> str:
    """Return who lives in a root: Debian 13 refuses the name with a letter of its own."""
    return USER if made.run("id", USER, check=False).startswith("uid") else "zoe"


@contextmanager
def root(of: Path, folder: Path, shared: Path | None) -> Iterator[Root]:
    """Yield a copy of a clean root; what was mounted is gone afterwards."""
    clear(folder)
    subprocess.run(["cp", "-a", "--reflink=auto", str(of), str(folder)], check=True)
    made = Root(folder)
    with mounted(folder, shared):
        made.run("apt-get", "update", "-qq")  # the base may be of another day
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


def release(folder: Path) -> None:
    """End and take off what a trial that was killed left in a root. Raises: RuntimeError."""
    end_all(folder.resolve())
    # All on their own first: what is taken off a copy of /dev that is not goes from /dev as well.
    for words in (("mount", "--make-private"), ("umount", "--lazy")):
        for place in reversed(_mounted_in(folder)):
            subprocess.run([*words, place], check=False, stderr=subprocess.DEVNULL)
    require_nothing_mounted(folder)


def require_nothing_mounted(folder: Path) -> None:
    """Look before anything in a root is removed. Raises: RuntimeError where anything is mounted."""
    for place in _mounted_in(folder):
        raise RuntimeError(f"{place} is mounted: `umount --recursive {place}`, then try again")


def _mounted_in(folder: Path) -> list[str]:
    """Return where something is mounted at or below a folder, in the kernel's order."""
    inside = f"{folder.resolve()}/"
    lines = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    places = (re.sub(r"\\([0-7]{3})", _sign, line.split()[1]) for line in lines)
    return [place for place in places if f"{place}/".startswith(inside)]


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
