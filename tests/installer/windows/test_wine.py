"""Tests of what runs programs in a wine prefix; `wine` is a script here."""

import os
import signal
from pathlib import Path

import pytest

from installer.windows.wine import Prefix

WINE = """\
#!/bin/sh
sleep 60 &
echo $! > "$WINEPREFIX/service.pid"
echo "said by $1"
exit 3
"""


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prefix:
    """Return a prefix whose `wine` starts a service that keeps all streams and stays."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in {"wine": WINE, "wineboot": "#!/bin/sh\n", "winecfg": "#!/bin/sh\n"}.items():
        (tools / name).write_text(text, encoding="utf-8")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setattr(Prefix, "library", lambda *_: None)
    return Prefix(tmp_path / "prefix")


def test_a_service_of_wine_that_stays_keeps_no_program_waiting(prefix: Prefix) -> None:
    """The first program of a prefix starts them, and they inherit what it writes to."""
    try:
        done = prefix.run("weir.exe", within_s=30)
    finally:
        os.kill(int((prefix.folder / "service.pid").read_text()), signal.SIGTERM)

    assert done == (3, "said by weir.exe\n")
