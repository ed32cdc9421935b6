"""A history as CSV, the same from the window and from the command line. Pure."""

import csv
import datetime
import io
from collections.abc import Sequence

from studio.domain.history import HistoryRow


def csv_heading(names: Sequence[str]) -> str:
    """Return the first line: the time, and three columns for each series."""
    columns = [f"{name}.{part}" for name in names for part in ("min", "mean", "max")]
    return _csv_line(["at", "epoch_s", *columns])


def csv_rows(rows: Sequence[HistoryRow], names: Sequence[str]) -> str:
    """Return rows; what is not known is empty."""
    lines = []
    for row in rows:
        cells = [_local(row.at).isoformat(), f"{row.at:.0f}"]
        for name in names:
            found = row.values.get(name)
            cells += ["", "", ""] if found is None else [f"{value:.9g}" for value in found]
        lines.append(_csv_line(cells))
    return "".join(lines)


def _csv_line(cells: Sequence[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()


def _local(at: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(at, datetime.UTC).astimezone()
