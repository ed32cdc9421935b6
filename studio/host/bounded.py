"""A call into foreign code that may never return, made so that nobody has to wait for it."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class Overdue(Exception):
    """The call did not return in time, or one before it still has not."""


class Bounded(Generic[T]):
    """Makes one call at a time, each in a daemon thread: a stuck one cannot hold the process.

    While one is stuck no second is made, because it would get stuck too; when it comes back after
    all, the next caller asks anew.
    """

    def __init__(self, work: Callable[[], T], *, name: str, within_s: float) -> None:
        self._work = work
        self._name = name
        self._within_s = within_s
        self._lock = threading.Lock()
        self._under_way: Future[T] | None = None
        self._deadline = 0.0

    def call(self) -> T:
        """Return what the work returns; callers that come meanwhile get the same.

        Raises: Overdue, at once when an earlier call is stuck.
        """
        with self._lock:
            future = self._under_way
            if future is None or future.done():
                self._deadline = time.monotonic() + self._within_s
                self._under_way = future = self._start()
            rest_s = max(0.0, self._deadline - time.monotonic())
        try:
            return future.result(timeout=rest_s)
        except TimeoutError:
            raise Overdue from None

    def _start(self) -> Future[T]:
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(self._work())
            finally:
                if not future.done():  # its own error is on standard error, with its traceback
                    future.set_exception(RuntimeError(f"{self._name} ended without an answer"))

        threading.Thread(target=run, name=self._name, daemon=True).start()
        return future
