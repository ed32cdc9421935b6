"""The log page at work."""

from studio.ui.desk import Controller, Desk
from studio.ui.pages.logs import LogsPage
from studio.ui.widgets.report_dialog import ReportDialog


class LogsController(Controller):
    """Takes log lines as they come, and opens the report."""

    def __init__(self, desk: Desk) -> None:
        self.view = LogsPage(desk.look)
        super().__init__(desk, self.view)
        desk.session.log_replaced.connect(self.view.replace_lines)
        desk.session.log_added.connect(self.view.append_lines)
        self.view.report_asked.connect(self.open_report)

    def begin_search(self) -> bool:
        """Search the log."""
        self.view.begin_search()
        return True

    def open_report(self) -> None:
        """Collect a report and show it before anything is written."""
        session = self.desk.session
        dialog = ReportDialog(self.desk.look, self.view.window())
        session.report_made.connect(dialog.show_preview)
        session.report_failed.connect(dialog.show_error)
        session.ask_report()
        dialog.open()
