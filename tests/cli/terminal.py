"""`weir` in a real terminal: a child process on a pseudo-terminal that can be typed into."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_DEADLINE_S = 60.0
"""Past this a child hangs; a loaded machine needs a small part of it."""
_STYLES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_CTRL_C = b"\x03"


class Terminal:
    """One run of the fake `weir` with its own terminal of 80 columns."""

    def __init__(self, *argv: str, **environ: str) -> None:
        self._main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 80, 0, 0))
        clean = {name: text for name, text in os.environ.items() if name != "NO_COLOR"}
        self._child = subprocess.Popen(
            [sys.executable, "-c", _IN_ITS_TERMINAL, *argv],
            stdin=side,
            stdout=side,
            stderr=side,
            cwd=ROOT,
            start_new_session=True,
            env={**clean, "TERM": "xterm", **environ},
        )
        os.close(side)
        self._seen = ""

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_error: object) -> None:
        if self._child.poll() is None:
            self._child.kill()
        self._child.wait()
        os.close(self._main)

    @property
    def raw(self) -> str:
        """All that was written, styles included."""
        return self._seen

    @property
    def text(self) -> str:
        """All that was written, without styles."""
        return _STYLES.sub("", self._seen).replace("\r\n", "\n")

    def expect(self, text: str) -> None:
        """Wait until `text` stands on the terminal."""
        deadline = time.monotonic() + _DEADLINE_S
        while text not in self.text:
            assert self._read(deadline), f"no {text!r} in {self.text!r}"

    def type(self, keys: str) -> None:
        """Type as a person does."""
        os.write(self._main, keys.encode())

    def interrupt(self) -> None:
        """Press Ctrl+C."""
        os.write(self._main, _CTRL_C)

    def resize(self, width: int, height: int) -> None:
        """Give the terminal another size; the kernel tells the child."""
        fcntl.ioctl(self._main, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def signal(self, number: int) -> None:
        """Send the child a signal."""
        os.kill(self._child.pid, number)

    @property
    def pid(self) -> int:
        """Return the child's process id."""
        return self._child.pid

    def forget(self) -> None:
        """Look only at what is written from now on."""
        self._seen = ""

    def kill(self) -> None:
        """End the child as the system does when it is out of memory."""
        os.kill(self._child.pid, signal.SIGKILL)

    def finish(self) -> int:
        """Return the exit status once the child has ended."""
        deadline = time.monotonic() + _DEADLINE_S
        while self._read(deadline):
            pass
        return self._child.wait(_DEADLINE_S)

    def echoes(self) -> bool:
        """Tell whether the terminal shows what is typed."""
        return bool(termios.tcgetattr(self._main)[3] & termios.ECHO)

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._main], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"nothing more came after {self.text!r}"
        try:
            data = os.read(self._main, 65_536)
        except OSError:  # Linux says so when the child has closed its side
            return False
        self._seen += data.decode(errors="replace")
        return bool(data)


_IN_ITS_TERMINAL = """
import fcntl, runpy, signal, sys, termios
signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores it
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
sys.argv[0] = "weir"
runpy.run_module("tests.cli.fake_weir", run_name="__main__")
"""


def piped(*argv: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run the fake `weir` in pipes; return what it left."""
    return subprocess.run(
        [sys.executable, "-m", "tests.cli.fake_weir", *argv],
        cwd=ROOT,
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_DEADLINE_S,
        check=False,
    )
