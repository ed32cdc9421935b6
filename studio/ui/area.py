"""A part of what the window knows that only some pages need: asked for, kept, announced."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal

from studio.domain.errors import ErrorInfo, ServiceUnreachable
from studio.ui.bridge import Bridge

if TYPE_CHECKING:
    from studio.control.client import ControlClient

T = TypeVar("T")


class Area(QObject):
    """Signals: `changed` after anything here is other than before.

    `pending` names the questions under way, so that buttons rest meanwhile; `problem` is the last
    refusal that nobody closed yet. It is none any more when the same question was answered, nor,
    where the service did not answer, once that is back.
    """

    changed = Signal()

    def __init__(self, bridge: Bridge) -> None:
        super().__init__()
        self._bridge = bridge
        self.pending: frozenset[str] = frozenset()
        self.problem: ErrorInfo | None = None
        self._answerable: tuple[str, ErrorInfo] | None = None
        """Which question brought the problem."""
        self._turns: dict[str, int] = {}
        """How often what a question reads was changed by another one."""
        bridge.opened.connect(self._on_service_back)

    def dismiss(self) -> None:
        """Close the error card."""
        self.problem = None
        self.changed.emit()

    def ask(
        self,
        name: str,
        question: "Callable[[ControlClient], Awaitable[T]]",
        done: Callable[[T], None],
        failed: Callable[[ErrorInfo], None] | None = None,
        put: Callable[..., None] | None = None,
        writes: str | None = None,
    ) -> bool:
        """Ask the service; `done` is called on Qt's thread. One of a name at a time: else False.

        An error becomes `problem`, unless `failed` takes it. `put` hands the question to another
        one than the area's own. `writes` names the question that reads what this one changes: an
        answer to that from before is old, whenever it comes, and is asked for again.
        """
        if name in self.pending:
            return False
        self.pending |= {name}
        self.changed.emit()

        turn = self._turns.get(name, 0)

        def taken(value: T) -> None:
            self.pending -= {name}
            self._forget(name)
            if writes is not None:
                self._turns[writes] = self._turns.get(writes, 0) + 1
            if self._turns.get(name, 0) != turn:
                self.ask(name, question, done, failed, put)
                return
            done(value)
            self.changed.emit()

        def refused(error: ErrorInfo) -> None:
            self.pending -= {name}
            before = self.problem
            if failed is not None:
                failed(error)
            else:
                self.problem = error
            if self.problem is not None and self.problem is not before:
                self._answerable = (name, self.problem)
            self.changed.emit()

        (put or self.put)(question, taken, refused)
        return True

    def _forget(self, name: str) -> None:
        """Drop the problem of a question that is answered by now."""
        if self._answerable is not None and self._answerable[0] == name:
            if self.problem is self._answerable[1]:
                self.problem = None
            self._answerable = None

    def _on_service_back(self) -> None:
        if self.problem is not None and self.problem.exit_status == ServiceUnreachable.exit_status:
            self.dismiss()

    def put(
        self,
        question: "Callable[[ControlClient], Awaitable[T]]",
        done: Callable[[T], None],
        failed: Callable[[ErrorInfo], None],
    ) -> None:
        """Hand a question to whoever answers it: the service, unless an area knows another."""
        self._bridge.ask(question, done, failed)
