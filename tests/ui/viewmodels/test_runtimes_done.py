"""What was done, in words."""

import msgspec
import pytest

from studio.domain.bundles import Exported, Imported
from studio.domain.control import RuntimeVersions
from studio.domain.integrity import Collected, Repaired
from studio.domain.runtimes import (
    FetchedSeries,
    InstallStopped,
    RuntimeUpdated,
    RuntimeWork,
    SeriesSet,
)
from studio.ui.viewmodels.runtimes_done import Done, cut, done_view
from studio.ui.viewmodels.words import Role
from tests.ui.fake_runtimes import BROKEN, CPU, GARBAGE, NEW_ID, OLD_ID, VERDICT, VOLTA, detail_of

replace = msgspec.structs.replace
NAME = CPU.name
REPAIRED = Repaired(runtime=NAME, runtime_id=NEW_ID, restored=2, removed=1, compiled=0, seconds=3.2)
EXPORTED = Exported(
    runtime=NAME, runtime_id=NEW_ID, path="/tmp/a.weir", files=1, bytes=1, file_bytes=2 << 30,
    sha256="ab", fingerprint="f", public_key="cd", is_new_key=True, seconds=1.0,
)  # fmt: skip
IMPORTED = Imported(
    runtime=NAME, runtime_id=NEW_ID, files=1, bytes=2 << 30, fingerprint="f", is_catalogued=False,
    seconds=1.0,
)  # fmt: skip
SERIES = FetchedSeries(
    runtime=NAME,
    sets=(SeriesSet(title="S", repository="r", commit="c" * 40, patches=("0001", "0002")),),
)


@pytest.mark.parametrize(
    ("done", "words"),
    [
        (VERDICT, f"{NAME} is whole: 27,811 files, 2.24 GiB read in 11.4 s."),
        (replace(VERDICT, is_known=False), "no list of its files"),
        (REPAIRED, "2 files restored, 1 file removed"),
        (replace(REPAIRED, restored=0, removed=0), "was whole"),
        (replace(REPAIRED, is_rebuilt=True), "installed anew"),
        (replace(GARBAGE, is_dry_run=False), "Removed 2 things: 3.00 GiB are free again."),
        (Collected(removals=(), bytes=0, is_dry_run=True), "nothing that no runtime uses"),
        (EXPORTED, "lies in /tmp/a.weir: 2.00 GiB"),
        (IMPORTED, "is installed: 2.00 GiB, signed by f"),
        (replace(IMPORTED, was_there=True), "was here and whole already"),
        (RuntimeUpdated(runtime=NAME, before=OLD_ID, after=NEW_ID), f"uses {NEW_ID[:12]} from"),
        (RuntimeUpdated(runtime=NAME, before=OLD_ID, after=OLD_ID), "nothing to update"),
        (RuntimeVersions(name=NAME, current=OLD_ID), f"uses {OLD_ID[:12]} from the next start"),
        (SERIES, "2 patches of"),
        (detail_of(CPU), "is installed"),
        (detail_of(VOLTA), "kept what you said"),
    ],
)
def test_each_outcome_is_a_sentence(done: Done, words: str) -> None:
    """Nobody has to guess whether it worked."""
    view = done_view(done)

    assert view is not None
    assert words in view.text


def test_what_differs_is_listed_and_looks_like_harm() -> None:
    """A damaged engine gives wrong answers, or none."""
    view = done_view(BROKEN)

    assert view is not None
    assert view.role is Role.HARM
    assert view.lines[0].endswith("envs.py — changed")
    assert done_view(None) is None


def test_a_long_list_is_cut_and_says_by_how_much() -> None:
    """Ten thousand lines in a card help nobody."""
    assert len(cut(tuple("x" * 40))) == 40
    assert cut(("a",) * 45)[-1] == "5 more"


@pytest.mark.parametrize(
    ("stopped", "said", "lines"),
    [
        (InstallStopped(runtime=NAME, was_running=False), "there was nothing to stop", 0),
        (InstallStopped(runtime=NAME, was_running=True), "is stopped.", 1),
        (InstallStopped(runtime=NAME, was_running=True, current=OLD_ID), "is stopped.", 2),
        (
            InstallStopped(runtime=NAME, was_running=True, is_finished=True, current=NEW_ID),
            "was finished before it could be stopped",
            0,
        ),
        (
            InstallStopped(runtime=NAME, was_running=True, current=NEW_ID, work=RuntimeWork.EXPORT),
            "The export of cpu-vllm-0.32.0 is stopped.",
            1,
        ),
        (
            InstallStopped(
                runtime=NAME, was_running=True, is_finished=True, work=RuntimeWork.VERIFY
            ),
            "It was over already",
            0,
        ),
    ],
)
def test_a_stop_says_what_stays(stopped: InstallStopped, said: str, lines: int) -> None:
    """Nothing under way and too late must not read as stopped."""
    view = done_view(stopped)

    assert view is not None
    assert said in view.text
    assert len(view.lines) == lines
