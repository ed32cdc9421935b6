"""The service's own log: with times, for its owner only, without secrets."""

import logging
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.control import service_log
from studio.host.paths import Paths, bundled_root
from studio.serving.log_file import Reader, file_of


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """Begin the log of a home; what logging was before is put back."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    paths = Paths(home=tmp_path / "日志", catalogue=bundled_root())
    service_log.log_to(paths)
    yield file_of(paths.logs, "service")
    for handler in root.handlers:
        handler.close()
    root.handlers[:], root.level = handlers, level


def test_lines_have_a_time_and_no_secret(log: Path) -> None:
    """Also those of libraries, and of tracebacks."""
    try:
        int("http://anna:geheim@proxy/")
    except ValueError:
        logging.getLogger("studio.x").exception("token=geheim-geheim")

    text = log.read_text(encoding="utf-8")
    lines = Reader("service", 0.0).read(text.splitlines())

    assert "geheim" not in text
    assert lines[0].level == "error"
    assert lines[0].at > 1.7e9
    assert lines[0].text == "ERROR studio.x: token=***"


def test_every_file_is_its_owner_s_alone(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the one after a rotation."""
    handler = logging.getLogger().handlers[0]
    monkeypatch.setattr(handler, "maxBytes", 500)
    for number in range(60):
        logging.getLogger("studio.x").warning("line %d of many", number)

    files = sorted(log.parent.iterdir())
    assert len(files) == 4
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
