"""A report as one zip."""

import io
import zipfile

from studio.domain.report import ReportEntry, ReportPreview, file_name, packed

PREVIEW = ReportPreview(
    made_at=1_796_000_000.0,
    file_name="x.zip",
    entries=(
        ReportEntry(name="summary.txt", text="zuerst ü\n"),
        ReportEntry(name="logs/engine.log", text="zeile \udcff\n"),
    ),
)


def test_the_summary_comes_first_and_all_is_private() -> None:
    """Who opens the zip sees it at the top; who unpacks it does so for oneself alone."""
    with zipfile.ZipFile(io.BytesIO(packed(PREVIEW))) as archive:
        infos = archive.infolist()
        texts = [archive.read(info).decode() for info in infos]

    assert [info.filename for info in infos] == ["summary.txt", "logs/engine.log"]
    assert {info.external_attr >> 16 for info in infos} == {0o600}
    assert texts == ["zuerst ü\n", "zeile ?\n"]


def test_the_name_says_when() -> None:
    """Several reports lie side by side."""
    assert file_name(1_796_000_000.0).startswith("weir-report-20261130-")
    assert file_name(0.0) != file_name(1.0)
