"""The answer of `/v1/sm70/acceleration` → fast paths that were expected and do not run. Pure.

The V100 engine tells which of its paths are on. Only what is needed is read, and whatever has
another shape than expected is left out: the schema of the newest runtime is not published.
Source: 1Cat-vLLM 1.5.1 (`expected_acceleration`, `paths` with `enabled` and `reason`,
`expected_failures`).
"""

import msgspec

from studio.domain.readings import PathReport

MOST_BYTES = 1 << 20
_MOST_PATHS = 32
_MOST_WORDS = 200


def read(body: bytes) -> PathReport:
    """Return the failed paths; never raises."""
    try:
        answer: object = msgspec.json.decode(body) if len(body) <= MOST_BYTES else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or "paths" not in answer:
        return PathReport(note="The engine's report of its fast paths was not understood.")
    paths = answer["paths"] if isinstance(answer["paths"], dict) else {}
    failed: dict[str, str | None] = {}
    for name in _names(answer.get("expected_failures")):
        failed[name] = _reason(paths.get(name))
    for name in _names(answer.get("expected_acceleration")):
        path = paths.get(name)
        if isinstance(path, dict) and path.get("enabled") is False:
            failed[name] = _reason(path)
    return PathReport(failed=tuple(sorted(failed.items())[:_MOST_PATHS]))


def _names(listed: object) -> list[str]:
    """Return the names in a list of names, or in a table by names."""
    found = list(listed) if isinstance(listed, list | dict) else []
    return [one[:_MOST_WORDS] for one in found if isinstance(one, str) and one.isprintable()]


def _reason(path: object) -> str | None:
    reason = path.get("reason") if isinstance(path, dict) else None
    if not isinstance(reason, str):
        return None
    return " ".join(reason.split())[:_MOST_WORDS] or None
