"""Words of the report's preview."""

from studio.domain.errors import ErrorInfo
from studio.ui.viewmodels import report
from tests.ui.fake_service import REPORT


def test_it_says_how_much_there_is() -> None:
    """A report of a gigabyte would be a surprise."""
    assert report.counted_text(REPORT) == "2 files · 80 B of text"


def test_a_failure_says_what_to_do() -> None:
    """With its own hint, and the way without a service."""
    error = ErrorInfo(code="x", message="No.", hint="Do that.")

    assert report.failed_text(error).startswith("The report could not be made: No. Do that. In a")
    assert report.not_saved_text("/x", "full").endswith("Choose another folder.")
    assert report.saved_text("/x") == "Saved: /x"
