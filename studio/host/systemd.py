"""The person's own systemd: is it there, what does it say of our unit, tell it things.

Calls go through `systemctl --user` and `loginctl`, not D-Bus: they find the manager where the
environment does not name it, and their words are those that people can look up.
"""

import contextlib
import dataclasses
import logging
import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path

from studio.domain.errors import HostLacks
from studio.domain.redaction import redact
from studio.host import process, system_name, wsl
from studio.host.unit_file import NAME

if os.name == "posix":
    import pwd

_CALL_S = 20.0
_START_S = 90.0
"""Above the unit's own TimeoutStartSec, so that systemd's word comes first."""
_STOP_S = 200.0
_VERSION = re.compile(r"^Version=(\d+)")
_WSL_HINT = (
    "WSL runs without it. Put these two lines into /etc/wsl.conf: `[boot]` and `systemd=true`; "
    "then run `wsl --shutdown` in Windows and open WSL again."
)
_PROPERTIES = (
    "LoadState", "UnitFileState", "ActiveState", "MainPID", "NRestarts", "Result", "DropInPaths",
)  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class UnitState:
    """What the manager says of the unit."""

    enabled: str | None = None
    active: str | None = None
    pid: int | None = None
    restarts: int | None = None
    result: str | None = None
    drop_ins: tuple[str, ...] = ()


class UserManager:
    """The systemd of one person."""

    def __init__(
        self, environ: Mapping[str, str] = os.environ, *, root: Path = Path("/"), uid: int | None
    ) -> None:
        """`root` holds `run/` and `var/`, for tests; `uid` None stands for this process's own."""
        self._environ = environ
        self._root = root
        self.uid = own_uid() if uid is None else uid
        self.user = _user_name(self.uid)

    async def version(self) -> int | None:
        """Return systemd's version; None when it does not say.

        Raises: HostLacks (`no-systemd`, `no-user-session`, `program-missing`).
        """
        if not (self._root / "run/systemd/system").is_dir():  # what sd_booted(3) looks at
            kernel = system_name.release()
            raise HostLacks(
                "no-systemd",
                "systemd does not run on this machine, so it cannot keep the service.",
                hint=_WSL_HINT
                if wsl.is_wsl(kernel, self._environ)
                else "Let your own service manager run `weir service run --autostart`, or use "
                "`weir up --detach`.",
            )
        done = await self._systemctl("show", "--property=Version")
        if done.exit_code != 0:
            raise HostLacks(
                "no-user-session",
                f"systemd runs, but the session of {self.user} cannot be reached.",
                hint=f"Log in as {self.user} itself (at the machine, by SSH or with `machinectl "
                f"shell {self.user}@`), not with su or sudo, and run it again.",
                evidence=done.tail[-3:],
            )
        found = [match for line in done.tail if (match := _VERSION.match(line))]
        return int(found[0][1]) if found else None

    async def state(self) -> UnitState:
        """Return what the manager says of the unit, which need not exist."""
        done = await self._systemctl("show", NAME, f"--property={','.join(_PROPERTIES)}")
        said = dict(line.split("=", 1) for line in done.tail if "=" in line)
        enabled = said.get("UnitFileState") or None
        return UnitState(
            enabled="masked" if said.get("LoadState") == "masked" else enabled,
            active=said.get("ActiveState") or None,
            pid=_count(said.get("MainPID")) or None,
            restarts=_count(said.get("NRestarts")),
            result=said.get("Result") or None,
            drop_ins=tuple(said.get("DropInPaths", "").split()),
        )

    async def reload(self) -> None:
        """Let it read unit files anew."""
        await self._must("daemon-reload")

    async def enable(self) -> None:
        """Start the unit at each login from now on."""
        await self._must("enable", NAME)

    async def disable(self) -> None:
        """Start it no more at login."""
        await self._must("disable", NAME)

    async def start(self, *, anew: bool = False) -> None:
        """Start the unit, and return when it says that it is ready.

        Raises: HostLacks (`unit-not-started`) with the last lines of its journal.
        """
        await self._systemctl("reset-failed", NAME)
        done = await self._systemctl("restart" if anew else "start", NAME, limit_s=_START_S)
        if done.exit_code == 0:
            return
        said = await self._systemctl("status", NAME, "--no-pager", "--lines=12")
        raise HostLacks(
            "unit-not-started",
            "systemd could not start the service.",
            hint="`journalctl --user -u weir-studio` tells more.",
            evidence=(*done.tail[-2:], *said.tail[-12:]),
        )

    async def stop(self, *, wait: bool = True) -> None:
        """End the unit's service; without `wait` it goes on ending after the return."""
        if wait:
            await self._must("stop", NAME, limit_s=_STOP_S)
        else:
            await self._must("--no-block", "stop", NAME)
        await self._systemctl("reset-failed", NAME)

    def has_linger(self) -> bool | None:
        """Tell whether the person's services run without a login; None where nobody can say."""
        try:
            return (self._root / "var/lib/systemd/linger" / self.user).exists()
        except OSError:
            return None

    async def linger(self, *, on: bool) -> None:
        """Let the person's services run without a login, or no more.

        Raises: HostLacks (`linger-refused`).
        """
        verb = "enable-linger" if on else "disable-linger"
        done = await process.run(
            ["loginctl", "--no-ask-password", verb, self.user],
            env=self._variables(),
            timeout_s=_CALL_S,
        )
        if done.exit_code != 0:
            raise HostLacks(
                "linger-refused",
                f"This machine does not let {self.user} decide what runs without a login.",
                hint=f"Its administrator can: `sudo loginctl {verb} {self.user}`.",
                evidence=done.tail[-3:],
            )

    async def _must(self, *words: str, limit_s: float = _CALL_S) -> None:
        done = await self._systemctl(*words, limit_s=limit_s)
        if done.exit_code != 0:
            raise HostLacks(
                "systemd-refused",
                f"`systemctl --user {' '.join(words)}` failed.",
                hint="Its own words are above; run it by hand to look into it.",
                evidence=done.tail[-5:],
            )

    async def _systemctl(self, *words: str, limit_s: float = _CALL_S) -> process.RunResult:
        return await process.run(
            ["systemctl", "--user", *words], env=self._variables(), timeout_s=limit_s
        )

    def _variables(self) -> dict[str, str]:
        """Return what the programs need to find the manager, also from a shell that su made."""
        extra = {"LC_ALL": "C.UTF-8", "SYSTEMD_PAGER": "", "SYSTEMD_COLORS": "0"}
        bus = self._environ.get("DBUS_SESSION_BUS_ADDRESS")
        if bus:
            extra["DBUS_SESSION_BUS_ADDRESS"] = bus
        runtime = self._root / f"run/user/{self.uid}"
        if not self._environ.get("XDG_RUNTIME_DIR") and runtime.is_dir():
            extra["XDG_RUNTIME_DIR"] = str(runtime)
        return process.helper_environment(extra, environ=self._environ)


def own_uid() -> int:
    """Return who runs this process; Windows has no number for that, and no systemd."""
    return os.getuid() if hasattr(os, "getuid") else -1


def _user_name(uid: int) -> str:
    """Return the name of a user; the number of one whom no list names."""
    if os.name != "posix":
        return str(uid)
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _count(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() else None


def unit_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return where the person's own units lie (systemd.unit(5), user unit search path)."""
    base = environ.get("XDG_CONFIG_HOME", "")
    folder = Path(base) if base.startswith("/") else Path(environ.get("HOME") or "~", ".config")
    return folder.expanduser() / "systemd" / "user"


_PRIORITIES = ((logging.ERROR, 3), (logging.WARNING, 4), (logging.INFO, 6))


class _ForJournal(logging.Formatter):
    """Lines as the journal takes them: it knows the time, and wants the weight in front."""

    def format(self, record: logging.LogRecord) -> str:
        weight = next((mark for level, mark in _PRIORITIES if record.levelno >= level), 7)
        text = redact(super().format(record))
        return "\n".join(f"<{weight}>{line}" for line in text.splitlines())


def journal_handlers(environ: Mapping[str, str] = os.environ) -> list[logging.Handler]:
    """Return what writes into the journal, when standard error leads there (sd-daemon(3))."""
    try:
        status = os.fstat(2)
    except OSError:
        return []
    if environ.get("JOURNAL_STREAM") != f"{status.st_dev}:{status.st_ino}":
        return []
    handler = logging.StreamHandler()
    handler.setFormatter(_ForJournal("%(name)s: %(message)s"))
    return [handler]


class Notifier:
    """Tells the manager how the service is (sd_notify(3)); silent where there is none.

    The variable is taken out of the environment: an engine that inherited it could speak for us.
    """

    def __init__(self, environ: dict[str, str] | os._Environ[str] = os.environ) -> None:
        self._address = environ.pop("NOTIFY_SOCKET", "")

    @property
    def is_heard(self) -> bool:
        """Tell whether a manager listens."""
        return bool(self._address)

    def say(self, *lines: str) -> None:
        """Send one message, for example `READY=1`; a manager that has gone is no failure."""
        if not self._address:
            return
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender,
        ):
            sender.connect(address)
            sender.send("\n".join(lines).encode())
