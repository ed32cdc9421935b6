"""Logs on the disk: any size, any packing, any bytes."""

import gzip
import os
import threading
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, Damaged, HostLacks, NotFound
from studio.serving import diagnose, log_files
from tests.fakes import recordings

SIGNATURES = diagnose.load(Path(__file__).resolve().parents[2] / "runtimes" / "failures.toml")
RAW = recordings.raw(recordings.ENGINE / "failures" / "oom-ulimit.log")


def codes(path: Path) -> list[str]:
    """Return what a file is recognised as."""
    return [one.code for one in diagnose.matches_heard(log_files.hear(path), None, SIGNATURES)]


@pytest.mark.parametrize(
    "data",
    [
        RAW,
        RAW.replace(b"\n", b"\r\n"),
        gzip.compress(RAW),
        RAW.decode().encode("utf-16"),
        b"\xff\xfe" + RAW.decode().encode("utf-16-le"),
        b"\xfe\xff" + RAW.decode().encode("utf-16-be"),
        b"\xef\xbb\xbf" + RAW,
        os.urandom(4096) + b"\n" + RAW,
        RAW + b"x" * 3_000_000,
    ],
    ids=["text", "crlf", "gzip", "utf-16", "utf-16-le", "utf-16-be", "bom", "junk", "long line"],
)
def test_a_log_is_read_however_it_was_saved(tmp_path: Path, data: bytes) -> None:
    """PowerShell writes UTF-16, logrotate packs, terminals add line ends."""
    path = tmp_path / "ä log.txt"
    path.write_bytes(data)

    assert codes(path)[:1] == ["host-memory-exhausted"]


@pytest.mark.parametrize("data", [b"", b"\0" * 100_000, os.urandom(500_000)])
def test_what_is_no_log_says_nothing(tmp_path: Path, data: bytes) -> None:
    """And raises nothing."""
    path = tmp_path / "junk"
    path.write_bytes(data)

    assert codes(path) == []


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    """`weir diagnose <(journalctl -u vllm)`: it cannot be rewound."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(RAW,))
    writer.start()

    try:
        assert codes(path)[:1] == ["host-memory-exhausted"]
    finally:
        writer.join()


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Each with its own code."""
    broken = tmp_path / "broken.gz"
    broken.write_bytes(gzip.compress(RAW)[:2000])
    wrong = tmp_path / "wrong.gz"
    wrong.write_bytes(b"\x1f\x8bnot gzip at all")

    for path, kind, code in (
        (tmp_path / "gone", NotFound, "file-missing"),
        (tmp_path, BadInput, "log-is-folder"),
        (broken, Damaged, "log-damaged"),
        (wrong, Damaged, "log-damaged"),
        (broken / "below", HostLacks, "not-readable"),
    ):
        with pytest.raises(kind) as caught:
            log_files.hear(path)
        assert caught.value.code == code
        assert str(path) in caught.value.message


def test_secrets_do_not_reach_the_evidence(tmp_path: Path) -> None:
    """A diagnosis is pasted into bug reports."""
    path = tmp_path / "log"
    path.write_text("OSError: [Errno 28] No space left on device hf_abcdefghijklmnop\n")

    (found,) = diagnose.matches_heard(log_files.hear(path), None, SIGNATURES)

    assert "hf_abc" not in found.evidence[0]
