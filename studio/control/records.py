"""The calls about logs, reports and diagnoses: answered with a service and without one."""

import re
from collections.abc import Awaitable, Callable

from studio.app.diagnosis import Diagnoses
from studio.app.logs import Logs
from studio.app.report import Reports
from studio.control.calls import Query, Route, decoded, number, word
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
        table: list[tuple[str, str, Callable[[Query, bytes], Awaitable[object]]]] = [
            ("GET", "/logs/page", self._page),
            ("GET", "/logs/limits", self._limits),
            ("POST", "/logs/limits", self._limit),
            ("POST", "/diagnose", self._diagnose),
            ("GET", "/report/preview", self._preview),
            ("POST", "/report", self._report),
        ]
        return [(method, re.compile(path), _whole(call)) for method, path, call in table]

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


def _whole(
    call: Callable[[Query, bytes], Awaitable[object]],
) -> Callable[[Query, bytes, tuple[str, ...]], Awaitable[object]]:
    async def with_parts(query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await call(query, body)

    return with_parts


def _seconds(query: Query, name: str) -> float | None:
    text = word(query, name)
    if text is None:
        return None
    if re.fullmatch(r"\d{1,12}(?:\.\d{1,9})?", text) is None:
        raise BadInput("request-invalid", f"`{name}` should be seconds, found `{text}`.")
    return float(text)
