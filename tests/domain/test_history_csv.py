"""A history as CSV."""

from studio.domain.history import HistoryRow
from studio.domain.history_csv import csv_heading, csv_rows


def test_what_is_not_known_is_empty_and_names_are_quoted() -> None:
    """A spreadsheet reads it, and takes nothing unknown for zero."""
    names = ("running", 'card0."odd", name')
    row = HistoryRow(at=1_796_000_000.0, values={"running": (0.0, 0.5, 1.0)})

    assert csv_heading(names).count(",") == 1 + 3 + 3 + 3  # three commas inside quotes
    line = csv_rows([row], names)
    assert line.endswith(",1796000000,0,0.5,1,,,\n")
    assert csv_rows([], names) == ""
