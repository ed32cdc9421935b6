"""What is kept of a death: whole or not at all, and not for ever."""

from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import ErrorInfo
from studio.domain.server import EngineSnapshot, EngineState
from studio.serving import evidence
from studio.serving.evidence import Death

DEATH = Death(
    at="2026-11-29T12:00:00Z",
    deaths=3,
    exit_code=-9,
    error=ErrorInfo(code="engine-died", message="It died."),
    engine=EngineSnapshot(state=EngineState.FAILED, preset="cpu-démo"),
)


def test_a_death_is_kept_with_its_last_lines(tmp_path: Path) -> None:
    """So that it can be looked into the next morning."""
    kept = evidence.keep(tmp_path / "crashes", DEATH, ("first", "läst"))

    assert kept is not None
    assert (kept / "engine.log").read_text("utf-8") == "first\nläst\n"
    assert msgspec.json.decode((kept / "death.json").read_bytes(), type=Death) == DEATH
    assert evidence.folders(tmp_path / "crashes") == [kept]
    assert kept.stat().st_mode & 0o077 == 0


def test_nobody_else_reads_what_is_kept(tmp_path: Path) -> None:
    """The last lines may hold what people asked; an older version left the folder open."""
    (tmp_path / "crashes").mkdir(mode=0o755)

    kept = evidence.keep(tmp_path / "crashes", DEATH, ("a line",))

    assert kept is not None
    modes = {one.name: one.stat().st_mode & 0o777 for one in (kept.parent, kept, *kept.iterdir())}
    assert modes == {
        "crashes": 0o700,
        kept.name: 0o700,
        "engine.log": 0o600,
        "death.json": 0o600,
    }


def test_the_newest_ten_stay(tmp_path: Path) -> None:
    """An engine that dies every night would fill the disk in a year."""
    for number in range(13):
        death = msgspec.structs.replace(DEATH, at=f"2026-11-29T12:00:{number:02}Z")
        evidence.keep(tmp_path, death, ())

    found = evidence.folders(tmp_path)

    assert len(found) == evidence.KEPT
    assert found[0].name.startswith("20261129T120012Z")


def test_what_a_kill_left_unfinished_is_no_evidence_and_goes(tmp_path: Path) -> None:
    """Half a log would be taken for all of it."""
    (tmp_path / ".unfinished-x").mkdir()
    (tmp_path / ".unfinished-x" / "engine.log").write_text("half")
    assert evidence.folders(tmp_path) == []

    evidence.keep(tmp_path, DEATH, ())

    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []


def test_a_disk_that_does_not_take_it_costs_the_evidence_only(tmp_path: Path) -> None:
    """The restart goes on."""
    (tmp_path / "crashes").write_text("a file in its place")

    assert evidence.keep(tmp_path / "crashes", DEATH, ("x",)) is None


def test_without_deaths_there_is_nothing(tmp_path: Path) -> None:
    """A report asks also where nothing ever died."""
    assert evidence.folders(tmp_path / "crashes") == []


@pytest.mark.parametrize("count", [2])
def test_two_deaths_in_one_second_are_two(tmp_path: Path, count: int) -> None:
    """Two folders of one name would be one."""
    kept = {evidence.keep(tmp_path, DEATH, ()) for _ in range(count)}

    assert len(kept) == count
    assert None not in kept
