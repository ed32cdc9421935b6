"""The preview of a report."""

from studio.domain.errors import ErrorInfo
from studio.domain.report import ReportPreview
from studio.domain.units import bytes_text
from studio.ui.viewmodels.words import plural

TITLE = "Report"
ABOUT = (
    "This is all that the report holds, as it will be saved. Keys, prompts and names were taken"
    " out; look whether anything is left that nobody else should see."
)
COLLECTING = "The report is being collected."
WITHOUT_SERVICE = "In a terminal, `weir report` makes one without the service."
SAVE = "Save…"
CLOSE = "Close"
FILES = "Files of the report"
TEXT = "Text of the file"
SAVE_TITLE = "Save the report"
KINDS = "Zip files (*.zip)"


def failed_text(error: ErrorInfo) -> str:
    """Say why there is no report."""
    hint = f" {error.hint}" if error.hint else ""
    return f"The report could not be made: {error.message}{hint} {WITHOUT_SERVICE}"


def counted_text(preview: ReportPreview) -> str:
    """Say how much the report holds."""
    size = sum(len(one.text) for one in preview.entries)
    return f"{plural(len(preview.entries), 'file', 'files')} · {bytes_text(size)} of text"


def saved_text(path: str) -> str:
    """Say where the report lies."""
    return f"Saved: {path}"


def not_saved_text(path: str, reason: str) -> str:
    """Say why the report was not saved."""
    return f"{path} cannot be written: {reason}. Choose another folder."
