"""The preview of a report."""

from studio.domain.errors import ErrorInfo
from studio.domain.report import ReportPreview
from studio.domain.units import bytes_text
from studio.ui.language import marked, t, told
from studio.ui.viewmodels.words import plural

TITLE = marked("Report")
ABOUT = marked(
    "This is all that the report holds, as it will be saved. Keys, prompts and names were taken"
    " out; look whether anything is left that nobody else should see."
)
COLLECTING = marked("The report is being collected.")
WITHOUT_SERVICE = marked("In a terminal, `weir report` makes one without the service.")
SAVE = marked("Save…")
CLOSE = marked("Close")
FILES = marked("Files of the report")
TEXT = marked("Text of the file")
SAVE_TITLE = marked("Save the report")
KINDS = marked("Zip files (*.zip)")


def failed_text(error: ErrorInfo) -> str:
    """Say why there is no report."""
    hint = f" {told(error.hint)}" if error.hint else ""
    return t("The report could not be made: {message}{hint} {without}").format(
        message=told(error.message), hint=hint, without=t(WITHOUT_SERVICE)
    )


def counted_text(preview: ReportPreview) -> str:
    """Say how much the report holds."""
    size = sum(len(one.text) for one in preview.entries)
    return t("{entries} · {size} of text").format(
        entries=plural(len(preview.entries), "file", "files"), size=bytes_text(size)
    )


def saved_text(path: str) -> str:
    """Say where the report lies."""
    return t("Saved: {path}").format(path=path)


def not_saved_text(path: str, reason: str) -> str:
    """Say why the report was not saved."""
    return t("{path} cannot be written: {reason}. Choose another folder.").format(
        path=path, reason=reason
    )
