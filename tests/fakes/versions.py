"""Versions of the Studio as a .run lays them down, with this very code in them.

Each is a shell script that starts the real program under another number, as if it were frozen, so
that updates exchange real services. What a version does wrong is its `fault`.
"""

import base64
import hashlib
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from installer import feed
from installer.deb import ICON, LINUX
from studio.domain.self_update import Feed, FeedPackage
from studio.host import signing
from studio.host.paths import bundled_root

FAULTS = {
    "none": "",
    "dies": "if 'run' in sys.argv: sys.exit(3)",
    "hangs": "if 'run' in sys.argv: time.sleep(600)",
    "migrates": "from studio.gateway import database; database.SCHEMA_VERSION = 99; "
    "database._bring_up = lambda connection, version: None",
    "migrates and dies": "from studio.gateway import database; database.SCHEMA_VERSION = 99; "
    "database._bring_up = lambda connection, version: None; "
    "from studio.control import trial; trial._shortcoming = lambda *_: asyncio.sleep(0, 'mute')",
    "forgets": "from studio.presets.store import PresetStore; "
    "PresetStore._files = lambda self: self._in(self._bundled)",
    "crashes": "if 'run' in sys.argv and os.path.exists(os.environ['WEIR_HOME'] + "
    "'/update/watched.json'): from studio.control import service; "
    "service._Service.main = lambda self: os._exit(9)",
}
_KILL = """\
import signal
wanted, _, limit = os.environ.get("WEIR_KILL", "").partition(":")
done = [0]
def hear(event, args):
    if event not in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.exec",
                     "os.symlink", "sqlite3.connect", "shutil.copyfile", "shutil.rmtree"):
        return
    names = " ".join(str(one) for one in args)
    if any(part in names for part in ("/update", "/copies", "current", ".db")):
        done[0] += 1
        if done[0] == int(limit):
            os.kill(os.getpid(), signal.SIGKILL)
if wanted == studio.__version__ and "run" in sys.argv:
    sys.addaudithook(hear)
"""
"""Kills a service of one version at its n-th step on files of updates: `WEIR_KILL=1.0.0:17`."""

_PROGRAM = """\
import asyncio, os, sys, time
import studio
studio.__version__ = {version!r}
sys.frozen = True
sys.executable = {program!r}
{kill}
from studio.app import update_feed, update_trial
update_trial.TRIAL_S = {trial_s}
from studio.control import trial
trial.TRIAL_S, trial.BETWEEN_S = {trial_s}, 0.05
update_feed.release = lambda _root: update_feed.Release(
    schema_version=1, feed={feed!r}, signers=({signer!r},))
{fault}
from studio.__main__ import main
sys.exit(main())
"""


class Releases:
    """A folder of releases, the key that signs them, and a prefix to install into."""

    def __init__(self, folder: Path, *, trial_s: float = 20.0) -> None:
        self.folder = folder / "published"
        self.prefix = folder / "Jörg's prefix"
        self.folder.mkdir(parents=True)
        self.key, _ = signing.own(folder / "keys/release.pem")
        self._trial_s = trial_s
        self._work = folder / "work"
        self._sequence = 1_000

    @property
    def versions(self) -> Path:
        """Return where versions lie beside one another."""
        return self.prefix / "opt/weir-studio"

    @property
    def program(self) -> Path:
        """Return the command as a person has it on the PATH."""
        return self.prefix / "bin/weir"

    def install(self, version: str, fault: str = "none") -> None:
        """Install a version as a person does."""
        payload = self.payload(version, fault)
        command = ["sh", str(payload / "install.sh"), "--prefix", str(self.prefix)]
        subprocess.run(command, check=True, capture_output=True)

    def publish(self, version: str, fault: str = "none", **changes: object) -> Path:
        """Publish a version: its package, and a feed that announces it; return the package."""
        payload = self.payload(version, fault)
        name = f"weir-studio-{version}-linux-x86_64.run"
        lines = (
            "#!/bin/sh",
            "while [ $# -gt 0 ]; do word=$1; shift; [ $word != -- ] || break; done",
            f'exec sh {shlex.quote(str(payload / "install.sh"))} "$@"',
        )
        package = self.folder / name
        package.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.announce(version, package, **changes)
        return package

    def announce(self, version: str, package: Path, **changes: object) -> Feed:
        """Sign a feed that offers a package."""
        self._sequence += 1
        data = package.read_bytes()
        now = time.time()
        made = Feed(
            schema_version=1, version=version, sequence=self._sequence, issued_at=now,
            expires_at=now + 1_000.0, minimum_version="1.0.0", changes=("Better.",),
            packages=tuple(
                FeedPackage(
                    file=package.name, kind=kind, bytes=len(data),
                    sha256=hashlib.sha256(data).hexdigest(),
                )
                for kind in ("run", "deb")
            ),
        )  # fmt: skip
        made = msgspec.structs.replace(made, **changes)
        feed.sign(self.folder, msgspec.json.encode(made), self.key)
        return made

    def payload(self, version: str, fault: str) -> Path:
        """Return a version as a .run unpacks it."""
        payload = self._work / version
        program = payload / "weir-studio"
        program.mkdir(parents=True, exist_ok=True)
        target = self.versions / version / "weir"
        code = _PROGRAM.format(
            version=version, program=str(target), feed=str(self.folder),
            signer=self.key.fingerprint, fault=FAULTS[fault], trial_s=self._trial_s, kill=_KILL,
        )  # fmt: skip
        packed = base64.b64encode(code.encode()).decode()
        run = f"import base64; exec(base64.b64decode('{packed}'))"
        (program / "weir").write_text(
            f"#!/bin/sh\nexport PYTHONPATH={shlex.quote(str(bundled_root()))}\n"
            f'exec {shlex.quote(sys.executable)} -P -c "{run}" "$@"\n',
            encoding="utf-8",
        )
        (program / "weir").chmod(0o755)
        (program / "files.txt").write_text("weir\n", encoding="utf-8")
        (program / "window.txt").touch()
        (payload / "VERSION").write_text(f"{version}\n", encoding="utf-8")
        (payload / "KILOBYTES").write_text("10\n", encoding="utf-8")
        for source in (LINUX / "install.sh", LINUX / "weir-studio.desktop"):
            (payload / source.name).write_bytes(source.read_bytes())
        (payload / "weir-studio.svg").write_bytes(ICON.read_bytes())
        return payload


def environment(home: Path) -> dict[str, str]:
    """Return what a person's session has, with the Studio's folder somewhere of its own."""
    return {
        "HOME": str(home.parent), "WEIR_HOME": str(home), "PATH": os.environ["PATH"],
        "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
