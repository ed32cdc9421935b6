"""The life of the .run in a clean root: updates by a signed feed while it serves, and the way back.

The feed comes from a loopback server and from a folder. What has to be refused is tried first: a
changed feed, half a package, a full disk. Then a version that starts but lost its catalogue, which
has to be taken back, and the whole one. With a key (`--key`) those releases are signed here.
"""

import functools
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from installer import feed, freeze, selfextract, served
from installer.roots import HOME, Root, over, say
from studio.domain.self_update import FEED_FILE

PROGRAM = f"{HOME}/.local/bin/weir"
_VERSIONS = ".local/opt/weir-studio"
_STICK = "tmp/stick"
_KILLS = 5
_SMALL_MB = 300
_SEED = 5


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    def log_message(self, format: str, *args: object) -> None:  # the name is http.server's
        """Say nothing."""


class Publisher(ThreadingHTTPServer):
    """Serves to whoever may break off: an update that was refused midway says so itself."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing."""


@contextmanager
def published(folder: Path) -> Iterator[str]:
    """Serve a folder on the loopback; yield its address."""
    handler = functools.partial(Quiet, directory=str(folder))
    with Publisher(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def try_update(
    made: Root, package: Path, newer: Path, user: str, seed: Path | None, broken: Path | None
) -> None:
    """Update a .run by its feed while it serves, and go back. Raises: RuntimeError."""
    made.run(f"/tmp/{package.name}", user=user)
    if seed is not None:
        served.serve(made, user, seed, PROGRAM)
    stick = made.folder / _STICK
    copied(newer, stick)
    with published(stick) as address:
        try_lies(made, stick, user, address)
        if broken is not None:
            try_broken(made, stick, newer, broken, user, address)
        try_whole(made, user, address, has_engine=seed is not None)
    made.run(PROGRAM, "down", user=user, check=False)
    try_kills(made, package, newer, user)
    made.run(PROGRAM, "uninstall", "--remove", "all", user=user)
    shutil.rmtree(stick)


def copied(newer: Path, stick: Path) -> None:
    """Copy a release to where it is published."""
    shutil.rmtree(stick, ignore_errors=True)
    stick.mkdir()
    for path in newer.iterdir():
        if path.is_file():
            shutil.copy(path, stick)


def try_lies(made: Root, stick: Path, user: str, address: str) -> None:
    """See a changed feed and half a package refused. Raises: RuntimeError."""
    before = version(made, user)
    whole = (stick / FEED_FILE).read_bytes()
    (stick / FEED_FILE).write_bytes(whole.replace(b'"minimum_version"', b'"minimum_version" '))
    said = made.refused(PROGRAM, "update", "get", "--from", address, user=user)
    say(f"  update with a wrong signature: {said}")
    (stick / FEED_FILE).write_bytes(whole)
    [package] = stick.glob("*.run")
    data = package.read_bytes()
    package.write_bytes(data[: len(data) // 2])
    said = made.refused(PROGRAM, "update", "get", "--from", address, user=user)
    say(f"  update with half a package: {said}")
    package.write_bytes(data)
    if version(made, user) != before:
        raise RuntimeError(f"a refused update changed the version: {version(made, user)}")


def try_broken(made: Root, stick: Path, newer: Path, broken: Path, user: str, address: str) -> None:
    """Let a version take over that starts, answers, and lists no runtimes. Raises: RuntimeError."""
    before = version(made, user)
    [package] = stick.glob("*.run")
    shutil.copy(broken, package)
    announce(stick, package)
    made.run(PROGRAM, "update", "get", "--from", address, user=user)
    begun = time.monotonic()
    said = made.refused(PROGRAM, "update", "apply", "--yes", user=user)
    say(
        f"  a version without its catalogue, taken back in {time.monotonic() - begun:.0f} s: {said}"
    )
    now, known = version(made, user), served.updates(made, user, PROGRAM)
    if now != before or not known["failed"]:
        raise RuntimeError(f"it was not taken back: {now}, {known}")
    shutil.copy(next(newer.glob("*.run")), package)
    announce(stick, package)


def announce(stick: Path, package: Path) -> None:
    """Sign a feed of what lies there, newer than every one before."""
    number = package.name.split("-")[2]
    before = (stick / FEED_FILE).read_bytes()
    while not feed.write(stick, [package], number) or before == (stick / FEED_FILE).read_bytes():
        raise RuntimeError("no key: the trial's releases cannot be signed")
    time.sleep(1.1)  # a feed's number is the second in which it was signed


def try_whole(made: Root, user: str, address: str, *, has_engine: bool) -> None:
    """Update by two at once, and go back. Raises: RuntimeError."""
    before = version(made, user)
    both = [made.start(PROGRAM, "update", "get", "--from", address, user=user) for _ in range(2)]
    said = [one.communicate(timeout=900)[0] for one in both]
    if not any(one.returncode == 0 for one in both):
        raise RuntimeError(f"neither of two updates at once fetched it: {said}")
    others = [said[at] for at, one in enumerate(both) if one.returncode != 0]
    if any("Another process" not in one for one in others):
        raise RuntimeError(f"two updates at once: {others}")
    say(f"  two at once: one fetched it, {len(others)} was told to wait")
    for words in (("apply", "--yes"), ("rollback", "--yes")):
        begun = time.monotonic()
        made.run(PROGRAM, "update", *words, user=user)
        now = version(made, user)
        say(f"  update {words[0]} {time.monotonic() - begun:.0f} s: {now}")
        if (now == before) is (words[0] == "apply"):
            raise RuntimeError(f"update {words[0]}: the version is {now}")
        if has_engine:
            say(f"    {served.answer(made, user, PROGRAM)}")
            say(f"    asked: {served.asked(made, user, PROGRAM)!r}")


def try_kills(made: Root, package: Path, newer: Path, user: str) -> None:
    """Install the newer over the older and be killed; one of them starts. Raises: RuntimeError."""
    [new] = newer.glob("*.run")
    shutil.copy(new, made.folder / "tmp")
    chosen = random.Random(_SEED)
    seen = []
    for _ in range(_KILLS):
        begun = time.monotonic()
        made.run(f"/tmp/{package.name}", "--quiet", user=user)
        takes_s = time.monotonic() - begun
        # A session of its own: the whole of it is killed, as by a power cut.
        running = made.start("setsid", "sh", f"/tmp/{new.name}", "--quiet", "--nox11", user=user)
        time.sleep(takes_s * chosen.uniform(0.3, 1.0))
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        seen.append(version(made, user).split()[-1])
    made.run(f"/tmp/{new.name}", "--quiet", user=user)
    left = sorted(path.name for path in (made.home_folder / _VERSIONS).iterdir())
    say(f"  killed {_KILLS} times while it was installed: {' '.join(seen)} started; then {left}")
    if any(name.endswith(".part") or name == ".installing" for name in left):
        raise RuntimeError(f"left of an installation that was killed: {left}")


def try_small_disk(made: Root, package: Path, newer: Path, user: str) -> None:
    """Install and update on disks that are too small. Raises: RuntimeError."""
    place = made.folder / "srv/small"
    size = f"size={_SMALL_MB}m,mode=777"
    with over(place, "--types", "tmpfs", "-o", size, "weir-trial"):
        filled = place / "others"
        filled.write_bytes(bytes(_SMALL_MB - 100 << 20))
        where = ("--", "--prefix", "/srv/small/mine")
        said = made.refused(f"/tmp/{package.name}", *where, user=user)
        say(f"  installed on a full disk: {said}")
        filled.unlink()
        made.run(f"/tmp/{package.name}", *where, user=user)
        program = "/srv/small/mine/bin/weir"
        stick = made.folder / _STICK
        copied(newer, stick)
        said = made.refused(
            program, "update", "get", "--from", f"/{_STICK}", user=user, WEIR_HOME="/srv/small/home"
        )
        say(f"  updated on a full disk of its own folder: {said}")
        other = f"{HOME}/other home"
        said = made.refused(
            program, "update", "get", "--from", f"/{_STICK}", user=user, WEIR_HOME=other
        )
        say(f"  updated on a full disk of the program: {said}")
        shutil.rmtree(made.folder / other.lstrip("/"))
        now = made.run(program, "--version", user=user).strip()
        left = sorted(path.name for path in (place / "mine/opt/weir-studio").iterdir())
        say(f"  still there: {now}, {left}")
        if now.split()[-1] not in left or any(".part" in name for name in left):
            raise RuntimeError(f"a full disk left {left}")
        shutil.rmtree(stick)
    with over(place, "--types", "tmpfs", "-o", "size=20m,mode=1777", "weir-trial"):
        said = made.run(f"/tmp/{package.name}", user=user, check=False, TMPDIR="/srv/small")
        say(f"  unpacked on a full disk: {' '.join(said.split())[-160:]}")


def version(made: Root, user: str) -> str:
    """Return what the person's command says. Raises: RuntimeError where it does not start."""
    return made.run(PROGRAM, "--version", user=user).strip()


def without_catalogue(newer: Path, work: Path) -> Path:
    """Pack the newer version without its runtimes: it starts, and lost what a person has."""
    [package] = newer.glob("*.run")
    number = package.name.split("-")[2]
    unpacked = work / "unpacked"
    for old in (unpacked, work / "out"):
        shutil.rmtree(old, ignore_errors=True)
    unpacked.mkdir(parents=True)
    subprocess.run(
        ["sh", str(package), "--noexec", "--quiet", "--nox11", "--target", str(unpacked)],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    frozen = unpacked / freeze.NAME
    shutil.rmtree(frozen / "_internal/runtimes")
    return selfextract.build(frozen, work, work / "out", number)
