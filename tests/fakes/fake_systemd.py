"""A stand-in for `systemctl --user` and `loginctl`: it records calls, and really runs the unit.

    fake_systemd.py systemctl|loginctl WORDS…

Installed as two small scripts on PATH (`install`). State lies in the folder FAKE_SYSTEMD_STATE:
`calls` (one line a call), `pid` (the unit's process), `said` (what it notified), `root` (with what
lies in `/run` and `/var` of a machine with systemd), and what a test puts there: `version`,
`refuse` (`VERB` that fails), `no-session`.
A start reads the unit by rules of its own, gives the program nothing but what the unit says, and
returns at its READY=1, as the real one does for `Type=notify`.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

START_S = 30.0
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"')


def install(folder: Path, state: Path) -> None:
    """Put `systemctl` and `loginctl` into `folder`, which belongs at the front of PATH."""
    folder.mkdir(parents=True)
    (state / "root" / "run" / "systemd" / "system").mkdir(parents=True)
    for name in ("systemctl", "loginctl"):
        script = folder / name
        script.write_text(
            f"#!/bin/sh\nFAKE_SYSTEMD_STATE='{state}' "
            f"exec '{sys.executable}' -I -S '{Path(__file__).resolve()}' {name} \"$@\"\n",
            encoding="utf-8",
        )
        script.chmod(0o755)


class _Manager:
    """One person's manager."""

    def __init__(self, state: Path) -> None:
        self._state = state
        base = os.environ.get("XDG_CONFIG_HOME") or str(Path(os.environ["HOME"]) / ".config")
        self._units = Path(base) / "systemd" / "user"

    def systemctl(self, words: list[str]) -> int:
        """Carry out one call."""
        words = [word for word in words if word not in ("--user", "--no-block", "--no-pager")]
        if (self._state / "no-session").exists():
            sys.stderr.write("Failed to connect to bus: No medium found\n")
            return 1
        if self._said("refuse") == words[0]:
            sys.stderr.write(f"{words[0]}: refused by the test\n")
            return 1
        if words == ["show", "--property=Version"]:
            sys.stdout.write(f"Version={self._said('version') or '252 (252.38-1)'}\n")
            return 0
        return self._of_unit(words[0], words[1] if len(words) > 1 else "")

    def _of_unit(self, verb: str, unit: str) -> int:
        match verb:
            case "show":
                self._show(unit)
            case "enable":
                link = self._link(unit)
                link.parent.mkdir(parents=True, exist_ok=True)
                if not link.is_symlink():
                    link.symlink_to(self._units / unit)
            case "disable":
                self._link(unit).unlink(missing_ok=True)
            case "stop":
                self._stop()
            case "start" | "restart":
                if verb == "restart":
                    self._stop()
                return self._start(unit)
        return 0

    def _show(self, unit: str) -> None:
        file, pid = self._units / unit, self._pid()
        enabled = "enabled" if self._link(unit).is_symlink() else "disabled"
        drop_ins = sorted(str(path) for path in (self._units / f"{unit}.d").glob("*.conf"))
        sys.stdout.write(
            f"LoadState={'loaded' if file.exists() else 'not-found'}\n"
            f"UnitFileState={enabled if file.exists() else ''}\n"
            f"ActiveState={'active' if pid else 'inactive'}\n"
            f"MainPID={pid or 0}\nNRestarts=0\nResult=success\n"
            f"DropInPaths={' '.join(drop_ins)}\n"
        )

    def _start(self, unit: str) -> int:
        if self._pid():
            return 0
        text = (self._units / unit).read_text(encoding="utf-8")
        command = [_plain(word, "$$") for word in _values(text, "ExecStart")]
        variables = dict(_plain(word).split("=", 1) for word in _values(text, "Environment"))
        address = self._state / "notify"
        address.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            listener.bind(str(address))
            listener.settimeout(START_S)
            process = subprocess.Popen(
                command,
                env={
                    **variables,
                    "HOME": os.environ["HOME"],
                    "NOTIFY_SOCKET": str(address),
                    # Only for these tests: which copy of the sources the interpreter finds.
                    "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
                },
                stdin=subprocess.DEVNULL,
                stdout=(self._state / "output").open("wb"),
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            (self._state / "pid").write_text(str(process.pid))
            said: list[str] = []
            while "READY=1" not in said:
                try:
                    said += listener.recv(4096).decode().splitlines()
                except TimeoutError:
                    sys.stderr.write("Job failed: timeout\n")
                    return 1
            (self._state / "said").write_text("\n".join(said), encoding="utf-8")
        return 0

    def _stop(self) -> None:
        pid = self._pid()
        if pid is None:
            return
        os.kill(pid, signal.SIGTERM)
        while self._pid():
            time.sleep(0.02)

    def _pid(self) -> int | None:
        """Return the unit's process while it lives."""
        text = self._said("pid")
        if not text:
            return None
        try:
            status = Path(f"/proc/{text}/stat").read_text(encoding="utf-8")
        except OSError:
            return None
        return None if status.rpartition(")")[2].split()[0] == "Z" else int(text)

    def _link(self, unit: str) -> Path:
        return self._units / "default.target.wants" / unit

    def _said(self, name: str) -> str | None:
        try:
            return (self._state / name).read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return None


def _values(text: str, name: str) -> list[str]:
    return [
        word
        for line in text.splitlines()
        if line.startswith(f"{name}=")
        for word in _WORD.findall(line)
    ]


def _plain(word: str, dollar: str = "") -> str:
    """Undo the quoting, in the order in which systemd does."""
    plain = re.sub(r'\\(["\\])', r"\1", word).replace("%%", "%")
    return plain.replace(dollar, "$") if dollar else plain


def main() -> int:
    """Record the call, then carry it out."""
    state = Path(os.environ["FAKE_SYSTEMD_STATE"])
    program, *words = sys.argv[1:]
    with (state / "calls").open("a", encoding="utf-8") as calls:
        calls.write(" ".join([program, *words]) + "\n")
    if program == "systemctl":
        return _Manager(state).systemctl(words)
    verb, user = words[-2:]
    if (state / "refuse").exists():
        sys.stderr.write("Could not enable linger: Access denied\n")
        return 1
    mark = state / "root" / "var" / "lib" / "systemd" / "linger" / user
    if verb == "enable-linger":
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    else:
        mark.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
