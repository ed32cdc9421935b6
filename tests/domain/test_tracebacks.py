"""Tracebacks of several processes in one log: kept together, and folded to what went wrong."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.metrics import LogLine
from studio.domain.tracebacks import Folder, LogEntry, begins_afresh, process_of, root_cause
from studio.serving.log_text import level_of
from tests.fakes import recordings

DIRECT = "The above exception was the direct cause of the following exception:"
WHILE = "During handling of the above exception, another exception occurred:"
BEGIN = "Traceback (most recent call last):"


def _lines(texts: Sequence[str]) -> list[LogLine]:
    return [
        LogLine(seq=seq, at=0.0, source="engine", level=level_of(text), text=text)
        for seq, text in enumerate(texts, 1)
    ]


def _fold(texts: Sequence[str]) -> list[LogEntry]:
    folder = Folder()
    entries = [*folder.take(_lines(texts)), *folder.rest()]
    return sorted(entries, key=lambda entry: entry.seq)


def _chain(*blocks: tuple[str, str]) -> list[str]:
    texts: list[str] = []
    for joined, raised in blocks:
        texts += [joined] if joined else []
        texts += [BEGIN, '  File "/srv/vllm/a.py", line 7, in load', "    boom()", raised]
    return texts


def test_the_first_of_a_chain_is_the_root_cause() -> None:
    """What was raised last only passes it on."""
    texts = _chain(("", "ValueError: too small"), (DIRECT, "x.RuntimeError: worker failed"))

    assert root_cause(texts) == (
        "ValueError: too small; which led to RuntimeError [a.py:7 in load, traceback of 9 lines]"
    )


def test_what_was_raised_while_handling_says_more() -> None:
    """Python chains what a handler raised; that is the sentence meant for people."""
    texts = _chain(("", "KeyError: 'x'"), (WHILE, "OSError: the hub cannot be reached"))

    assert root_cause(texts).startswith("OSError: the hub cannot be reached; while handling KeyErr")


def test_a_validation_says_what_is_wrong() -> None:
    """pydantic's first line only counts."""
    texts = [BEGIN, "pydantic.ValidationError: 1 validation error for ModelConfig",
             "  Value error, the context is too long [type=value_error]"]  # fmt: skip

    assert "ModelConfig: Value error, the context is too long" in root_cause(texts)


def test_an_exception_group_names_what_is_in_it() -> None:
    """Task groups wrap the one error that matters."""
    texts = [
        "  + Exception Group Traceback (most recent call last):",
        '  |   File "/srv/a.py", line 1, in run',
        "  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)",
        "  +-+---------------- 1 ----------------",
        "    | Traceback (most recent call last):",
        '    |   File "/srv/b.py", line 2, in load',
        "    | ValueError: too small",
        "    +------------------------------------",
        "INFO:     goes on",
    ]

    first, second = _fold(texts)

    assert "ExceptionGroup: unhandled errors" in first.text
    assert len(first.whole) == 8
    assert second.text == "INFO:     goes on"


@pytest.mark.parametrize("seed", range(20))
def test_lines_of_several_processes_are_told_apart(seed: int) -> None:
    """Tensor-parallel workers fail together, and their lines reach the log in any order."""
    chance = random.Random(seed)
    queues = [
        [f"({tag} pid={pid}) ERROR 11-29 14:29:59 [core.py:9] {text}" for text in _chain(
            ("", f"ValueError: {tag}"), (DIRECT, "RuntimeError: failed"))]
        + [f"({tag} pid={pid}) INFO 11-29 14:30:00 [core.py:10] goes on"]
        for tag, pid in (("Worker_TP0", 1), ("Worker_TP1", 2), ("EngineCore", 3))
    ]  # fmt: skip
    texts: list[str] = []
    while any(queues):
        texts.append(chance.choice([queue for queue in queues if queue]).pop(0))

    entries = _fold(texts)

    folded = [entry for entry in entries if entry.whole]
    assert {entry.process for entry in folded} == {
        "Worker_TP0 pid=1", "Worker_TP1 pid=2", "EngineCore pid=3",
    }  # fmt: skip
    for entry in folded:
        assert len(entry.whole) == 9
        assert {process_of(text) for text in entry.whole} == {entry.process}
        assert f"ValueError: {str(entry.process).split()[0]};" in entry.text
    assert len(entries) == 6


def test_two_tracebacks_in_a_row_stay_two() -> None:
    """vLLM logs the exception of a worker twice, with one header."""
    one = [f"(Worker pid=1) ERROR 11-29 14:29:59 [a.py:1] {text}" for text in _chain(("", "E: x"))]

    assert [len(entry.whole) for entry in _fold([*one, *one])] == [4, 4]


def test_what_follows_an_exception_without_header_is_no_part_of_it() -> None:
    """The final traceback goes to standard error; the next line may be anybody's."""
    texts = [*_chain(("", "OSError: no room")), "Some other program says this"]

    assert [entry.text for entry in _fold(texts)][1] == "Some other program says this"


def test_a_traceback_is_an_error_whatever_its_lines_are() -> None:
    """Uncaught ones carry no level."""
    assert _fold(_chain(("", "E: x")))[0].level == "error"


def test_an_unfinished_traceback_comes_when_patience_ends() -> None:
    """Each turn without a line of its own counts; those of others do not help it."""
    folder = Folder(patience=2)

    turns = [folder.take(_lines([BEGIN, "  File"])), folder.take(_lines(["(A pid=1) INFO:     x"]))]
    turns.append(folder.take([]))

    assert [[entry.seq for entry in turn] for turn in turns] == [[], [1], [1]]


@pytest.mark.parametrize("path", sorted(recordings.ENGINE.rglob("*.log")), ids=recordings.name_of)
def test_recorded_logs_lose_no_line(path: Path) -> None:
    """Every line is in exactly one entry."""
    texts = [text for text in recordings.lines(path) if text.strip()]

    entries = _fold(texts)

    shown = [text for entry in entries for text in (entry.whole or (entry.text,))]
    assert sorted(shown) == sorted(texts)


@given(st.lists(st.sampled_from([
    BEGIN, "  File", "E: x", DIRECT, "", "(A pid=1) ERROR 11-29 14:29:59 [a.py:1] " + BEGIN,
    "(A pid=1) ERROR 11-29 14:29:59 [a.py:1] x", "INFO:     x", "  | x: y", "\\x00", "(A pid=1) ",
])))  # fmt: skip
def test_nothing_is_lost_of_any_log(texts: list[str]) -> None:
    """Logs are cut, mixed and pasted."""
    shown = [text for entry in _fold(texts) for text in (entry.whole or (entry.text,))]

    assert sorted(shown) == sorted(texts)


def test_a_log_is_cut_where_an_entry_begins() -> None:
    """Pages are folded one by one."""
    header = "ERROR 11-29 14:29:59 [a.py:1]"

    assert begins_afresh(_lines([f"{header} a", f"{header} b", "rest", "INFO:     next"])) == 3
    assert begins_afresh(_lines(["rest", "rest"])) == 2
    assert begins_afresh([]) == 0
