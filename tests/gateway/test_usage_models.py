"""What each model was used for."""

import pytest

from studio.cli.key_text import usage_text
from studio.domain.keys import UsageBy
from tests.gateway.test_usage_book import NOON_S, record, used


async def test_usage_adds_up_by_model_of_one_key_or_all(keys):
    """Strangers' requests are in none of it; one that names no model has a row."""
    one, two = [keys.verify((await keys.create(n)).key.encode()) for n in ("one", "two")]
    for model, key in (("chat", one), ("chat", two), ("long", one), (None, one)):
        keys.record(key, record(NOON_S, key_id=key.id, model=model), is_error=False)
    failed = record(NOON_S, key_id=one.id, model="chat", status=400, ttft_s=None)
    keys.record(one, failed, is_error=True)
    keys.record_refused(record(NOON_S, model="chat"))

    rows = await used(keys, UsageBy.MODEL, 48)
    assert [(row.model, row.requests, row.errors) for row in rows] == [
        ("chat", 3, 1),
        ("long", 1, 0),
        (None, 1, 0),
    ]
    assert rows[0].prompt_tokens == 300
    assert rows[1].ttft_p50_s == pytest.approx(0.5, rel=0.06)
    assert rows[1].tok_s_p50 == pytest.approx(10.0, rel=0.06)
    (only,) = await used(keys, UsageBy.MODEL, 48, "two")
    assert (only.model, only.requests) == ("chat", 1)
    assert await keys.used(key_id=None, since_s=0, until_s=1, by=UsageBy.MODEL) == []


async def test_rows_of_models_are_told_by_their_names(keys):
    """On the command line as in the window."""
    key = keys.verify((await keys.create("one")).key.encode())
    for model in ("chat", None):
        keys.record(key, record(NOON_S, key_id=key.id, model=model), is_error=False)

    lines = usage_text(await used(keys, UsageBy.MODEL, 48)).splitlines()

    assert lines[0].startswith("MODEL")
    assert {line.split()[0] for line in lines[1:]} == {"chat", "(none)"}
