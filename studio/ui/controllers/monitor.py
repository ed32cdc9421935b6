"""The monitor page at work: reads a span, follows it while it is in front, saves what is shown."""

import time
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSaveFile, QTimer
from PySide6.QtWidgets import QFileDialog

from studio.domain.events import AlarmChanged, EngineChanged, Event, PoolChanged
from studio.domain.metrics import Tick
from studio.domain.server import EngineState
from studio.ui.desk import Controller, Desk
from studio.ui.language import t
from studio.ui.monitoring import MonitorArea, Wanted, csv_of
from studio.ui.pages.monitor import Export, MonitorPage, Part
from studio.ui.state import Known, Link
from studio.ui.viewmodels.chart_kinds import LIVE_SPAN_S, SPANS
from studio.ui.viewmodels.happened import (
    EventMark,
    alarms_words,
    ended_lines,
    event_lines,
    mark_near,
    marks_of,
    mutes_words,
)
from studio.ui.viewmodels.live import Deed, notices
from studio.ui.viewmodels.moments import second_words, span_words
from studio.ui.viewmodels.monitor import chosen_kinds, missing, offered_kinds, wished_kinds
from studio.ui.viewmodels.requests import detail_of, key_choices, request_lines, summary

_USUAL_SPAN = "15m"
_LIVE_AGAIN_MS, _LONG_AGAIN_MS = 60_000, 30_000
_EVENT_MS = 1_500
"""The history is written every few seconds, and asked for when what happened is over."""
_REQUESTS_MS = 3_000
_TRIES = 5
"""So often a series that has begun is looked for: a reading is kept a second or two later."""


class MonitorController(Controller):
    """Asks only while the page is in front, and only for the part that is."""

    def __init__(self, desk: Desk) -> None:
        self.view = MonitorPage(desk.look)
        super().__init__(desk, self.view)
        self.area = MonitorArea(desk.bridge)
        settings = desk.settings
        self._choice = settings.charts
        ids = [one.id for one in SPANS]
        self._chosen = settings.span if settings.span in ids else _USUAL_SPAN
        self._drawn: list[tuple[float, float]] = []
        """Spans that were drawn by hand, the newest last; empty: a chosen one holds."""
        self._marks: tuple[EventMark, ...] = ()
        self._reads = -1
        self._cross: float | None = None
        self._narrowed = ("", False)
        self._state: EngineState | None = None
        self._marked = ""
        self._new: frozenset[str] = frozenset()
        self._tries = 0
        self._is_front = False
        self._was_live = False
        self._has_cards = False
        self._again = self._timer(_LIVE_AGAIN_MS, self._read)
        self._soon = self._timer(_EVENT_MS, self._read)
        self._soon.setSingleShot(True)
        self._requests = self._timer(_REQUESTS_MS, self.area.read_requests)
        self._connect()
        self._show_kinds()
        self._show_span()

    @property
    def is_following(self) -> bool:
        """Whether anything is asked again by itself."""
        return any(timer.isActive() for timer in (self._again, self._soon, self._requests))

    # -- what the window asks --------------------------------------------------------------

    def show_known(self, known: Known) -> None:
        """Read anew when the service is back."""
        is_live = known.link is Link.LIVE
        has_cards = known.host is not None and bool(known.host.gpus)
        if has_cards is not self._has_cards:
            self._has_cards = has_cards
            self._show_kinds()
        if is_live is not self._was_live:
            self._was_live = is_live
            if not is_live:
                self.area.pool = None  # what runs is asked anew
            if is_live and self._is_front:
                self._read_part()
            self._show_charts()
            self._show_events()
            self._show_requests()
            self._show_alarms()

    def show_ticks(self, ticks: Sequence[Tick]) -> None:
        """Add what came since, where the span is a live one."""
        if self._drawn or not ticks:
            return
        self._look_for_new(ticks[-1])
        begin, end = self.span(ticks[-1].at)
        if end - begin <= LIVE_SPAN_S:
            self.area.hear(ticks, begin)
        if self.view.part is Part.CHARTS:
            self.view.board.show_span(begin, end)
            self._show_state()

    def enter(self) -> None:
        """Read what is in front."""
        self._is_front = True
        self._read_part()
        self.area.read_alarms()

    def show_what(self, what: str) -> None:
        """Bring a part to the front: `charts`, `requests`, `events`, `alarms`."""
        if what in list(Part):
            self.choose(Part(what))

    def leave(self) -> None:
        """Ask no more."""
        self._is_front = False
        for timer in (self._again, self._soon, self._requests):
            timer.stop()

    # -- what people do --------------------------------------------------------------------

    def choose(self, part: Part) -> None:
        """Bring a part to the front and read it."""
        self.view.show_part(part)
        self._requests.stop()
        self._read_part()
        self._show_charts()

    def choose_span(self, span: str) -> None:
        """Look so far back from now."""
        self._drawn.clear()
        self._chosen = span
        self.desk.settings.span = span
        self.desk.settings.save()
        self._span_changed()

    def zoom(self, begin: float, end: float) -> None:
        """Look at a span that was drawn by hand."""
        if end - begin >= 1.0:
            self._drawn.append((begin, end))
            self._span_changed()

    def back(self) -> None:
        """Look at the span before."""
        if self._drawn:
            self._drawn.pop()
            self._span_changed()

    def span(self, now: float | None = None) -> tuple[float, float]:
        """Return the span in view, in seconds since the epoch by the service's clock."""
        if self._drawn:
            return self._drawn[-1]
        ticks = self.desk.session.ticks
        end = now if now is not None else ticks[-1].at if ticks else time.time()
        seconds = next(one.seconds for one in SPANS if one.id == self._chosen)
        return end - seconds, end

    def save_csv_to(self, path: str) -> None:
        """Write the series of the charts in view, as fine as they are shown."""
        asked, step_s = self._wanted(), self.area.step_s

        def write(text: str) -> None:
            self._write(path, text.encode("utf-8"))

        self.area.ask("export", lambda client: csv_of(client, asked, step_s), write)

    def save_picture_to(self, path: str) -> None:
        """Write all charts as a picture, also those that are out of sight."""
        data = QByteArray()
        buffer = QBuffer(data)
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        self.view.board.grab().save(buffer, "PNG")
        self._write(path, bytes(data.data()))

    # -- inside ----------------------------------------------------------------------------

    def _timer(self, interval_ms: int, slot: object) -> QTimer:
        timer = QTimer(self)
        timer.setInterval(interval_ms)
        if callable(slot):
            timer.timeout.connect(slot)
        return timer

    def _connect(self) -> None:
        view, board = self.view, self.view.board
        self.area.changed.connect(self._on_area)
        view.part_chosen.connect(self.choose)
        view.span_chosen.connect(self.choose_span)
        view.back_asked.connect(self.back)
        view.chart_toggled.connect(self._on_toggled)
        view.usual_asked.connect(self._on_usual)
        view.export_asked.connect(self._on_export)
        view.problem.dismissed.connect(self.area.dismiss)
        board.pointed.connect(self._on_pointed)
        board.zoomed.connect(self.zoom)
        board.back_asked.connect(self.back)
        view.requests.narrowed.connect(self._on_narrowed)
        view.requests.marked.connect(self._on_marked)
        view.events.opened.connect(self._on_event)
        view.alarms.done.connect(self._on_deed)
        self.desk.bridge.arrived.connect(self._on_events)

    def _wanted(self) -> Wanted:
        begin, end = self.span()
        return Wanted(begin, end, wished_kinds(self._choice))

    def _read(self) -> None:
        if self._is_live():
            self.area.read(self._wanted())

    def _read_part(self) -> None:
        if not self._is_live() or not self._is_front:
            return
        match self.view.part:
            case Part.REQUESTS:
                self.area.read_requests()
                self._requests.start()
            case Part.ALARMS:
                self.area.read_alarms()
            case Part.CHARTS | Part.EVENTS:
                self._read()
                self._pace()

    def _pace(self) -> None:
        begin, end = self.span()
        self._again.setInterval(_LIVE_AGAIN_MS if end - begin <= LIVE_SPAN_S else _LONG_AGAIN_MS)
        if self._drawn:
            self._again.stop()
        else:
            self._again.start()

    def _is_live(self) -> bool:
        return self.desk.session.known.link is Link.LIVE

    def _look_for_new(self, tick: Tick) -> None:
        """Read again soon where a series has begun: an engine came up, a card was found."""
        if self.area.is_reading or not self.area.reads or self._soon.isActive():
            return
        new = missing(wished_kinds(self._choice), tick, self.area.tracks)
        self._tries = self._tries + 1 if new == self._new else 0
        self._new = new
        if new and self._tries < _TRIES:
            self._soon.start()

    def _span_changed(self) -> None:
        self._cross = None
        self._show_span()
        if self._is_front and self._is_live():
            self._read()
            self._pace()

    def _on_area(self) -> None:
        area, view = self.area, self.view
        view.show_problem(area.problem)
        if area.reads != self._reads:
            self._reads = area.reads
            self._marks = marks_of(area.events)
            self._show_kinds()
            view.board.show_data(area.tracks, area.step_s)
            view.board.show_events(self._marks)
            ticks = tuple(self.desk.session.ticks)
            self.show_ticks(ticks)
            self._show_events()
        self._show_state()
        self._show_requests()
        self._show_alarms()

    def _show_events(self) -> None:
        lines = event_lines(self.area.events)
        self.view.events.show_lines(lines, self._events_said(len(lines)))

    def _events_said(self, count: int) -> str:
        if not self.area.reads:
            return t("Reading…") if self._was_live else t("Appears when the service answers")
        words = span_words(*self.span())
        if not count:
            return t("Nothing happened in this span: {span}. Choose a longer one.").format(
                span=words
            )
        return t("{span}. Enter shows an event in the charts.").format(span=words)

    def _show_charts(self) -> None:
        self._show_span()
        self._show_state()

    def _show_kinds(self) -> None:
        known = self.area.known
        kinds = chosen_kinds(self._choice, known, has_cards=self._has_cards)
        self.view.board.show_kinds(kinds)
        shown = {kind.id for kind in kinds}
        offered = offered_kinds(known, has_cards=self._has_cards)
        self.view.offer(offered, {kind.id: kind.id in shown for kind in offered})

    def _show_span(self) -> None:
        begin, end = self.span()
        chosen = None if self._drawn else self._chosen
        self.view.show_span(chosen, can_go_back=bool(self._drawn))
        self.view.board.show_span(begin, end)
        self._show_said()

    def _show_state(self) -> None:
        self.view.board.show_state(is_reading=self.area.is_reading, is_live=self._was_live)
        if self._cross is None:
            self._show_said()

    def _show_said(self) -> None:
        begin, end = self.span()
        at = self._cross
        if at is None:
            self.view.show_said(span_words(begin, end))
            return
        mark = mark_near(self._marks, at, (end - begin) / 80)
        what = "" if mark is None else f" · {mark.words}"
        self.view.show_said(f"{second_words(at if mark is None else mark.at)}{what}")

    def _show_requests(self) -> None:
        if self.view.part is not Part.REQUESTS:
            return
        area, page = self.area, self.view.requests
        entries = area.entries or ()
        key, only_failed = self._narrowed
        page.show_choices(key_choices(entries, area.pool))
        lines = request_lines(entries, area.pool, key=key, only_failed=only_failed)
        is_narrowed = bool(key) or only_failed
        page.show_lines(
            lines, summary(lines, is_known=area.entries is not None, is_narrowed=is_narrowed)
        )
        page.show_detail(detail_of(self._marked, entries, area.pool) if self._marked else None)

    def _show_alarms(self) -> None:
        area = self.area
        is_live = self.desk.session.known.link is Link.LIVE
        alarms = area.alarms if is_live else None  # “all is well” needs somebody who looks
        active = alarms.active if alarms is not None else ()
        self.view.show_alarms(sum(not one.is_muted for one in active))
        self.view.alarms.show_alarms(
            alarms_words(alarms),
            notices(active, area.offered, is_fixing=area.is_fixing),
            mutes_words(alarms.mutes if alarms is not None else ()),
            ended_lines(alarms),
        )

    def _on_events(self, events: Sequence[Event]) -> None:
        if not self._is_front:
            return
        for event in events:
            match event:
                case PoolChanged(pool=pool):
                    self.area.take_pool(pool)
                    self._show_requests()
                case AlarmChanged():
                    self.area.read_alarms()
                    self._soon.start()
                case EngineChanged(engine=engine) if engine.state is not self._state:
                    self._state = engine.state
                    self._soon.start()

    def _on_pointed(self, at: float | None) -> None:
        self._cross = at
        self.view.board.point_at(at)
        self._show_said()

    def _on_toggled(self, kind: str, is_shown: bool) -> None:
        self._choose_charts({**self._choice, kind: is_shown})

    def _on_usual(self) -> None:
        self._choose_charts({})

    def _choose_charts(self, choice: dict[str, bool]) -> None:
        self._choice = choice
        self.desk.settings.charts = choice
        self.desk.settings.save()
        self._show_kinds()
        self.view.board.show_data(self.area.tracks, self.area.step_s)
        self._show_span()
        self.view.board.show_events(self._marks)
        self._read()

    def _on_narrowed(self, key: str, only_failed: bool) -> None:
        self._narrowed = (key, only_failed)
        self._show_requests()

    def _on_marked(self, request: str) -> None:
        self._marked = request
        self._show_requests()

    def _on_event(self, at: float) -> None:
        """Show a minute around what happened."""
        self.choose(Part.CHARTS)
        begin, end = self.span()
        around = max(60.0, (end - begin) / 10)
        self.zoom(at - around, at + around)

    def _on_deed(self, deed: Deed) -> None:
        match deed.kind:
            case "fix":
                self.area.fix(int(deed.what))
            case "mute":
                self.area.mute(deed.what)
            case _:
                self.area.unmute(deed.what)

    def _on_export(self, export: Export) -> None:
        begin, _end = self.span()
        stamp = time.strftime("%Y%m%d-%H%M", time.localtime(begin))
        ending = "csv" if export is Export.CSV else "png"
        title = t("Save the figures") if export is Export.CSV else t("Save the picture")
        path, _kind = QFileDialog.getSaveFileName(
            self.view.window(), title, f"weir-{stamp}.{ending}", f"*.{ending}"
        )
        path = _with_ending(path, ending)
        if path and export is Export.CSV:
            self.save_csv_to(path)
        elif path:
            self.save_picture_to(path)

    def _write(self, path: str, data: bytes) -> None:
        """Write a file, whole or not at all."""
        file = QSaveFile(path)
        is_open = file.open(QIODevice.OpenModeFlag.WriteOnly)
        if is_open and file.write(data) == len(data) and file.commit():
            self.view.show_saved(t("Saved: {path}").format(path=path))
        else:
            self.view.show_saved(
                t("{path} could not be written: {why}").format(path=path, why=file.errorString())
            )


def _with_ending(path: str, ending: str) -> str:
    """Return the name with its ending; as typed where that would replace a file unasked."""
    if not path or Path(path).suffix:
        return path
    whole = f"{path}.{ending}"
    return path if Path(whole).exists() else whole
