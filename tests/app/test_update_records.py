"""The small files about updates."""

from pathlib import Path

import pytest

from studio.app.update_proof import Holdings
from studio.app.update_records import Failed, Ran, Records, Staged, Trial
from studio.domain.errors import ErrorInfo
from studio.host.paths import Paths, bundled_root


@pytest.fixture
def records(tmp_path: Path) -> Records:
    """Return the records of an empty home."""
    return Records(Paths(home=tmp_path, catalogue=bundled_root()))


def test_what_is_written_is_read_and_forgotten(records: Records) -> None:
    """Also why a version comes back by itself, and what the other one has to find."""
    error = ErrorInfo(code="update-unsteady", message="It ended.")
    staged = Staged(version="1.0.0", wanted=True, because=error)
    trial = Trial(
        old="1.0.0", new="1.1.0", pid=1, process_started_at=None, began_at=0.0,
        holdings=Holdings(presets=("mine",)), shortcoming="it lists no presets",
    )  # fmt: skip
    for record in (staged, trial, Ran(version="1.0.0"), Failed(version="1.1.0", error=error)):
        records.write(record)

    assert (records.staged(), records.trial()) == (staged, trial)
    assert records.ran() == Ran(version="1.0.0")
    assert records.failed() == Failed(version="1.1.0", error=error)
    records.forget(Trial)
    records.forget(Trial)
    assert records.trial() is None


def test_a_record_of_an_older_version_is_understood(records: Records) -> None:
    """It knew nothing of what has to be found again."""
    records.folder.mkdir()
    old = '{"old": "1.0.0", "new": "1.1.0", "pid": 1, "process_started_at": null, "began_at": 0}'
    (records.folder / "trial.json").write_text(old, encoding="utf-8")

    trial = records.trial()

    assert trial is not None
    assert (trial.holdings, trial.shortcoming) == (Holdings(), None)
