"""What each key used, hour by hour for 400 days, and the newest requests one by one.

Everything is added up in memory first; the key store writes it about once a second, as additions
to what the file holds, in one transaction. So a kill costs the last second, and nothing is ever
counted twice.
"""

import collections
import dataclasses
import datetime
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from studio.domain.keys import RequestEntry, UsageBy, UsageRow
from studio.gateway.histogram import Histogram
from studio.gateway.usage import RequestRecord, tokens_per_s

KEPT_DAYS = 400
KEPT_REQUESTS = 200_000
KEPT_STRANGERS = 5_000
"""Requests without a known key, which anyone can send, have a room of their own."""
_PENDING_STRANGERS = 1_000
"""More of them in one second are not kept."""
_PENDING_REQUESTS = 20_000
"""Requests of one second beyond this many are in the sums, not in the list."""
_HOUR_S = 3600
_TIDY_S = 6 * 3600.0
_DAYS_FROM_S = 2 * 86_400.0
"""Sums of a key over more than this are made of whole days of local time."""

Connection = sqlite3.Connection


@dataclasses.dataclass(slots=True)
class Used:
    """Sums of one key over some span."""

    requests: int = 0
    errors: int = 0
    estimated: int = 0
    prompt: int = 0
    cached: int = 0
    generated: int = 0
    ttft: Histogram = dataclasses.field(default_factory=Histogram)
    speed: Histogram = dataclasses.field(default_factory=Histogram)

    def count(self, record: RequestRecord, *, is_error: bool) -> None:
        """Add one request."""
        tokens = record.tokens
        self.requests += 1
        self.errors += is_error
        self.estimated += record.is_estimated
        self.prompt += tokens.prompt or 0
        self.cached += tokens.cached or 0
        self.generated += tokens.generated or 0
        if record.ttft_s is not None:
            self.ttft.add(record.ttft_s)
        speed = record.tokens_per_s
        if speed is not None and not is_error:
            self.speed.add(speed)

    def merge(self, other: "Used") -> None:
        """Add the sums of another span."""
        self.requests += other.requests
        self.errors += other.errors
        self.estimated += other.estimated
        self.prompt += other.prompt
        self.cached += other.cached
        self.generated += other.generated
        self.ttft.merge(other.ttft)
        self.speed.merge(other.speed)


class Span(NamedTuple):
    """One hour of one key; hours since the epoch."""

    key_id: str
    hour: int


class Pending(NamedTuple):
    """What is not written yet."""

    hours: dict[Span, Used]
    requests: list[RequestRecord]


class UsageBook:
    """What was used. One event loop; `write` and those that read run on the database's thread."""

    def __init__(self) -> None:
        self._hours: dict[Span, Used] = {}
        self._requests: collections.deque[RequestRecord] = collections.deque(
            maxlen=_PENDING_REQUESTS
        )
        self._strangers = 0
        self._today: dict[str, int] = {}
        self._day_ends_s = 0.0
        self._tidied_s = 0.0

    def add(self, key_id: str, record: RequestRecord, *, is_error: bool) -> None:
        """Take up one finished request."""
        span = Span(key_id, int(record.at // _HOUR_S))
        used = self._hours.get(span)
        if used is None:
            used = self._hours[span] = Used()
        used.count(record, is_error=is_error)
        self._requests.append(record)
        tokens = (record.tokens.prompt or 0) + (record.tokens.generated or 0)
        if tokens and record.at < self._day_ends_s:
            self._today[key_id] = self._today.get(key_id, 0) + tokens

    def log(self, record: RequestRecord) -> None:
        """Keep a request that did not reach the engine, in the list only."""
        if record.key_id is None:
            if self._strangers >= _PENDING_STRANGERS:
                return
            self._strangers += 1
        self._requests.append(record)

    def spent_today(self, key_id: str, now_s: float) -> int:
        """Return the prompt and generated tokens of this day of local time."""
        if now_s >= self._day_ends_s:
            self._today.clear()
            self._day_ends_s = midnight_after(now_s)
        return self._today.get(key_id, 0)

    @property
    def day_ends_s(self) -> float:
        """When the day ends that `spent_today` speaks of."""
        return self._day_ends_s

    # -- writing ---------------------------------------------------------------------------

    def take(self) -> Pending:
        """Return what is to be written; give it back with `restore` when it could not be."""
        pending = Pending(self._hours, list(self._requests))
        self._hours = {}
        self._requests.clear()
        self._strangers = 0
        return pending

    def restore(self, pending: Pending) -> None:
        """Take up again what could not be written."""
        newer = self._hours
        self._hours = pending.hours
        for span, used in newer.items():
            if span in self._hours:
                self._hours[span].merge(used)
            else:
                self._hours[span] = used
        self._requests.extendleft(reversed(pending.requests))
        self._strangers = sum(one.key_id is None for one in self._requests)

    def write(self, connection: Connection, pending: Pending, now_s: float) -> None:
        """Add `pending` to the file, and drop what is too old."""
        days: dict[tuple[str, str], Used] = {}
        for span, used in pending.hours.items():
            _add(connection, _OF_HOUR, _PUT_HOUR, span, used)
            day = _local(span.hour * _HOUR_S).date().isoformat()
            days.setdefault((span.key_id, day), Used()).merge(used)
        for of_day, used in days.items():
            _add(connection, _OF_DAY, _PUT_DAY, of_day, used)
        connection.executemany(_PUT_REQUEST, map(_request_row, pending.requests))
        if any(one.key_id is None for one in pending.requests):
            connection.execute(_DROP_STRANGERS, (KEPT_STRANGERS,))
        if now_s - self._tidied_s > _TIDY_S:
            self._tidied_s = now_s
            oldest = int(now_s // _HOUR_S) - KEPT_DAYS * 24
            connection.execute("DELETE FROM usage_hours WHERE hour < ?", (oldest,))
            day = _local(oldest * _HOUR_S).date().isoformat()
            connection.execute("DELETE FROM usage_days WHERE day < ?", (day,))
            connection.execute(_DROP_STRANGERS, (KEPT_STRANGERS,))
            connection.execute(_DROP_OLD, (KEPT_REQUESTS,))

    # -- reading ---------------------------------------------------------------------------

    def load(self, connection: Connection, now_s: float) -> None:
        """Read what was used today."""
        self._day_ends_s = midnight_after(now_s)
        began = int(midnight_before(now_s) // _HOUR_S)
        spent = connection.execute(
            "SELECT key_id, sum(prompt_tokens + generated_tokens) FROM usage_hours"
            " WHERE hour >= ? GROUP BY key_id",
            (began,),
        )
        self._today = {key_id: int(tokens) for key_id, tokens in spent}


def rows(
    connection: Connection,
    names: Mapping[str, str],
    *,
    key_id: str | None,
    since_s: float,
    until_s: float,
    by: UsageBy,
) -> list[UsageRow]:
    """Return what was used in a span, oldest first; `names` are those of the keys."""
    found: dict[tuple[str, str], Used] = {}
    for owner, begins, *columns in _chosen(connection, key_id, since_s, until_s, by):
        found.setdefault((begins, owner), Used()).merge(_used(columns))
    ordered = sorted(found.items(), key=lambda one: (one[0][0], names.get(one[0][1], "")))
    return [_row(begins, owner, names, used) for (begins, owner), used in ordered]


def _chosen(
    connection: Connection, key_id: str | None, since_s: float, until_s: float, by: UsageBy
) -> Iterator[tuple[Any, ...]]:
    """Yield key, beginning and sums; of whole days where the question is not about hours."""
    if by is UsageBy.DAY or (by is UsageBy.KEY and until_s - since_s >= _DAYS_FROM_S):
        days = [_local(at_s).date().isoformat() for at_s in (since_s, until_s)]
        for owner, day, *columns in connection.execute(_OF_DAYS, _span(days[0], days[1], key_id)):
            yield owner, day if by is UsageBy.DAY else "", *columns
        return
    first, last = int(since_s // _HOUR_S), int(until_s // _HOUR_S)
    for owner, hour, *columns in connection.execute(_OF_SPAN, _span(first, last, key_id)):
        yield owner, local(hour * _HOUR_S) if by is UsageBy.HOUR else "", *columns


def _span(first: int | str, last: int | str, key_id: str | None) -> dict[str, int | str | None]:
    return {"first": first, "last": last, "key": key_id}


def newest(
    connection: Connection,
    names: Mapping[str, str],
    *,
    key_id: str | None,
    count: int,
    errors_only: bool,
) -> list[RequestEntry]:
    """Return the newest requests, oldest first, by when they began."""
    whose = ":key IS NULL" if key_id is None else "key_id = :key"  # each has an index of its own
    query = _NEWEST.replace("{whose}", whose)
    asked = {"key": key_id, "errors": errors_only, "count": count}
    found = connection.execute(query, asked).fetchall()
    return [_entry(row, names) for row in reversed(found)]


def midnight_after(now_s: float) -> float:
    """Return when this day of local time ends, in seconds since the epoch."""
    day = _local(now_s).date() + datetime.timedelta(days=1)
    return datetime.datetime.combine(day, datetime.time()).astimezone().timestamp()


def midnight_before(now_s: float) -> float:
    """Return when this day of local time began, in seconds since the epoch."""
    day = _local(now_s).date()
    return datetime.datetime.combine(day, datetime.time()).astimezone().timestamp()


_OF_HOUR = (
    "SELECT requests, errors, estimated, prompt_tokens, cached_tokens, generated_tokens, ttft,"
    " speed FROM usage_hours WHERE key_id = ? AND hour = ?"
)
_PUT_HOUR = (
    "INSERT OR REPLACE INTO usage_hours (key_id, hour, requests, errors, estimated, prompt_tokens,"
    " cached_tokens, generated_tokens, ttft, speed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_OF_SPAN = (
    "SELECT key_id, hour, requests, errors, estimated, prompt_tokens, cached_tokens,"
    " generated_tokens, ttft, speed FROM usage_hours"
    " WHERE hour BETWEEN :first AND :last AND (:key IS NULL OR key_id = :key)"
)
_OF_DAY = (
    "SELECT requests, errors, estimated, prompt_tokens, cached_tokens, generated_tokens, ttft,"
    " speed FROM usage_days WHERE key_id = ? AND day = ?"
)
_PUT_DAY = (
    "INSERT OR REPLACE INTO usage_days (key_id, day, requests, errors, estimated, prompt_tokens,"
    " cached_tokens, generated_tokens, ttft, speed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_OF_DAYS = (
    "SELECT key_id, day, requests, errors, estimated, prompt_tokens, cached_tokens,"
    " generated_tokens, ttft, speed FROM usage_days"
    " WHERE day BETWEEN :first AND :last AND (:key IS NULL OR key_id = :key)"
)
_NEWEST = (
    "SELECT at, request_id, key_id, route, model, address, status, code, is_stream,"
    " has_client_left, is_estimated, ttft_s, duration_s, prompt_tokens, cached_tokens,"
    " generated_tokens, reason, adjusted FROM requests WHERE {whose}"
    " AND (:errors = 0 OR status >= 400 OR code IS NOT NULL)"
    " ORDER BY at DESC, number DESC LIMIT :count"
)
_PUT_REQUEST = (
    "INSERT INTO requests (at, request_id, key_id, route, model, address, status, code, is_stream,"
    " has_client_left, is_estimated, ttft_s, duration_s, prompt_tokens, cached_tokens,"
    " generated_tokens, reason, adjusted)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

_DROP_STRANGERS = (
    "DELETE FROM requests WHERE key_id IS NULL AND number <= (SELECT number FROM requests"
    " WHERE key_id IS NULL ORDER BY number DESC LIMIT 1 OFFSET ?)"
)
_DROP_OLD = (
    "DELETE FROM requests WHERE key_id IS NOT NULL AND number <= (SELECT number FROM requests"
    " WHERE key_id IS NOT NULL ORDER BY number DESC LIMIT 1 OFFSET ?)"
)

Column = str | int | float | None


def _add(
    connection: Connection, of: str, put: str, where: tuple[str, str | int], used: Used
) -> None:
    """Add sums to a row."""
    row = connection.execute(of, where).fetchone()
    total = Used() if row is None else _used(row)
    total.merge(used)
    connection.execute(put, (*where, *_columns(total)))


def _used(columns: Iterable[Column]) -> Used:
    requests, errors, estimated, prompt, cached, generated, ttft, speed = columns
    return Used(
        int(requests or 0),
        int(errors or 0),
        int(estimated or 0),
        int(prompt or 0),
        int(cached or 0),
        int(generated or 0),
        Histogram.read(str(ttft)),
        Histogram.read(str(speed)),
    )


def _columns(used: Used) -> tuple[Column, ...]:
    return (
        used.requests,
        used.errors,
        used.estimated,
        used.prompt,
        used.cached,
        used.generated,
        used.ttft.text(),
        used.speed.text(),
    )


def _row(begins: str, owner: str, names: Mapping[str, str], used: Used) -> UsageRow:
    return UsageRow(
        key_id=owner,
        key=names.get(owner, owner),
        begins_at=begins or None,
        requests=used.requests,
        errors=used.errors,
        estimated=used.estimated,
        prompt_tokens=used.prompt,
        cached_tokens=used.cached,
        generated_tokens=used.generated,
        ttft_p50_s=used.ttft.quantile(0.5),
        ttft_p95_s=used.ttft.quantile(0.95),
        tok_s_p50=used.speed.quantile(0.5),
        tok_s_p5=used.speed.quantile(0.05),
    )


def local(at_s: float) -> str:
    """Return a moment as ISO 8601 in local time, to the millisecond."""
    return _local(at_s).isoformat(timespec="milliseconds")


def _local(at_s: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(at_s, datetime.UTC).astimezone()


def _request_row(record: RequestRecord) -> tuple[Column, ...]:
    tokens = record.tokens
    return (
        record.at,
        record.request_id,
        record.key_id,
        record.route,
        record.model,
        record.address,
        record.status,
        record.code,
        record.is_stream,
        record.has_client_left,
        record.is_estimated,
        record.ttft_s,
        record.duration_s,
        tokens.prompt,
        tokens.cached,
        tokens.generated,
        record.reason,
        json.dumps(record.adjusted) if record.adjusted else None,
    )


def _entry(row: tuple[Column, ...], names: Mapping[str, str]) -> RequestEntry:
    at, request_id, key_id, route, model, address, status, code, *rest = row
    is_stream, has_left, is_estimated, ttft_s, duration_s, prompt, cached, generated, *more = rest
    reason, adjusted = more
    speed = tokens_per_s(
        None if ttft_s is None else float(ttft_s),
        float(duration_s or 0),
        None if generated is None else int(generated),
    )
    return RequestEntry(
        at=local(float(at or 0)),
        request_id=str(request_id),
        key_id=None if key_id is None else str(key_id),
        key=None if key_id is None else names.get(str(key_id), str(key_id)),
        route=str(route),
        model=None if model is None else str(model),
        address=None if address is None else str(address),
        status=int(status or 0),
        code=None if code is None else str(code),
        is_stream=bool(is_stream),
        has_client_left=bool(has_left),
        is_estimated=bool(is_estimated),
        ttft_s=None if ttft_s is None else float(ttft_s),
        duration_s=float(duration_s or 0),
        prompt_tokens=None if prompt is None else int(prompt),
        cached_tokens=None if cached is None else int(cached),
        generated_tokens=None if generated is None else int(generated),
        reason=None if reason is None else str(reason),
        adjusted=tuple(json.loads(str(adjusted))) if adjusted is not None else (),
        tok_s=speed,
    )
