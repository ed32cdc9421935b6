"""Downloads in words: how far, how fast, what waits, and what nobody knows."""

import msgspec

from studio.cli import hub_words as words
from studio.cli.download_text import download_pairs, line, list_text, now_line
from studio.domain.control import GatewayInfo, ServiceInfo, Status
from studio.domain.downloads import (
    DownloadInfo,
    DownloadKind,
    DownloadList,
    DownloadNow,
    DownloadsNow,
    DownloadState,
)
from studio.domain.errors import ErrorInfo
from studio.domain.server import EngineSnapshot

INFO = DownloadInfo(id="1a", kind=DownloadKind.MODEL, title="a/b", state=DownloadState.RUNNING)
STATUS = Status(
    service=ServiceInfo(version="1", pid=1, started_at=0.0, home="/h"),
    engine=EngineSnapshot(),
    gateway=GatewayInfo(),
)


def test_what_is_not_known_is_said_to_be_unknown() -> None:
    """And never as 0 of 0."""
    assert "of unknown size" in line(INFO)
    assert "left" not in line(INFO)


def test_the_list_says_limit_and_hold_or_that_there_is_nothing() -> None:
    """Both explain why it is slow."""
    text = list_text(DownloadList(downloads=(INFO,), limit_bytes_per_s=1_000_000, is_held=True))

    assert len(text.splitlines()) == 3
    assert text.startswith("1a        running")
    assert list_text(DownloadList()) == "Nothing is being fetched."


def test_a_list_without_a_service_says_when_it_goes_on() -> None:
    """Otherwise somebody waits in front of it."""
    text = list_text(DownloadList(downloads=(INFO,), is_at_work=False))

    assert text.endswith(words.NOT_AT_WORK)


def test_what_goes_first_and_what_failed_are_said_in_their_lines() -> None:
    """A failed one with its reason."""
    why = ErrorInfo(code="hub-unreachable", message="It is silent.")

    assert line(msgspec.structs.replace(INFO, is_first=True)).endswith(words.FIRST)
    assert line(msgspec.structs.replace(INFO, error=why)).endswith("; It is silent.")


def test_the_status_says_what_runs_and_how_much_waits() -> None:
    """And nothing at all where nothing is fetched."""
    running = DownloadNow(title="a/b", done_bytes=5, total_bytes=10, rate=1.0, left_s=5.0)
    now = DownloadsNow(running=(running,), queued=2, failed=1)

    assert download_pairs(STATUS) == []
    assert download_pairs(msgspec.structs.replace(STATUS, downloads=now)) == [
        (words.LABEL, now_line(running)),
        (words.LABEL, "three downloads more: 2 queued, 1 failed (`weir downloads`)"),
    ]
