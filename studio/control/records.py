"""The calls about logs, reports and diagnoses: answered with a service and without one."""

import re

from studio.app.diagnosis import Diagnoses
from studio.app.logs import Logs
from studio.app.report import Reports
from studio.control.calls import Query, Route, decoded, number, plain_routes, word
from studio.domain.diagnosis import DiagnoseRequest
from studio.domain.errors import BadInput
from studio.domain.logs import MOST_LINES, LogLimits
from studio.domain.report import ReportRequest

_LINES = 200


class Records:
    """Answers from the files of one home, and from what runs where something does."""

    def __init__(self, logs: Logs, reports: Reports, diagnoses: Diagnoses) -> None:
        self._logs = logs
        self._diagnoses = diagnoses
        self._reports = reports

    def routes(self) -> list[Route]:
        """Return the calls."""
        return plain_routes(
            [
                ("GET", "/logs/page", self._page),
                ("GET", "/logs/limits", self._limits),
                ("POST", "/logs/limits", self._limit),
                ("POST", "/diagnose", self._diagnose),
                ("GET", "/report/preview", self._preview),
                ("POST", "/report", self._report),
            ]
        )

    async def _page(self, query: Query, _body: bytes) -> object:
        before, after = word(query, "before"), word(query, "after")
        if before is not None and after is not None:
            raise BadInput("request-invalid", "`before` and `after` cannot both be given.")
        return await self._logs.page(
            word(query, "source") or "engine",
            lines=number(query, "lines", _LINES, most=MOST_LINES) or _LINES,
            before=before,
            after=after,
            since=_seconds(query, "since"),
        )

    async def _limits(self, _query: Query, _body: bytes) -> object:
        return self._logs.limits()

    async def _limit(self, _query: Query, body: bytes) -> object:
        return self._logs.limit(decoded(body, LogLimits))

    async def _diagnose(self, _query: Query, body: bytes) -> object:
        return await self._diagnoses.diagnose(decoded(body, DiagnoseRequest))

    async def _preview(self, _query: Query, _body: bytes) -> object:
        return await self._reports.preview()

    async def _report(self, _query: Query, body: bytes) -> object:
        return await self._reports.write(decoded(body, ReportRequest))


def _seconds(query: Query, name: str) -> float | None:
    text = word(query, name)
    if text is None:
        return None
    if re.fullmatch(r"\d{1,12}(?:\.\d{1,9})?", text) is None:
        raise BadInput("request-invalid", f"`{name}` should be seconds, found `{text}`.")
    return float(text)
