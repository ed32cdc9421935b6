"""Processor time of one coroutine: what its own steps take on the loop's thread."""

import time
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Metered(Generic[T]):
    """An awaitable that does what `work` does, and adds up what its steps take.

    What other tasks do while it waits is not counted, nor what it hands to threads and to tasks.
    """

    def __init__(self, work: Coroutine[Any, Any, T], spent: Callable[[float], None]) -> None:
        """`spent` gets the seconds of each step."""
        self._work = work
        self._spent = spent

    def __await__(self) -> Generator[Any, Any, T]:
        return _Steps(self._work, self._spent)


class _Steps(Generator[Any, Any, T]):
    """The steps of a coroutine, each with a look at the clock on both sides."""

    def __init__(self, work: Coroutine[Any, Any, T], spent: Callable[[float], None]) -> None:
        self._work = work
        self._spent = spent

    def send(self, value: Any) -> Any:
        started = time.thread_time()
        try:
            return self._work.send(value)
        finally:
            self._spent(time.thread_time() - started)

    def throw(self, *error: Any) -> Any:
        started = time.thread_time()
        try:
            return self._work.throw(*error)
        finally:
            self._spent(time.thread_time() - started)

    def close(self) -> None:
        self._work.close()
