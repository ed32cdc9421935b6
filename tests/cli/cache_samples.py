"""A report about caches, as the service gives it."""

from studio.domain.cache import CacheClient, CacheFinding, CacheReport, ChangeKind, Place


def finding(**more: object) -> CacheFinding:
    """Return the known case, or another one."""
    given: dict[str, object] = {
        "id": "f1",
        "key_id": "k1",
        "key": "laptop",
        "agent": "claude-cli",
        "model": "qwen3.8-27b",
        "route": "/v1/messages",
        "place": Place(
            kind=ChangeKind.SYSTEM, line=1, characters=76, within=1, tokens=16,
            looks_like="attribution-line",
        ),
        "changed": 18,
        "compared": 20,
        "lost_tokens": 31_680,
        "lost_s": 21.1,
        "prefill_tokens_per_s": 1_500.0,
        "first_seen": 1_796_000_000.0,
        "last_seen": 1_796_001_000.0,
        "adjustment": "attribution-line",
    }  # fmt: skip
    return CacheFinding(**(given | more))


REPORT = CacheReport(
    findings=(finding(),),
    clients=(
        CacheClient(key_id="k1", key="laptop", agent="claude-cli", model="qwen3.8-27b",
                    requests=20, prompt_tokens=640_000, cached_tokens=320, last_seen=1.0),
        CacheClient(key_id="k1", key="laptop", agent=None, model="qwen3.8-27b",
                    requests=1, prompt_tokens=10, cached_tokens=None, last_seen=1.0),
    ),
    prefill_tokens_per_s=1_500.0,
    not_compared=2,
    is_live=True,
)  # fmt: skip
