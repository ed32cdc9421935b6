"""The last boot as its log tells it."""

from pathlib import Path

import pytest

from studio.app.report_boot import comparison, last_boot, timeline
from studio.domain.metrics import LogLine
from studio.domain.server import BootPhase
from tests.fakes import recordings

BOOT = recordings.ENGINE / "boot" / "smollm2-f32-eager.log"


def _lines(path: Path, *, at: float = 0.0) -> list[LogLine]:
    texts = recordings.lines(path)
    return [
        LogLine(seq=seq, at=at + seq, source="engine", level="info", text=text)
        for seq, text in enumerate(texts, 1)
    ]


def _note(text: str) -> LogLine:
    return LogLine(seq=1, at=0.0, source="studio", level="info", text=text)


@pytest.mark.parametrize("path", recordings.healthy(), ids=recordings.name_of)
def test_a_recorded_boot_is_read_to_its_end(path: Path) -> None:
    """Every recording that came up has its phases, in order, and its pool."""
    boot = last_boot(_lines(path))

    assert boot.serves
    assert boot.phases[-1].phase is BootPhase.FIRST_TOKEN
    assert [one.at for one in boot.phases] == sorted(one.at for one in boot.phases)
    assert isinstance(boot.facts["pool_tokens"], int)


@pytest.mark.parametrize("mark", [[], [_note("Starting x on y (z).")]])
def test_only_the_last_of_several_boots_counts(mark: list[LogLine]) -> None:
    """Begun by a person, which our own line says, or by the Studio after a death."""
    first = _lines(recordings.ENGINE / "boot" / "tiny-compile-cold.log")
    second = _lines(BOOT, at=10_000.0)

    boot = last_boot([*first, *mark, *second])

    assert boot.phases == last_boot(second).phases
    assert boot.facts == last_boot(second).facts
    assert first[0] not in boot.lines


def test_a_boot_that_died_says_how_far_it_came() -> None:
    """It never served."""
    boot = last_boot(_lines(recordings.ENGINE / "failures" / "oom-kvspace.log"))

    assert not boot.serves
    assert boot.phases


def test_a_log_without_a_boot_is_no_mistake() -> None:
    """An empty home."""
    assert timeline(last_boot([])) == "The log names no phase of a boot.\n"
    assert "–" in comparison(None, {})


def test_tables_name_every_phase_and_figure() -> None:
    """What was printed stands beside what was forecast."""
    boot = last_boot(_lines(BOOT))

    assert all(one.phase.value in timeline(boot) for one in boot.phases)
    assert f"{boot.facts['pool_tokens']:,}" in comparison(None, boot.facts)
