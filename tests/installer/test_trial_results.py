"""What a run of trials keeps, so that the next one goes on where it was cut off."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from installer import trial_results
from installer.trial_results import FAILED, LEFT_OUT, PASSED, LeftOut, Result, Results, Trial


def _said(words: str) -> None:
    sys.stdout.write(f"{words}\n")


def _fails() -> None:
    raise RuntimeError("the service is another one\nand much more")


def _left_out() -> None:
    raise LeftOut("no --newer")


def _killed() -> None:
    raise KeyboardInterrupt


def _trial(act: object, *, inputs: str = "a") -> Trial:
    assert callable(act)
    return Trial("Debian 12", "deb", inputs, act)


def test_what_passed_is_shown_again_and_not_tried_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trial takes a quarter of an hour, and one of ten may have been cut off."""
    Results(tmp_path).attempt(_trial(lambda: _said("  apt install 3 s")))
    capsys.readouterr()

    result = Results(tmp_path).attempt(_trial(_fails))

    assert result.outcome == PASSED
    assert result.note.startswith("on 20")
    assert capsys.readouterr().out.endswith("\n  apt install 3 s\n")


@pytest.mark.parametrize("again", [{"inputs": "b"}, {"again": True}])
def test_other_packages_and_a_wish_try_it_again(tmp_path: Path, again: dict[str, str]) -> None:
    """Packages that were built anew prove nothing of the ones before."""
    Results(tmp_path).attempt(_trial(lambda: _said("old")))

    wish = again.pop("again", False)
    result = Results(tmp_path).attempt(_trial(_fails, **again), again=bool(wish))

    assert (result.outcome, result.note) == (FAILED, "the service is another one")


def test_what_failed_or_was_left_out_is_tried_again(tmp_path: Path) -> None:
    """It may have been the machine: an engine that others left no memory for."""
    for act, outcome in ((_fails, FAILED), (_left_out, LEFT_OUT), (lambda: _said("x"), PASSED)):
        assert Results(tmp_path).attempt(_trial(act)).outcome == outcome


@pytest.mark.parametrize("act", [lambda: "".splitlines()[-1], lambda: next(iter(()))])
def test_a_command_that_says_nothing_fails_its_trial_and_not_the_others(
    tmp_path: Path, act: Callable[[], object]
) -> None:
    """The last line of nothing is looked for; the night's other trials go on, with a table."""
    result = Results(tmp_path).attempt(_trial(act))

    assert result.outcome == FAILED
    assert result.note


def test_a_kill_while_it_is_tried_again_leaves_no_old_result(tmp_path: Path) -> None:
    """Else a run that was cut off would count as one that passed."""
    Results(tmp_path).attempt(_trial(lambda: _said("old")))
    with pytest.raises(KeyboardInterrupt):
        Results(tmp_path).attempt(_trial(_killed), again=True)

    assert Results(tmp_path).attempt(_trial(_fails)).outcome == FAILED


def test_results_that_cannot_be_read_are_none(tmp_path: Path) -> None:
    """Half a file is what a full disk leaves."""
    Results(tmp_path).attempt(_trial(lambda: _said("old")))
    (tmp_path / "results.json").write_text("[{", encoding="ascii")

    assert Results(tmp_path).attempt(_trial(_fails)).outcome == FAILED


def test_inputs_differ_with_a_file_and_with_a_word(tmp_path: Path) -> None:
    """Equal ones stand for equal packages wherever they lie."""
    one, other = tmp_path / "a.deb", tmp_path / "b.deb"
    one.write_bytes(b"1")
    other.write_bytes(b"1")
    found = trial_results.inputs([one], ["x", "y"])

    assert found == trial_results.inputs([other], ["x", "y"])
    assert found != trial_results.inputs([one], ["xy"])
    other.write_bytes(b"2")
    assert found != trial_results.inputs([other], ["x", "y"])


def test_what_was_made_for_trials_is_made_once_and_never_half(tmp_path: Path) -> None:
    """A stick of 1.4 GB takes minutes; half a one would fail in a way that nobody understands."""
    made: list[str] = []

    def make(folder: Path) -> None:
        made.append(folder.name)
        (folder / "part").write_text("x", encoding="ascii")

    def breaks(folder: Path) -> None:
        make(folder)
        raise RuntimeError("the disk is full")

    folder = tmp_path / "stick"
    with pytest.raises(RuntimeError):
        trial_results.kept(folder, "a", breaks)
    for inputs in ("a", "a", "b"):
        assert trial_results.kept(folder, inputs, make) == folder

    assert len(made) == 3
    with pytest.raises(RuntimeError):
        trial_results.kept(folder, "c", breaks)
    trial_results.kept(folder, "b", make)
    assert len(made) == 5


def test_the_table_is_for_people() -> None:
    """One line for each trial, under what the columns are."""
    results = [
        Result(where=where, what=what, outcome=outcome, seconds=seconds, note=note, inputs="", at=0)
        for where, what, outcome, seconds, note in (
            ("Debian 12", "deb", PASSED, 612.4, ""),
            ("wine", "setup", LEFT_OUT, 0.1, "wine is missing"),
            ("Debian 13", "update", FAILED, 88.0, "the version is 0.1.0"),
        )
    ]

    assert list(trial_results.table(results)) == [
        "where      what    seconds  result",
        "Debian 12  deb         612  passed",
        "wine       setup         –  not tried: wine is missing",
        "Debian 13  update       88  failed: the version is 0.1.0",
    ]
