"""Downloads as lines: the list, one of them, and what `weir status` says. Pure."""

from studio.cli import hub_words as words
from studio.domain.control import Status
from studio.domain.downloads import DownloadInfo, DownloadList, DownloadNow
from studio.domain.units import bytes_text, counted, duration_text


def list_text(found: DownloadList) -> str:
    """Return the queue, one line for each download."""
    lines = [f"{one.id:8}  {one.state:8}  {line(one)}" for one in found.downloads]
    if found.limit_bytes_per_s is not None:
        lines.append(words.LIMIT.format(limit=bytes_text(found.limit_bytes_per_s)))
    if found.is_held:
        lines.append(words.HELD)
    if found.downloads and not found.is_at_work:
        lines.append(words.NOT_AT_WORK)
    return "\n".join(lines or [words.NO_DOWNLOADS])


def line(one: DownloadInfo) -> str:
    """Return how far one download is; what is not known is said to be unknown."""
    note = one.error.message if one.error is not None else one.note
    first = words.FIRST if one.is_first else ""
    return f"{_figures(one)}{first}{f'; {note}' if note else ''}"


def now_line(one: DownloadNow) -> str:
    """Return how far a download is that runs now."""
    return _figures(one)


def download_pairs(status: Status) -> list[tuple[str, str]]:
    """Return labels and values for `weir status`; none where nothing is in the queue."""
    now = status.downloads
    pairs = [(words.LABEL, _figures(one)) for one in now.running]
    others = [
        text.format(count=count)
        for count, text in (
            (now.queued, words.QUEUED),
            (now.paused, words.PAUSED),
            (now.failed, words.FAILED),
        )
        if count
    ]
    if others:
        total = counted(now.queued + now.paused + now.failed, "download", "downloads")
        pairs.append((words.LABEL, words.OTHERS.format(total=total, others=", ".join(others))))
    return pairs


def _figures(one: DownloadInfo | DownloadNow) -> str:
    total = one.total_bytes
    return words.ONE_LINE.format(
        title=one.title,
        done=bytes_text(one.done_bytes or 0),
        total=words.UNKNOWN_SIZE if total is None else f"of {bytes_text(total)}",
        rate=f", {bytes_text(one.rate)}/s" if one.rate is not None else "",
        left=f", {duration_text(one.left_s)} left" if one.left_s is not None else "",
    )
