"""`boots.json`: whole or absent, and never in the way."""

import asyncio
import logging
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from studio.app.boot_history import BootHistoryFile
from studio.domain.boots import BootHistory
from tests.fakes.waiting import until
from tests.serving.boot_samples import record

_WRITER = """
import asyncio, sys
from pathlib import Path
from studio.app.boot_history import BootHistoryFile
from tests.serving.boot_samples import record

async def main():
    file = BootHistoryFile(Path(sys.argv[1]))
    for number in range(100_000):
        await file.add(record(boot_s=float(number)))

asyncio.run(main())
"""


async def test_what_is_added_is_read_again_by_anybody(tmp_path: Path) -> None:
    """The command line reads it without a service."""
    path = tmp_path / "a folder" / "böots.json"
    path.parent.mkdir()
    file = BootHistoryFile(path)

    await asyncio.gather(*(file.add(record(boot_s=float(n))) for n in range(5)))

    assert {one.boot_s for one in BootHistoryFile(path).read().boots} == {0.0, 1.0, 2.0, 3.0, 4.0}
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"boots": 3}', b"\xff\xfe", b"[" * 100_000, b'{"schema_version": 2}'],
)
async def test_a_damaged_file_costs_forecasts_and_nothing_else(
    tmp_path: Path, content: bytes
) -> None:
    """The next boot writes a good one."""
    path = tmp_path / "boots.json"
    path.write_bytes(content)
    file = BootHistoryFile(path)

    assert file.read() == BootHistory()
    await file.add(record())

    assert len(file.read().boots) == 1


async def test_a_folder_that_cannot_be_written_is_only_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A full disk must not stop what serves."""
    (tmp_path / "file").write_text("in the way")
    file = BootHistoryFile(tmp_path / "file" / "boots.json")

    with caplog.at_level(logging.WARNING):
        await file.add(record())

    assert "a boot cannot be kept" in caplog.text
    assert file.read() == BootHistory()


@pytest.mark.parametrize("number", range(3))
def test_a_kill_leaves_the_old_history_or_the_new_one(tmp_path: Path, number: int) -> None:
    """At any instant: what is read is whole."""
    path = tmp_path / "boots.json"
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)])
    try:
        until(path.exists, "the first boot kept")
        until(lambda: time.time_ns() % 7 == number, "some instant")
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.wait()

    boots = BootHistoryFile(path).read().boots
    assert boots
    assert [one.boot_s for one in boots] == sorted(one.boot_s or 0.0 for one in boots)
