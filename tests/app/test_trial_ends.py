"""How a version on trial ended, told by whoever saw it."""

import time
from pathlib import Path

from studio.app.trial_ends import in_words, keep_end
from studio.app.update_records import Records, Trial
from studio.host.files import exclusive
from studio.host.paths import Paths, bundled_root

PID = 2**22 + 1


def tried(folder: Path, **changes: object) -> tuple[Paths, Records]:
    """Return a home in which 1.1.0 is on trial."""
    paths = Paths(home=folder / "my höme", catalogue=bundled_root())
    records = Records(paths)
    made = {"pid": PID, "process_started_at": 1.0, "began_at": time.time(), **changes}
    records.write(Trial(old="1.0.0", new="1.1.0", **made))
    return paths, records


def shortcoming(records: Records) -> str | None:
    """Return what is kept of the trial."""
    trial = records.trial()
    assert trial is not None
    return trial.shortcoming


def test_a_crash_is_kept_with_status_and_last_line(tmp_path: Path) -> None:
    """`Did not come up within 60 s` sent people to wait for what had ended in the first second."""
    paths, records = tried(tmp_path)

    keep_end(paths, tmp_path / "lock", PID, 1, ["Traceback", "ImportError: no libfoo.", ""])

    assert shortcoming(records) == (
        "it ended with status 1, and its last line was: ImportError: no libfoo"
    )


def test_a_signal_is_named_and_silence_said() -> None:
    """A broken library ends a program without a word."""
    assert in_words(-11, []) == "it ended with SIGSEGV and said nothing"
    assert in_words(-250, [" "]) == "it ended with signal 250 and said nothing"
    assert in_words(3, ["x" * 300]).endswith(f"{'x' * 200}…")


def test_nothing_is_kept_of_others_or_of_what_it_said_itself(tmp_path: Path) -> None:
    """The number of a process means nothing by itself, and its own words say more."""
    paths, records = tried(tmp_path)
    lock = tmp_path / "lock"

    keep_end(paths, lock, PID + 1, 1, ["of another process"])
    keep_end(paths, lock, PID, 70, ["its time was over"])
    with exclusive(lock) as is_ours:
        assert is_ours
        keep_end(paths, lock, PID, 1, ["another one is at it already"])
    assert shortcoming(records) is None

    tried(tmp_path, shortcoming="it lists no presets")
    keep_end(paths, lock, PID, 1, ["too late"])
    assert shortcoming(records) == "it lists no presets"


def test_where_nothing_is_on_trial_nothing_is_written(tmp_path: Path) -> None:
    """A trial that was taken back meanwhile must not come back."""
    paths, records = tried(tmp_path)
    records.forget(Trial)

    keep_end(paths, tmp_path / "lock", PID, 1, ["too late"])

    assert records.trial() is None
