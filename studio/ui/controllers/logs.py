"""The log page at work: lines as they come, files, diagnosis, boots, the report."""

import time

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
from studio.ui.viewmodels.diagnosis import (
    RemedyLine,
    boot_rows,
    boots_headline,
    failure_causes,
    file_causes,
    headline,
)
from studio.ui.widgets.report_dialog import ReportDialog

_PAGE_LINES = 2_000
_BOOTS = 20


class LogArea(Area):
    """What is asked of logs, failures and boots."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(bridge)
        self.source = Part.ENGINE
        self.lines: list[LogLine] = []
        self.older: str | None = None
        self.go_to: float | None = None
        self.known: RemedyList | None = None
        self.found: Diagnosis | None = None
        self.boots: BootHistory | None = None

    def read_files(self, source: Part, since: float | None = None) -> None:
        """Read the newest lines of a log's files, or all since a time."""
        self.source, self.lines, self.older = source, [], None
        self.ask(
            "files",
            lambda client: client.log_page(source=source.value, lines=_PAGE_LINES, since=since),
            self._on_page,
        )

    def read_older(self) -> None:
        """Read the page before."""
        before, source = self.older, self.source
        if before is not None:
            self.go_to = self.lines[0].at if self.lines else None  # the eye stays where it was
            self.ask(
                "files",
                lambda client: client.log_page(
                    source=source.value, lines=_PAGE_LINES, before=before
                ),
                self._on_page,
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

    def _on_page(self, page: LogPage) -> None:
        self.lines = [*page.lines, *self.lines]
        self.older = page.before

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

    def choose(self, part: Part) -> None:
        """Bring a part to the front and ask for what it shows."""
        self.parts.show_part(part)
        match part:
            case Part.LIVE:
                pass
            case Part.ENGINE | Part.SERVICE:
                self.area.read_files(part)
            case Part.DIAGNOSIS:
                self.area.read_failure()
            case Part.BOOTS:
                self.area.read_boots()
        self._show()

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
        parts.show_files(self._said(), has_older=area.older is not None and not area.pending)
        causes = file_causes(area.found) if area.found is not None else failure_causes(area.known)
        parts.diagnosis.show_view(
            headline(area.found, area.known),
            causes,
            can_act="fix" not in area.pending,
            is_of_file=area.found is not None,
        )
        parts.diagnosis.show_problem(area.problem)
        rows = boot_rows(area.boots)
        parts.boots.show_rows(rows, boots_headline(rows, is_known=area.boots is not None))

    def _said(self) -> str:
        if self.area.problem is not None and self.parts.part is not Part.DIAGNOSIS:
            return told(self.area.problem.message)
        return t("Reading.") if "files" in self.area.pending else ""

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
