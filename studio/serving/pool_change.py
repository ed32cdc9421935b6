"""Why the pool of a boot differs from the one before, from what both boots said they hold. Pure.

Without a pin the engine takes its share of a card, subtracts what it saw itself use in a trial run,
and makes the pool of the rest (vLLM, v1/worker/gpu_worker.py, determine_available_memory). So the
pool's bytes differ by what the parts differ by; what the parts do not explain is said too.
"""

import dataclasses
import datetime
from collections.abc import Mapping

from studio.domain.boots import BootRecord
from studio.domain.units import MIB, bytes_text, tokens_text

_LEAST_SHARE = 0.05
"""Parts that make up less of the difference are not worth a sentence."""
_LEAST_BYTES = 8 * MIB
_PINNED = "kv_cache_memory_bytes"
_PARTS = (
    ("weights_bytes", "The weights take"),
    ("activation_peak_bytes", "The trial run took"),
    ("non_torch_bytes", "What lies outside PyTorch (driver, libraries) takes"),
    ("graph_pool_bytes", "CUDA graphs take"),
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Both:
    was: BootRecord
    now: BootRecord

    def difference(self, name: str) -> int | None:
        """Return by how much a figure of the record grew."""
        before, after = getattr(self.was, name), getattr(self.now, name)
        return after - before if before is not None and after is not None else None


def why(was: BootRecord | None, now: BootRecord) -> tuple[str, ...]:
    """Return in sentences why the pool of `now` is not that of `was`; nothing when it is."""
    if was is None or was.pool_tokens is None or now.pool_tokens is None:
        return ()
    if was.pool_tokens == now.pool_tokens:
        return ()
    both = _Both(was=was, now=now)
    head = (
        f"The pool is {tokens_text(abs(now.pool_tokens - was.pool_tokens))} "
        f"{'larger' if now.pool_tokens > was.pool_tokens else 'smaller'} than at the boot of "
        f"{_moment(was.at)} ({was.pool_tokens:,} then, {now.pool_tokens:,} now)."
    )
    causes = [*_settings(was.settings, now.settings), *_parts(both), *_around(both)]
    if not causes:
        causes = ["What changed cannot be seen in what the engine said."]
    return (head, *causes)


def _moment(iso: str) -> str:
    try:
        return f"{datetime.datetime.fromisoformat(iso).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return iso


def _settings(was: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    found = []
    for name in sorted({*was, *now}):
        before, after = was.get(name), now.get(name)
        if before != after:
            found.append(f"`{name}` was {_shown(before)} and is {_shown(after)}.")
    return found


def _shown(value: object) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:,}" if isinstance(value, int) else str(value)


def _parts(both: _Both) -> list[str]:
    """Return the parts that grew or shrank enough to matter, the largest first."""
    if _PINNED in both.now.settings:
        return []
    grown = [(both.difference(name), words) for name, words in _PARTS]
    known = [(by, words) for by, words in grown if by is not None]
    whole = abs(both.difference("kv_bytes") or 0) or max((abs(by) for by, _ in known), default=0)
    least = max(_LEAST_BYTES, whole * _LEAST_SHARE)
    found = []
    for by, words in sorted(known, key=lambda one: -abs(one[0])):
        if abs(by) >= least:
            found.append(f"{words} {bytes_text(abs(by))} {_more(by)}.")
    return found


def _around(both: _Both) -> list[str]:
    """Return what is different about the boots themselves and about the machine."""
    was, now = both.was, both.now
    found = []
    if was.is_cold is not None and now.is_cold is not None and was.is_cold != now.is_cold:
        found.append(
            "This boot compiled while it measured memory, which leaves less for the pool; a warm "
            "boot has it back."
            if now.is_cold
            else "The boot before compiled while it measured memory, which left less for the pool."
        )
    held = both.difference("held_bytes")
    if held is not None and abs(held) >= _LEAST_BYTES * 8:
        found.append(f"Other programs held {bytes_text(abs(held))} {_more(held)} of the card.")
    if was.driver and now.driver and was.driver != now.driver:
        found.append(f"The driver was {was.driver} and is {now.driver}.")
    if was.without_graph_estimate != now.without_graph_estimate:
        found.append(
            "No memory was set aside for CUDA graphs before they were captured."
            if now.without_graph_estimate
            else "Memory was set aside for CUDA graphs again before they were captured."
        )
    return found


def _more(by: int) -> str:
    return "more" if by > 0 else "less"
