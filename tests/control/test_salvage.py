"""Logs and reports of a home that nobody can open."""

import zipfile
from pathlib import Path

from studio.control.launcher import in_process
from studio.control.salvage import Salvage
from studio.domain.diagnosis import DiagnoseRequest
from studio.domain.errors import StudioError
from studio.domain.report import ReportRequest
from studio.host.paths import Paths, bundled_root
from studio.serving.log_file import file_of, stamp


async def _nothing() -> None:
    return


async def test_logs_diagnoses_and_reports_come_out_of_a_broken_home(tmp_path: Path) -> None:
    """When everything is broken, these have to work."""
    paths = Paths(home=tmp_path / "wéir home", catalogue=bundled_root())
    paths.logs.mkdir(parents=True)
    file_of(paths.logs, "engine").write_text(f"{stamp(1e9)}last words\n")
    paths.settings_file.write_text("{ broken")
    client = in_process(Salvage(paths), _nothing)

    page = await client.log_page()
    written = await client.report(ReportRequest(path=str(tmp_path / "x.zip")))

    assert [line.text for line in page.lines] == ["last words"]
    assert zipfile.is_zipfile(written.path)
    assert "cannot be opened" in written.summary
    (tmp_path / "vllm.log").write_text("torch.OutOfMemoryError: CUDA out of memory.\n")
    said = await client.diagnose(DiagnoseRequest(path=str(tmp_path / "vllm.log")))
    assert said.matches
    await client.close()


async def test_everything_else_needs_more_than_that(tmp_path: Path) -> None:
    """It is no second way into the Studio."""
    client = in_process(Salvage(Paths(home=tmp_path, catalogue=bundled_root())), _nothing)

    code = ""
    try:
        await client.keys()
    except StudioError as error:
        code = error.code
    assert code == "path-unknown"
