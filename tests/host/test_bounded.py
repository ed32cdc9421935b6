"""Calls that may never return."""

import threading

import pytest

from studio.host.bounded import Bounded, Overdue

LONG_S = 30.0


def test_an_answer_is_handed_on() -> None:
    """The usual case costs one thread."""
    assert Bounded(lambda: 42, name="test", within_s=LONG_S).call() == 42


def test_each_call_asks_anew() -> None:
    """An old answer would hide a card that was pulled out."""
    answers = iter((1, 2))
    bounded = Bounded(lambda: next(answers), name="test", within_s=LONG_S)

    assert (bounded.call(), bounded.call()) == (1, 2)


def test_nobody_waits_beyond_the_deadline_and_no_second_call_is_made() -> None:
    """A second call would get stuck too, and each would cost a thread."""
    release, calls = threading.Event(), []

    def stuck() -> int:
        calls.append(1)
        release.wait(LONG_S)
        return 7

    bounded = Bounded(stuck, name="test", within_s=0.05)
    for _ in range(3):
        with pytest.raises(Overdue):
            bounded.call()
    assert len(calls) == 1

    release.set()
    for thread in threading.enumerate():
        if thread.name == "test":
            thread.join(LONG_S)
    assert bounded.call() == 7
    assert len(calls) == 2


def test_callers_at_the_same_time_share_one_answer() -> None:
    """Two windows that open at once ask the driver once."""
    started, release, calls = threading.Event(), threading.Event(), []

    def work() -> int:
        calls.append(1)
        started.set()
        release.wait(LONG_S)
        return 1

    bounded = Bounded(work, name="test", within_s=LONG_S)
    answers: list[int] = []
    threads = [threading.Thread(target=lambda: answers.append(bounded.call())) for _ in range(3)]
    for thread in threads:
        thread.start()
    started.wait(LONG_S)
    release.set()
    for thread in threads:
        thread.join(LONG_S)

    assert answers == [1, 1, 1]
    assert len(calls) in (1, 2, 3)  # a late thread may have come after the first answer
    assert bounded.call() == 1


def test_work_that_breaks_is_no_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its caller must not wait for an answer that will never come."""
    monkeypatch.setattr(threading, "excepthook", lambda _: None)  # it prints the traceback

    def breaks() -> int:
        raise ValueError("broken")

    bounded = Bounded(breaks, name="test", within_s=LONG_S)

    with pytest.raises(RuntimeError, match="without an answer"):
        bounded.call()
    for thread in threading.enumerate():
        if thread.name == "test":
            thread.join(LONG_S)
