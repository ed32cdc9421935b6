"""The window's side of the conversation: the one holder of `Known`, on Qt's thread.

Pages are told by its signals and ask by its methods; they never see the bridge.
"""

import time
from collections import deque
from collections.abc import Iterable, Mapping

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from studio.domain.control import (
    KeyInfo,
    KeyRequest,
    NewKey,
    PresetInfo,
    Status,
    UpRequest,
    UpResult,
)
from studio.domain.errors import ErrorInfo
from studio.domain.events import Event, KeysChanged, LogAppended, Ticked
from studio.domain.hardware import HostSnapshot
from studio.domain.metrics import LogLine, Tick
from studio.domain.report import ReportPreview
from studio.domain.server import EngineState
from studio.ui.bridge import HISTORY_S, LOG_LINES, Answer, Bridge, Farewell
from studio.ui.state import (
    ENGINE_ACTIONS,
    Action,
    Known,
    Link,
    Opening,
    Secret,
    fold,
    opened,
    with_problem,
    without_revoked,
)
from studio.ui.viewmodels.problem import free_port

_HOST_MS = 1_000


class Session(QObject):
    """Signals: `changed` (Known), `ticked`, `log_added` (lines, dropped), `log_replaced`,
    `report_made` (ReportPreview), `report_failed` (ErrorInfo).
    """

    changed = Signal(object)
    ticked = Signal()
    log_replaced = Signal(object)
    log_added = Signal(object, int)
    report_made = Signal(object)
    report_failed = Signal(object)

    def __init__(self, bridge: Bridge, place: str | None = None) -> None:
        """`place` names the machine of the service, where that is another one."""
        super().__init__()
        self._bridge = bridge
        self.known = Known(place=place)
        self.ticks: deque[Tick] = deque(maxlen=HISTORY_S + 1)
        self._last_line: int | None = None
        self._log_is_joined = True
        self._host_timer = QTimer(self)
        self._host_timer.setInterval(_HOST_MS)
        self._host_timer.timeout.connect(bridge.status)
        bridge.opened.connect(self._on_opened)
        bridge.arrived.connect(self._on_arrived)
        bridge.closed.connect(self._on_closed)
        bridge.answered.connect(self._on_answered)

    def begin(self) -> None:
        """Look for the service."""
        self._bridge.start()

    def end(self) -> None:
        """Let go of it; what it runs goes on."""
        self._bridge.close()

    def start(
        self,
        preset: str,
        gpus: tuple[int, ...] | None = None,
        *,
        overrides: Mapping[str, str] | None = None,
        consent: bool = False,
    ) -> None:
        """Serve `preset`, or replace what runs by it; on these cards, or as the preset wants.

        `overrides` hold for this start; `consent` is a yes to a download whose size was shown.
        """
        action = Action.SWITCH if self.known.engine.state is EngineState.READY else Action.UP
        request = UpRequest(
            preset=preset, gpus=gpus, overrides=dict(overrides or {}), consent=consent
        )
        self._attempt(action, request)

    def refresh_presets(self) -> None:
        """Read the presets again: one was changed, or somebody else may have changed one."""
        if self.known.link is Link.LIVE:
            self._bridge.ask(lambda client: client.presets(), self._on_presets, self._on_no_presets)

    def look_at_machine(self) -> None:
        """Have the machine looked at again: disk and memory are others than a while ago."""
        if self.known.link is Link.LIVE:
            self._bridge.ask(lambda client: client.host(), self._on_host, self._on_no_host)

    def restart(self) -> None:
        """Restart the engine."""
        preset = self.known.engine.preset
        self._set(
            problem=None,
            stop_asked=False,
            attempt=UpRequest(preset=preset),
            attempt_action=Action.RESTART,
        )
        self._pend(Action.RESTART)
        self._bridge.restart()

    def stop(self) -> None:
        """Stop the engine, also one that is starting."""
        self._set(stop_asked=True)
        self._pend(Action.STOP)
        self._bridge.stop()

    def retry(self) -> None:
        """Try again what went wrong."""
        if self.known.attempt_action is Action.RESTART:
            self.restart()
        else:
            self._attempt(self.known.attempt_action, self._last_request())

    def take_free_port(self) -> None:
        """Try again on the port that was offered."""
        problem = self.known.problem
        port = free_port(problem) if problem is not None else None
        if port is not None:
            self._attempt(
                self._request_action(), msgspec.structs.replace(self._last_request(), port=port)
            )

    def consent(self) -> None:
        """Try again with a yes to what was asked."""
        self._attempt(
            self._request_action(), msgspec.structs.replace(self._last_request(), consent=True)
        )

    def start_service(self) -> None:
        """Start the service again after it had ended."""
        self._set(link=Link.CONNECTING, farewell=None)
        self._bridge.start_service()

    def fetch_log_again(self) -> None:
        """Read the newest log lines once more, for a log view that was just made."""
        if self.known.link is Link.LIVE:
            self._bridge.ask(
                lambda client: client.logs(lines=LOG_LINES), self._on_log_again, self._on_no_log
            )

    def refresh_keys(self) -> None:
        """Read the keys and their usage again, unless that is under way."""
        if self.known.link is Link.LIVE and Action.LIST_KEYS not in self.known.pending:
            self._pend(Action.LIST_KEYS)
            self._bridge.list_keys()

    def create_key(self, name: str) -> None:
        """Make a key; it comes back as `known.secret`."""
        self._set(key_problem=None)
        self._pend(Action.CREATE_KEY)
        self._bridge.create_key(KeyRequest(name=name))

    def take_key(self, made: NewKey, *, is_new: bool = True) -> None:
        """Show a key that a page asked for: a new one, or one that was kept."""
        self._on_key_made(made, is_new=is_new)
        self.changed.emit(self.known)

    def take_first_key(self, key: str) -> None:
        """Show the key that was made with an answer, which brings it this once."""
        self._set(secret=Secret(key=key))

    def revoke_key(self, key_id: str) -> None:
        """Make a key useless from now on."""
        self._set(key_problem=None)
        self._pend(Action.REVOKE_KEY)
        self._bridge.revoke_key(key_id)

    def ask_report(self) -> None:
        """Have a report collected; it comes as `report_made`, or as `report_failed`."""
        self._bridge.report()

    def forget_secret(self) -> None:
        """Drop the key that was shown once."""
        self._set(secret=None)

    def dismiss_problem(self) -> None:
        """Close the error card."""
        self._set(problem=None)

    def dismiss_key_problem(self) -> None:
        """Close the keys page's error card."""
        self._set(key_problem=None)

    def _last_request(self) -> UpRequest:
        return self.known.attempt or UpRequest(preset=self.known.engine.preset)

    def _request_action(self) -> Action:
        action = self.known.attempt_action
        return Action.UP if action is Action.RESTART else action

    def _attempt(self, action: Action, request: UpRequest) -> None:
        self._set(problem=None, attempt=request, attempt_action=action, stop_asked=False)
        self._pend(action)
        if action is Action.SWITCH:
            self._bridge.switch(request)
        else:
            self._bridge.up(request)

    def _pend(self, action: Action) -> None:
        self._set(pending=self.known.pending | {action})

    def _set(self, **fields: object) -> None:
        self.known = msgspec.structs.replace(self.known, **fields)
        self.changed.emit(self.known)

    def _on_opened(self, opening: Opening) -> None:
        self.known = opened(self.known, opening, time.monotonic())
        self.ticks.clear()
        self.ticks.extend(opening.history)
        self._last_line = opening.log[-1].seq if opening.log else None
        self._log_is_joined = False
        if self.known.host is None:  # a service that just started looks at the machine meanwhile
            self._host_timer.start()
        self.log_replaced.emit(opening.log)
        self.changed.emit(self.known)
        self.ticked.emit()

    def _on_arrived(self, events: tuple[Event, ...]) -> None:
        now_s = time.monotonic()
        before = self.known
        for event in events:
            self.known = fold(self.known, event, now_s)
            match event:
                case Ticked(tick=tick):
                    self._add_tick(tick)
                case LogAppended(lines=lines, dropped=dropped):
                    self._add_lines(lines, dropped)
                case KeysChanged():
                    self.refresh_keys()
        if any(isinstance(event, Ticked) for event in events):
            self.ticked.emit()
        if msgspec.structs.replace(self.known, tick=before.tick) != before:
            self.changed.emit(self.known)

    def _add_tick(self, tick: Tick) -> None:
        """Keep a tick; the stream begins with the newest one, which the history has too."""
        if not self.ticks or tick.at > self.ticks[-1].at:
            self.ticks.append(tick)

    def _add_lines(self, lines: Iterable[LogLine], dropped: int) -> None:
        fresh = [line for line in lines if self._last_line is None or line.seq > self._last_line]
        if fresh and not self._log_is_joined:
            self._log_is_joined = True
            if self._last_line is not None and fresh[0].seq > self._last_line + 1:
                self._bridge.fetch_log(self._last_line)  # written between answer and stream
                return
        if fresh:
            self._last_line = fresh[-1].seq
        if fresh or dropped:
            self.log_added.emit(fresh, dropped)

    def _on_log_again(self, lines: list[LogLine]) -> None:
        self._last_line = lines[-1].seq if lines else None
        self.log_replaced.emit(tuple(lines))

    def _on_no_log(self, _error: ErrorInfo) -> None:
        """Leave the view empty: the service is gone, and its return brings the lines."""

    def _on_closed(self, farewell: Farewell) -> None:
        self._set(
            link=Link.ENDED if farewell.announced else Link.LOST,
            farewell=farewell.reason,
            pending=frozenset(),
            tick=None,
        )
        self._host_timer.stop()

    def _on_answered(self, answer: Answer) -> None:
        if answer.error is not None:
            self._on_failed(answer)
        elif answer.action in ENGINE_ACTIONS:
            self._on_engine_answer(answer.value)
        elif isinstance(answer.value, Status):
            self._on_status(answer.value)
        elif answer.action is Action.FETCH_LOG and isinstance(answer.value, list):
            self._add_lines(answer.value, 0)
        elif answer.action is Action.LIST_KEYS and isinstance(answer.value, list):
            known = msgspec.structs.replace(self.known, keys=tuple(answer.value))
            self.known = without_revoked(known)
        elif isinstance(answer.value, ReportPreview):
            self.report_made.emit(answer.value)
        elif isinstance(answer.value, NewKey):
            self._on_key_made(answer.value)
        elif isinstance(answer.value, KeyInfo):
            self._replace_key(answer.value)
        self._set(pending=self.known.pending - {answer.action})

    def _on_failed(self, answer: Answer) -> None:
        if answer.action in (Action.CREATE_KEY, Action.REVOKE_KEY):
            self.known = msgspec.structs.replace(self.known, key_problem=answer.error)
        elif answer.action is Action.REPORT and answer.error is not None:
            self.report_failed.emit(answer.error)
        elif answer.action in ENGINE_ACTIONS:
            self.known = with_problem(self.known, answer.error)

    def _on_presets(self, found: list[PresetInfo]) -> None:
        if self.known.presets != tuple(found):
            self._set(presets=tuple(found))

    def _on_no_presets(self, _error: ErrorInfo) -> None:
        """Go on with those that are known."""

    def _on_host(self, found: HostSnapshot) -> None:
        if self.known.host != found:
            self._set(host=found)

    def _on_no_host(self, _error: ErrorInfo) -> None:
        """Go on with what was seen before."""

    def _on_status(self, status: Status) -> None:
        if status.host is not None:
            self._host_timer.stop()
            self.known = msgspec.structs.replace(self.known, host=status.host)

    def _on_engine_answer(self, value: object) -> None:
        if isinstance(value, UpResult) and value.api_key is not None:
            self.known = msgspec.structs.replace(self.known, secret=Secret(key=value.api_key))

    def _on_key_made(self, made: NewKey, *, is_new: bool = True) -> None:
        others = (key for key in self.known.keys or () if key.id != made.info.id)
        keys = (*others, made.info)  # the list may have come before the answer
        self.known = msgspec.structs.replace(
            self.known, keys=keys, secret=Secret(key=made.key, name=made.info.name, is_new=is_new)
        )

    def _replace_key(self, changed: KeyInfo) -> None:
        keys = tuple(changed if key.id == changed.id else key for key in self.known.keys or ())
        self.known = without_revoked(msgspec.structs.replace(self.known, keys=keys))
