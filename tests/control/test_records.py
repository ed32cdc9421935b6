"""The calls about logs and reports."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from studio.app.settings import Settings
from studio.control.salvage import Salvage
from studio.control.transport import PREFIX
from studio.domain.logs import LogLimits
from studio.host.documents import read_json
from studio.host.paths import Paths, bundled_root
from studio.serving.log_file import file_of, stamp


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """Return a home with a log of ten lines, one a second."""
    made = Paths(home=tmp_path, catalogue=bundled_root())
    made.logs.mkdir()
    lines = "".join(f"{stamp(1000.0 + n)}line {n}\n" for n in range(10))
    file_of(made.logs, "engine").write_text(lines)
    return made


async def _ask(
    paths: Paths, method: str, path: str, query: str = "", body: bytes = b""
) -> tuple[int, dict]:
    status, answer = await Salvage(paths).answer(method, PREFIX + path, query, body)
    return status, json.loads(answer)


async def test_pages_go_back_and_on(paths: Paths) -> None:
    """By places, which survive rotation."""
    _, newest = await _ask(paths, "GET", "/logs/page", "lines=3")
    _, older = await _ask(paths, "GET", "/logs/page", f"lines=3&before={newest['before']}")
    _, since = await _ask(paths, "GET", "/logs/page", "since=1008.000")
    _, later = await _ask(paths, "GET", "/logs/page", f"after={newest['after']}")

    assert [line["text"] for line in newest["lines"]] == ["line 7", "line 8", "line 9"]
    assert [line["text"] for line in older["lines"]] == ["line 4", "line 5", "line 6"]
    assert [line["text"] for line in since["lines"]] == ["line 8", "line 9"]
    assert later["lines"] == []


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("source=kernel", "log-source-unknown"),
        ("source=" + quote("../../etc/passwd"), "log-source-unknown"),
        ("after=x", "log-place-invalid"),
        ("after=1-2-3&before=1-2-3", "request-invalid"),
        ("since=yesterday", "request-invalid"),
        ("since=nan", "request-invalid"),
        ("lines=-1", "request-invalid"),
    ],
)
async def test_what_makes_no_sense_is_refused(paths: Paths, query: str, code: str) -> None:
    """A log is chosen by name, never by path."""
    status, error = await _ask(paths, "GET", "/logs/page", query)

    assert status == 400
    assert error["code"] == code


async def test_limits_are_kept(paths: Paths) -> None:
    """In the settings, for the next service."""
    status, answer = await _ask(paths, "POST", "/logs/limits", body=b'{"file_mib":9,"files":2}')
    kept = read_json(paths.settings_file, Settings)

    assert (status, answer) == (200, {"file_mib": 9, "files": 2})
    assert kept is not None
    assert LogLimits(file_mib=kept.log_file_mib, files=kept.log_files) == LogLimits(
        file_mib=9, files=2
    )
    assert (await _ask(paths, "GET", "/logs/limits"))[1] == {"file_mib": 9, "files": 2}
    assert (await _ask(paths, "POST", "/logs/limits", body=b'{"files":0}'))[0] == 400


async def test_a_report_is_previewed_and_written(paths: Paths, tmp_path: Path) -> None:
    """By any program with the token."""
    status, preview = await _ask(paths, "GET", "/report/preview")
    body = json.dumps({"path": str(tmp_path / "r.zip")}).encode()
    _, written = await _ask(paths, "POST", "/report", body=body)

    assert status == 200
    assert preview["entries"][0]["name"] == "summary.txt"
    assert written["path"] == str(tmp_path / "r.zip")
    assert (await _ask(paths, "POST", "/report", body=body))[1]["code"] == "report-exists"
