"""A report about what runs or failed: plain texts without names and secrets, in one zip. Pure."""

import datetime
import io
import zipfile

import msgspec


class ReportEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One file of the report, as it will be saved."""

    name: str
    text: str


class ReportPreview(msgspec.Struct, frozen=True, kw_only=True):
    """All of a report before it is saved."""

    made_at: float
    """Seconds since the epoch."""
    file_name: str
    """What to call the file."""
    entries: tuple[ReportEntry, ...]
    """`summary.txt` first."""


class ReportRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Write a report. `path` is one of the service's machine, absolute; a folder will do."""

    path: str
    replace: bool = False


class ReportItem(msgspec.Struct, frozen=True, kw_only=True):
    """What a written report holds of one file."""

    name: str
    size_bytes: int


class ReportWritten(msgspec.Struct, frozen=True, kw_only=True):
    """A report that lies on the disk."""

    path: str
    size_bytes: int
    entries: tuple[ReportItem, ...]
    summary: str
    """What `summary.txt` says."""


def file_name(made_at: float) -> str:
    """Return a name for a report made at `made_at`, by the local clock."""
    moment = datetime.datetime.fromtimestamp(made_at, datetime.UTC).astimezone()
    return f"weir-report-{moment:%Y%m%d-%H%M%S}.zip"


def packed(preview: ReportPreview) -> bytes:
    """Return the zip: exactly the entries of the preview, in their order."""
    moment = datetime.datetime.fromtimestamp(preview.made_at, datetime.UTC).timetuple()[:6]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in preview.entries:
            about = zipfile.ZipInfo(entry.name, moment)
            about.compress_type = zipfile.ZIP_DEFLATED
            about.external_attr = 0o600 << 16
            archive.writestr(about, entry.text.encode("utf-8", "replace"))
    return buffer.getvalue()
