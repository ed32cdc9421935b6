"""The log page at work: lines as they come, files, diagnosis, boots, the report."""

import functools
import time
from collections.abc import Sequence
from typing import NamedTuple

from studio.domain.boots import BootHistory
from studio.domain.diagnosis import DiagnoseRequest, Diagnosis, Fixed, FixRequest, RemedyList
from studio.domain.errors import BadInput, ErrorInfo
from studio.domain.logs import LogPage, moment
from studio.domain.metrics import LogLine
from studio.ui.area import Area
from studio.ui.bridge import Bridge
from studio.ui.desk import Controller, Desk
from studio.ui.language import t, told
from studio.ui.pages.log_desk import LogDesk, Part
from studio.ui.pages.logs import LogsPage
from studio.ui.state import Known, Link
from studio.ui.viewmodels.diagnosis import (
    BootView,
    RemedyLine,
    boot_rows,
    boots_headline,
    failure_causes,
    file_causes,
    headline,
)
from studio.ui.viewmodels.logs import EMPTY, NO_SERVICE, NO_SERVICE_LINES
from studio.ui.widgets.report_dialog import ReportDialog

_PAGE_LINES = 2_000
_BOOTS = 20


class _Wanted(NamedTuple):
    """One page of a log's files."""

    source: Part
    since: float | None = None
    before: str | None = None


class LogArea(Area):
    """What is asked of logs, failures and boots."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(bridge)
        self.source = Part.ENGINE
        self.lines: list[LogLine] = []
        self.has_read = False
        """Whether the lines are those of `source`."""
        self.older: str | None = None
        self.go_to: float | None = None
        self.known: RemedyList | None = None
        self.found: Diagnosis | None = None
        self.boots: BootHistory | None = None
        self._wanted: _Wanted | None = None
        """What was asked for last; an answer to anything else is not shown."""

    def read_files(self, source: Part, since: float | None = None) -> None:
        """Read the newest lines of a log's files, or all since a time."""
        self.forget_files(source)
        self._read_page(_Wanted(source, since=since))

    def forget_files(self, source: Part) -> None:
        """Bring a log to the front of which nothing is known."""
        self.source, self.lines, self.older, self.has_read = source, [], None, False
        self._wanted = None

    def read_older(self) -> None:
        """Read the page before."""
        if self.older is not None and not self.is_reading:
            self.go_to = self.lines[0].at if self.lines else None  # the eye stays where it was
            self._read_page(_Wanted(self.source, before=self.older))

    @property
    def is_reading(self) -> bool:
        """Whether lines of files are on their way."""
        return "files" in self.pending

    def _read_page(self, wanted: "_Wanted") -> None:
        """Ask for a page; while another one is read already, afterwards."""
        self._wanted = wanted
        self.ask(
            "files",
            lambda client: client.log_page(
                source=wanted.source.value,
                lines=_PAGE_LINES,
                since=wanted.since,
                before=wanted.before,
            ),
            functools.partial(self._on_page, wanted),
            functools.partial(self._on_no_page, wanted),
        )

    def read_failure(self) -> None:
        """Ask what failed last."""
        self.found = None
        self.ask("remedies", lambda client: client.remedies(), self._on_known)

    def read_file(self, path: str) -> None:
        """Ask why the engine of a log failed."""
        self.problem = None
        request = DiagnoseRequest(path=path)
        self.ask("diagnose", lambda client: client.diagnose(request), self._on_found)

    def read_boots(self) -> None:
        """Ask for the last boots."""
        self.ask("boots", lambda client: client.boots(limit=_BOOTS), self._on_boots)

    def fix(self, remedy: RemedyLine) -> None:
        """Take a remedy; the engine serves again when it is done."""
        number = remedy.number
        if number is not None:
            request = FixRequest(number=number, about=remedy.about)
            self.ask("fix", lambda client: client.fix(request), self._on_fixed)

    def refuse(self, error: ErrorInfo) -> None:
        """Show a mistake of what was typed."""
        self.problem = error
        self.changed.emit()

    def _on_page(self, asked: "_Wanted", page: LogPage) -> None:
        if not self._is_wanted(asked):
            return
        self.lines = [*page.lines, *self.lines]
        self.older, self.has_read = page.before, True

    def _on_no_page(self, asked: "_Wanted", error: ErrorInfo) -> None:
        if self._is_wanted(asked):
            self.problem = error

    def _is_wanted(self, asked: "_Wanted") -> bool:
        """Tell whether an answer is the one that is waited for; else ask for that one."""
        if self._wanted is not None and self._wanted is not asked:
            self._read_page(self._wanted)
        return self._wanted is asked

    def _on_known(self, known: RemedyList) -> None:
        self.known = known

    def _on_found(self, found: Diagnosis) -> None:
        self.found = found

    def _on_boots(self, boots: BootHistory) -> None:
        self.boots = boots

    def _on_fixed(self, _fixed: Fixed) -> None:
        self.read_failure()


class LogsController(Controller):
    """Takes log lines as they come; all else is asked for when its part is in front."""

    def __init__(self, desk: Desk) -> None:
        self.view = LogsPage(desk.look)
        self.parts = LogDesk(desk.look, self.view)
        super().__init__(desk, self.parts)
        self.area = LogArea(desk.bridge)
        self._shown: list[LogLine] = []
        self._is_front = False
        self._was_live = False
        desk.session.log_replaced.connect(self.view.replace_lines)
        desk.session.log_added.connect(self.view.append_lines)
        for log in (self.view, self.parts.files):
            log.report_asked.connect(self.open_report)
        self.area.changed.connect(self._show)
        self.parts.part_chosen.connect(self.choose)
        self.parts.older_asked.connect(self.area.read_older)
        self.parts.time_asked.connect(self._on_time)
        diagnosis = self.parts.diagnosis
        diagnosis.file_given.connect(self.area.read_file)
        diagnosis.line_asked.connect(self._on_line)
        diagnosis.remedy_asked.connect(self.area.fix)
        diagnosis.again_asked.connect(self.area.read_failure)
        diagnosis.problem_dismissed.connect(self.area.dismiss)

    def show_known(self, known: Known) -> None:
        """Ask again when the service is back."""
        is_live = known.link is Link.LIVE
        if is_live is not self._was_live:
            self._was_live = is_live
            if is_live and self._is_front:
                self._read_again()
            self._show()

    def enter(self) -> None:
        """Ask for what may be other than when the page was left."""
        self._is_front = True
        if self._was_live:
            self._read_again()

    def leave(self) -> None:
        """Let it be."""
        self._is_front = False

    def choose(self, part: Part) -> None:
        """Bring a part to the front and ask for what it shows."""
        self.parts.show_part(part)
        self.area.problem = None
        if self._was_live:
            self._read(part)
        elif part in (Part.ENGINE, Part.SERVICE):
            self.area.forget_files(part)
        self._show()

    def _read(self, part: Part) -> None:
        match part:
            case Part.LIVE:
                pass
            case Part.ENGINE | Part.SERVICE:
                self.area.read_files(part)
            case Part.DIAGNOSIS:
                self.area.read_failure()
            case Part.BOOTS:
                self.area.read_boots()

    def _read_again(self) -> None:
        """Ask for what is in front, where that does not take away what somebody reads there."""
        area, part = self.area, self.parts.part
        is_read = area.found is not None if part is Part.DIAGNOSIS else area.has_read
        if part is Part.BOOTS or not (is_read or area.is_reading):
            self._read(part)

    def show_what(self, what: str) -> None:
        """Bring a part to the front, by its name."""
        if what in list(Part):
            self.choose(Part(what))

    def begin_search(self) -> bool:
        """Search the log in front."""
        if self.parts.part in (Part.DIAGNOSIS, Part.BOOTS):
            self.choose(Part.LIVE)
        self.parts.front.begin_search()
        return True

    def open_report(self) -> None:
        """Collect a report and show it before anything is written."""
        session = self.desk.session
        dialog = ReportDialog(self.desk.look, self.view.window())
        session.report_made.connect(dialog.show_preview)
        session.report_failed.connect(dialog.show_error)
        session.ask_report()
        dialog.open()

    def _show(self) -> None:
        area, parts = self.area, self.parts
        if area.lines is not self._shown:
            self._shown = area.lines
            parts.files.replace_lines(area.lines)
            if area.go_to is not None and area.lines:
                parts.files.go_to(area.go_to)
                area.go_to = None
        has_older = self._was_live and area.older is not None and not area.pending
        parts.show_files(self._said(), has_older=has_older)
        parts.files.show_state(self._empty_words(), is_read=area.has_read)
        live = t(EMPTY) if self._was_live else t(NO_SERVICE)
        self.view.show_state(live, is_read=self._was_live or bool(self.view.view.lines.count))
        causes = file_causes(area.found) if area.found is not None else failure_causes(area.known)
        parts.diagnosis.show_view(
            headline(area.found, area.known, is_live=self._was_live),
            causes,
            can_act=self._was_live and "fix" not in area.pending,
            is_of_file=area.found is not None,
        )
        parts.diagnosis.show_problem(area.problem)
        rows = boot_rows(area.boots)
        parts.boots.show_rows(rows, self._boots_words(rows))

    def _boots_words(self, rows: Sequence[BootView]) -> str:
        return boots_headline(rows, is_known=self.area.boots is not None, is_live=self._was_live)

    def _empty_words(self) -> str:
        """Return why the files show no line."""
        area = self.area
        if area.has_read:
            return t(EMPTY) if area.source is Part.ENGINE else t(NO_SERVICE_LINES)
        if not self._was_live:
            return t(NO_SERVICE)
        return t("Reading…") if area.problem is None else told(area.problem.message)

    def _said(self) -> str:
        if self.area.problem is not None and self.parts.part is not Part.DIAGNOSIS:
            return told(self.area.problem.message)
        return t("Reading.") if self.area.is_reading else ""

    def _on_time(self, text: str) -> None:
        try:
            at = moment(text, time.time())
        except BadInput as error:
            self.area.refuse(error.info)
            return
        self.area.problem = None
        if self.parts.part is Part.LIVE and self.view.view.go_to(at):
            self._show()
            return
        part = Part.ENGINE if self.parts.part is Part.LIVE else self.parts.part
        self.parts.show_part(part)
        self.area.go_to = at
        self.area.read_files(part, since=at)

    def _on_line(self, line: str) -> None:
        """Mark a line of the evidence in the log."""
        self.parts.show_part(Part.LIVE)
        self.view.field.setText(line)
        if not self.view.view.lines.matches:  # an earlier boot said it
            self.choose(Part.ENGINE)
            self.parts.files.field.setText(line)
