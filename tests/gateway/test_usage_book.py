"""Usage by hour and day, and the list of requests."""

import contextlib
import datetime
import sqlite3
import time

import pytest

from studio.domain.errors import HostLacks
from studio.domain.keys import KeyLimits, UsageBy
from studio.gateway import usage_book
from studio.gateway.keys import KeyStore
from studio.gateway.usage import RequestRecord, Tokens

NOON_S = datetime.datetime(2026, 11, 29, 12, 0).astimezone().timestamp()
HOUR_S = 3600.0
TOKENS = Tokens(prompt=100, cached=40, generated=20)


def record(at: float, *, tokens: Tokens = TOKENS, **changes: object) -> RequestRecord:
    """Return a finished request."""
    values = {
        "at": at, "request_id": "r", "key_id": None, "method": "POST",
        "route": "/v1/chat/completions", "status": 200, "code": None, "is_stream": True,
        "has_client_left": False, "ttft_s": 0.5, "duration_s": 2.4, "tokens": tokens,
    }  # fmt: skip
    return RequestRecord(**(values | changes))


async def used(store: KeyStore, by: UsageBy, hours: float, key_id: str | None = None):
    """Return what was used in the hours before the end of this noon's hour."""
    until_s = NOON_S + HOUR_S - 1
    return await store.used(key_id=key_id, since_s=until_s - hours * HOUR_S, until_s=until_s, by=by)


async def test_usage_adds_up_by_hour_day_and_key(keys):
    """The same sums, however they are asked for."""
    one, two = [keys.verify((await keys.create(n)).key.encode()) for n in ("one", "two")]
    for at in (NOON_S, NOON_S + 60, NOON_S - 2 * HOUR_S, NOON_S - 24 * HOUR_S):
        keys.record(one, record(at), is_error=False)
    keys.record(two, record(NOON_S, is_estimated=True, ttft_s=None), is_error=True)

    hours = await used(keys, UsageBy.HOUR, 48)
    assert [(row.key, row.requests) for row in hours] == [
        ("one", 1), ("one", 1), ("one", 2), ("two", 1),
    ]  # fmt: skip
    days = await used(keys, UsageBy.DAY, 48)
    assert [(row.key, row.begins_at[:10], row.requests) for row in days] == [
        ("one", "2026-11-28", 1),
        ("one", "2026-11-29", 3),
        ("two", "2026-11-29", 1),
    ]
    (total,) = await used(keys, UsageBy.KEY, 48, "one")
    assert (total.requests, total.errors, total.estimated) == (4, 0, 0)
    assert (total.prompt_tokens, total.cached_tokens, total.generated_tokens) == (400, 160, 80)
    assert total.ttft_p50_s == pytest.approx(0.5, rel=0.06)
    assert total.tok_s_p50 == pytest.approx(10.0, rel=0.06)
    failed = next(row for row in hours if row.key == "two")
    assert (failed.errors, failed.estimated, failed.ttft_p50_s, failed.tok_s_p50) == (
        1, 1, None, None,
    )  # fmt: skip
    assert await used(keys, UsageBy.KEY, 0.5, "two") != []
    assert await keys.used(key_id=None, since_s=0, until_s=1000, by=UsageBy.KEY) == []


async def test_what_could_not_be_written_is_counted_once_when_it_can(keys, monkeypatch):
    """A full disk for a minute costs nothing and doubles nothing."""
    key = keys.verify((await keys.create("one")).key.encode())
    keys.record(key, record(NOON_S, request_id="first", key_id=key.id), is_error=False)
    write = keys.usage.write

    def failing(*what):
        write(*what)
        raise HostLacks("disk-full", "Full.")

    monkeypatch.setattr(keys.usage, "write", failing)
    with pytest.raises(HostLacks):
        await keys.flush()
    keys.record(key, record(NOON_S, request_id="second", key_id=key.id), is_error=False)
    monkeypatch.undo()

    (row,) = await used(keys, UsageBy.KEY, 2)
    assert row.requests == 2
    found = await keys.requests(key_id="one", count=10, errors_only=False)
    assert [one.request_id for one in found] == ["first", "second"]


async def test_the_list_holds_refused_requests_too_and_no_prompt(keys):
    """`Why does my client not work` is answered there."""
    key = keys.verify((await keys.create("one")).key.encode())
    keys.record(
        key, record(NOON_S, model="qwen", address="127.0.0.1", key_id=key.id), is_error=False
    )
    keys.record_refused(record(NOON_S, status=401, code="key-missing", tokens=Tokens()))

    served, refused = await keys.requests(key_id=None, count=10, errors_only=False)
    assert (served.key, served.model, served.address, served.prompt_tokens) == (
        "one", "qwen", "127.0.0.1", 100,
    )  # fmt: skip
    assert (refused.key, refused.status, refused.code, refused.prompt_tokens) == (
        None, 401, "key-missing", None,
    )  # fmt: skip
    assert await keys.requests(key_id=None, count=10, errors_only=True) == [refused]
    assert await keys.requests(key_id=None, count=1, errors_only=False) == [refused]


async def test_strangers_push_nobody_out_of_the_list(keys, monkeypatch):
    """Anyone can send requests without a key, as many as they like."""
    monkeypatch.setattr(usage_book, "KEPT_REQUESTS", 4)
    monkeypatch.setattr(usage_book, "KEPT_STRANGERS", 3)
    monkeypatch.setattr(usage_book, "_PENDING_STRANGERS", 6)
    monkeypatch.setattr(usage_book, "_PENDING_REQUESTS", 12)
    keys.usage = usage_book.UsageBook()
    key = keys.verify((await keys.create("one")).key.encode())
    refused = {"status": 401, "code": "key-missing", "tokens": Tokens()}

    for number in range(5):
        own = record(NOON_S, request_id=f"own-{number}", key_id=key.id)
        keys.record(key, own, is_error=False)
    for number in range(30):
        keys.record_refused(record(NOON_S, request_id=f"stranger-{number}", **refused))

    found = await keys.requests(key_id=None, count=100, errors_only=False)
    assert [one.request_id for one in found] == [
        "own-1", "own-2", "own-3", "own-4", "stranger-3", "stranger-4", "stranger-5",
    ]  # fmt: skip
    keys.record_refused(record(NOON_S, **refused))
    again = await keys.requests(key_id=None, count=100, errors_only=False)
    assert len(again) == 7


async def test_tokens_of_this_day_survive_a_restart_and_end_at_midnight(keys, monkeypatch):
    """A limit for a day that a restart forgets is none."""
    monkeypatch.setattr("time.time", lambda: NOON_S)
    new = await keys.create("one", KeyLimits(tokens_per_day=1000))
    key = keys.verify(new.key.encode())
    await keys.close()
    keys = KeyStore(keys.path)
    await keys.open()
    key = keys.verify(new.key.encode())
    keys.record(key, record(NOON_S), is_error=False)
    keys.record(key, record(NOON_S - 20 * HOUR_S), is_error=False)
    await keys.close()

    again = KeyStore(keys.path)
    await again.open()

    assert again.usage.spent_today(key.id, NOON_S) == 120
    midnight = again.usage.day_ends_s
    assert 0 < midnight - NOON_S <= 13 * HOUR_S
    assert again.usage.spent_today(key.id, midnight) == 0
    await again.close()


async def test_old_rows_go_and_the_list_keeps_the_newest(keys, monkeypatch):
    """400 days of hours, and a bounded list."""
    monkeypatch.setattr(usage_book, "KEPT_REQUESTS", 5)
    key = keys.verify((await keys.create("one")).key.encode())
    old_s = NOON_S - 401 * 24 * HOUR_S
    keys.record(key, record(old_s, key_id=key.id), is_error=False)
    for number in range(8):
        keys.record(key, record(NOON_S, request_id=str(number), key_id=key.id), is_error=False)
    pending = keys.usage.take()

    await keys._database.run(lambda c: keys.usage.write(c, pending, NOON_S))

    found = await keys.requests(key_id=None, count=100, errors_only=False)
    assert [one.request_id for one in found] == ["3", "4", "5", "6", "7"]
    with contextlib.closing(sqlite3.connect(keys.path)) as file:
        assert file.execute("SELECT count(*) FROM usage_hours").fetchone()[0] == 1


def test_a_day_is_one_of_local_time(monkeypatch):
    """Also on the days that have 23 or 25 hours."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        start = datetime.datetime(2026, 10, 25, 0, 0, tzinfo=datetime.UTC).timestamp() - 2 * HOUR_S
        assert usage_book.midnight_before(start + 3 * HOUR_S) == start
        assert usage_book.midnight_after(start + 3 * HOUR_S) == start + 25 * HOUR_S
    finally:
        monkeypatch.undo()
        time.tzset()


async def test_the_list_is_in_the_order_in_which_requests_began(keys):
    """A long answer that began first stands first, though it ended last."""
    for name, at in (("short", NOON_S + 5), ("long", NOON_S), ("late", NOON_S + 9)):
        keys.record_refused(record(at, request_id=name, key_id="k"))

    found = await keys.requests(key_id=None, count=10, errors_only=False)
    newest = await keys.requests(key_id=None, count=2, errors_only=False)

    assert [one.request_id for one in found] == ["long", "short", "late"]
    assert [one.request_id for one in newest] == ["short", "late"]


async def test_what_an_engine_said_and_what_was_changed_is_kept(keys):
    """Both are told apart from what the gateway itself says."""
    changed = ("effort-unknown: reasoning_effort high → xhigh",)
    keys.record_refused(record(NOON_S, status=400, reason="Too long.", adjusted=changed))
    keys.record_refused(record(NOON_S + 1))

    told, plain = await keys.requests(key_id=None, count=10, errors_only=False)

    assert (told.reason, told.adjusted) == ("Too long.", changed)
    assert (plain.reason, plain.adjusted) == (None, ())
