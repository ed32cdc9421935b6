"""Prompts of one key: only while it is on, apart from all else, bounded, and gone when told."""

import os
import stat
from pathlib import Path

import pytest

from studio.domain.errors import BadInput
from studio.gateway import prompt_log
from studio.gateway.prompt_log import PromptLog


class Clock:
    """A time that moves when told."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        """Return it."""
        return self.now


def keep(log: PromptLog, body: bytes = b'{"prompt": "Hi"}', key: str = "k1") -> None:
    """Let a request of a key pass."""
    log.keep(key, "r1", "/v1/chat/completions", 1_800_000_000.0, body)


def test_nothing_is_kept_unless_it_is_on(tmp_path: Path) -> None:
    """No file appears on the machine of somebody who never asked for it."""
    log = PromptLog(tmp_path / "prompts")
    keep(log)

    assert log.entries("k1", 10) == []
    assert not (tmp_path / "prompts").exists()


def test_prompts_of_that_key_are_kept_till_the_time_is_over(tmp_path: Path) -> None:
    """It ends by itself: who forgets it has not left it on for ever."""
    clock = Clock()
    log = PromptLog(tmp_path / "prompts", clock=clock)
    log.switch("k1", 3_600)
    keep(log)
    keep(log, key="k2")
    clock.now += 3_601
    keep(log, b'{"prompt": "too late"}')

    assert [one.body for one in log.entries("k1", 10)] == ['{"prompt": "Hi"}']
    assert log.entries("k2", 10) == []
    assert log.until("k1") is None
    assert log.on == {}
    state = log.state("k1", "laptop")
    assert (state.until, state.kept, state.key) == (None, 1, "laptop")


def test_it_stays_on_over_a_restart_and_only_so_long(tmp_path: Path) -> None:
    """The end that was named holds, whoever restarts."""
    clock = Clock()
    PromptLog(tmp_path / "prompts", clock=clock).switch("k1", 3_600)

    clock.now += 1_800
    again = PromptLog(tmp_path / "prompts", clock=clock)
    assert again.until("k1") == clock.now + 1_800
    clock.now += 1_801
    assert PromptLog(tmp_path / "prompts", clock=clock).until("k1") is None


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    """Whatever the umask says."""
    before = os.umask(0)
    try:
        log = PromptLog(tmp_path / "prompts")
        log.switch("k1", 60)
        keep(log)
        log.entries("k1", 1)
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "prompts").stat().st_mode) == 0o700
    files = [one for one in (tmp_path / "prompts").iterdir() if one.is_file()]
    assert files
    assert {stat.S_IMODE(one.stat().st_mode) for one in files} == {0o600}


def test_secrets_are_masked_before_they_are_written(tmp_path: Path) -> None:
    """An agent sends what it read, keys included."""
    log = PromptLog(tmp_path / "prompts")
    log.switch("k1", 60)
    keep(log, b'{"prompt": "use sk-weir-0123456789abcdef and password: hunter2hunter2"}')

    (entry,) = log.entries("k1", 1)
    assert "0123456789abcdef" not in entry.body
    assert "hunter2" not in entry.body
    assert "use " in entry.body


def test_files_are_bounded_and_the_newest_stay(tmp_path: Path) -> None:
    """A week of an agent's prompts would fill a disk."""
    log = PromptLog(tmp_path / "prompts", file_bytes=4_000)
    log.switch("k1", 60)
    for number in range(25):
        keep(log, b'{"prompt": "%04d %s"}' % (number, b"x" * 400))
        log.entries("k1", 1)

    kept = log.entries("k1", 100)
    assert kept[-1].body.startswith('{"prompt": "0024')
    assert 5 < len(kept) < 16
    assert sum(one.stat().st_size for one in (tmp_path / "prompts").glob("*.jsonl")) <= 8_000


def test_a_body_that_is_too_long_keeps_both_ends(tmp_path: Path) -> None:
    """What was asked last stands at the end."""
    log = PromptLog(tmp_path / "prompts")
    log.switch("k1", 60)
    keep(log, b"begin" + b"x" * (2 * prompt_log.KEPT_CHARS) + b"end")

    (entry,) = log.entries("k1", 1)
    assert entry.body.startswith("begin")
    assert entry.body.endswith("end")
    assert "characters left out" in entry.body
    assert entry.body_bytes == 2 * prompt_log.KEPT_CHARS + 8


def test_of_pictures_only_the_ends_wait_to_be_written(tmp_path: Path) -> None:
    """Thirty-two requests of 100 MiB would take all memory while a disk is slow."""
    log = PromptLog(tmp_path / "prompts")
    log.switch("k1", 60)
    body = bytearray(b"begin" + "ä€😀".encode() * 500_000 + b"end")
    keep(log, body)

    (entry,) = log.entries("k1", 1)
    assert entry.body.startswith("begin")
    assert entry.body.endswith("end")
    assert "\ufffd" not in entry.body
    first, _, last = entry.body.split("\n")
    assert len(first) == len(last) == prompt_log.KEPT_CHARS // 2
    left_out = len(body) - len(first.encode()) - len(last.encode())
    assert f"[… {left_out:,} bytes left out …]" in entry.body
    assert entry.body_bytes == len(body)


def test_it_is_deleted_by_a_verb_and_with_the_key(tmp_path: Path) -> None:
    """Gone means gone; clearing does not switch it off, the key's end does."""
    log = PromptLog(tmp_path / "prompts")
    log.switch("k1", 60)
    keep(log)
    log.clear("k1")
    assert (log.entries("k1", 10), log.until("k1") is not None) == ([], True)

    keep(log)
    log.forget("k1")

    assert (log.entries("k1", 10), log.until("k1")) == ([], None)
    assert list((tmp_path / "prompts").glob("*.jsonl")) == []


def test_what_a_kill_cut_off_is_left_out(tmp_path: Path) -> None:
    """The last line of a file that was written to when the power went."""
    log = PromptLog(tmp_path / "prompts")
    log.switch("k1", 60)
    keep(log)
    log.entries("k1", 1)
    with (tmp_path / "prompts" / "k1.jsonl").open("ab") as file:
        file.write(b'{"at": "2026')
    keep(log, b'{"prompt": "after"}')

    assert [one.body for one in log.entries("k1", 10)] == [
        '{"prompt": "Hi"}',
        '{"prompt": "after"}',
    ]


def test_a_switch_that_cannot_be_read_is_off(tmp_path: Path) -> None:
    """Never by accident."""
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "on.json").write_text("nonsense")

    assert PromptLog(folder).on == {}


def test_a_span_without_bounds_is_refused(tmp_path: Path) -> None:
    """For ever is what nobody means."""
    log = PromptLog(tmp_path / "prompts")
    with pytest.raises(BadInput, match="7 days"):
        log.switch("k1", 8 * 86_400)


def test_a_disk_that_takes_nothing_stops_no_request(tmp_path: Path, caplog) -> None:
    """The request goes on, the log says that its prompt was not kept."""
    log = PromptLog(tmp_path / "prompts")
    log.switch("k1", 60)
    (tmp_path / "prompts" / "k1.jsonl").mkdir()
    for _ in range(3):
        keep(log)
    log.close()

    assert "a prompt was not kept" in caplog.text
