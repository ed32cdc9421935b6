"""Logs in a zip: found whatever it is called, read through, and never unpacked to the disk."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, Damaged, HostLacks
from studio.serving import log_zip


def packed(path: Path, **files: bytes) -> Path:
    """Write a zip of files, whose names have `__` for a slash and `_dot_` for a dot."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), data)
    return path


def test_a_report_is_read_from_its_last_engine_to_those_that_died(tmp_path: Path) -> None:
    """What somebody looks for is what ran last; who died before it explains what was healed."""
    report = packed(
        tmp_path / "r.zip",
        summary_dot_txt=b"words\n",
        status_dot_json=b"{}",
        metrics_dot_jsonl=b"{}\n",
        logs__service_dot_log=b"one\ntwo\n",
        logs__engine_dot_log=b"a\nb\nc\n",
        evidence__2026__engine_dot_log=b"d\n",
        evidence__2026__death_dot_json=json.dumps({"exit_code": -9}).encode(),
        evidence__2027__engine_dot_log=b"e\n",
        evidence__2027__death_dot_json=b"no json",
    )

    found = [(one.name, one.hearing.lines, one.exit_code) for one in log_zip.logs(report)]

    assert found == [
        ("logs/engine.log", 3, None),
        ("evidence/2027/engine.log", 1, None),
        ("evidence/2026/engine.log", 1, -9),
        ("logs/service.log", 2, None),
        ("metrics.jsonl", 1, None),
    ]


def test_any_bodys_logs_are_read_the_largest_first(tmp_path: Path) -> None:
    """A bug report has names of its own; a log in it may be packed once more."""
    mine = packed(
        tmp_path / "mine.zip",
        box__vllm_dot_txt=b"short\n",
        box__out_dot_log_dot_1_dot_gz=gzip.compress(b"".join(b"%d\n" % n for n in range(900))),
        box__picture_dot_png=b"x" * 9_000,
    )

    found = [(one.name, one.hearing.lines) for one in log_zip.logs(mine)]

    assert found == [("box/out.log.1.gz", 900), ("box/vllm.txt", 1)]


def test_a_log_made_to_have_no_end_is_read_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kilobyte of zip may hold a gigabyte."""
    monkeypatch.setattr(log_zip, "MOST_BYTES", 3 << 19)
    bomb = packed(tmp_path / "bomb.zip", a_dot_log=b"x\n" * (2 << 20))

    (only,) = log_zip.logs(bomb)

    assert 1 << 19 < only.hearing.lines <= 2 << 19


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    """In the words of whoever has to do something about it."""
    with pytest.raises(BadInput, match="holds no log"):
        list(log_zip.logs(packed(tmp_path / "a.zip", a_dot_png=b"x")))
    torn = packed(tmp_path / "b.zip", a_dot_log=bytes(range(256)) * 400)
    data = bytearray(torn.read_bytes())
    data[60:90] = b"\xff" * 30
    torn.write_bytes(data)
    with pytest.raises(Damaged, match="cannot be unpacked"):
        list(log_zip.logs(torn))
    locked = packed(tmp_path / "c.zip", a_dot_log=b"x")
    data = bytearray(locked.read_bytes())
    data[6] |= 1  # the mark of encryption, in both places where it stands
    data[data.index(b"PK\x01\x02") + 8] |= 1
    locked.write_bytes(data)
    with pytest.raises(Damaged, match="encrypted"):
        list(log_zip.logs(locked))
    with pytest.raises(HostLacks):
        list(log_zip.logs(tmp_path))
    assert not log_zip.is_zip(tmp_path)
    assert not log_zip.is_zip(tmp_path / "none")
