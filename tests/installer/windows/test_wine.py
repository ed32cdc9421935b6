"""Tests of what runs programs in a wine prefix; `wine` is a script here."""

import os
import signal
from pathlib import Path

import pytest

from installer.windows.wine import Prefix

WINE = """\
#!/bin/sh
pid="$WINEPREFIX/service.pid"
[ "$1" = window.exe ] && exec sleep 60
if [ ! -e "$pid" ]; then sleep 60 & echo $! > "$pid"; fi
echo "said by $1"
[ "$1" = weir.exe ] && exit 3
exit 0
"""
"""Whatever comes first starts a service, which keeps its streams; but the window takes its time."""


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prefix:
    """Return a prefix with that wine."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in {"wine": WINE, "wineboot": "#!/bin/sh\n", "winecfg": "#!/bin/sh\n"}.items():
        (tools / name).write_text(text, encoding="utf-8")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setattr(Prefix, "library", lambda *_: None)
    return Prefix(tmp_path / "prefix")


def test_what_stays_beside_a_window_keeps_no_program_waiting(prefix: Prefix) -> None:
    """A program is waited for until all have closed its pipe, wine's own services, too."""
    window = prefix.start(Path("window.exe"))
    try:
        done = prefix.run("weir.exe", within_s=30)
    finally:
        window.kill()
        window.wait()
        os.kill(int((prefix.folder / "service.pid").read_text()), signal.SIGTERM)

    assert done == (3, "said by weir.exe\n")
