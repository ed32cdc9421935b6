"""What each model was used for, from the requests that are kept one by one.

The sums by hour and day have no models: a client may send any name, so there is no bound on how
many there would be. So this reaches back as far as the newest 200,000 requests do.
"""

import sqlite3

from studio.domain.keys import UsageRow
from studio.gateway.histogram import Histogram
from studio.gateway.usage import tokens_per_s

MOST_MODELS = 200
"""Of more names, which only a client that makes them up sends, those used most."""

_REQUESTS = (
    "SELECT coalesce(model, ''), status >= 400 OR code IS NOT NULL, is_estimated, prompt_tokens,"
    " cached_tokens, generated_tokens, ttft_s, duration_s FROM requests"
    " WHERE at >= :since AND at < :until AND key_id IS NOT NULL"
    " AND (:key IS NULL OR key_id = :key)"
)


class _Used:
    """Sums of one model."""

    def __init__(self) -> None:
        self.requests = self.errors = self.estimated = 0
        self.prompt = self.cached = self.generated = 0
        self.ttft = Histogram()
        self.speed = Histogram()


def rows_by_model(
    connection: sqlite3.Connection, *, key_id: str | None, since_s: float, until_s: float
) -> list[UsageRow]:
    """Return a row for each model, what used most tokens first."""
    found: dict[str, _Used] = {}
    for model, failed, estimated, prompt, cached, generated, ttft_s, took_s in connection.execute(
        _REQUESTS, {"since": since_s, "until": until_s, "key": key_id}
    ):
        used = found.setdefault(str(model), _Used())
        used.requests += 1
        used.errors += failed
        used.estimated += estimated
        used.prompt += prompt or 0
        used.cached += cached or 0
        used.generated += generated or 0
        if ttft_s is not None:
            used.ttft.add(ttft_s)
        speed = tokens_per_s(ttft_s, took_s, generated)
        if speed is not None and not failed:
            used.speed.add(speed)
    ordered = sorted(found.items(), key=lambda one: -(one[1].prompt + one[1].generated))
    return [_row(model, used, key_id or "") for model, used in ordered[:MOST_MODELS]]


def _row(model: str, used: _Used, key_id: str) -> UsageRow:
    return UsageRow(
        key_id=key_id,
        key="",
        model=model or None,
        begins_at=None,
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
