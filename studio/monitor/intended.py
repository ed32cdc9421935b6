"""What an engine was told to keep or fetch beside its cards, by its command line. Pure."""

import re
from collections.abc import Mapping

from studio.domain.readings import Intent
from studio.domain.units import GIB

KINDS = frozenset(("cpu-kv-tier", "host-kv", "expert-ring", "ple-disk", "sm70-paths"))

Patterns = Mapping[str, tuple["re.Pattern[str]", ...]]


def intent_of(command: str, patterns: Patterns, *, uses_cards: bool) -> Intent:
    """Return what `command` (arguments joined with blanks, and the runtime's name) asks for."""
    size = next(
        (float(match["gib"]) for one in patterns["cpu-kv-tier"] if (match := one.search(command))),
        0.0,
    )
    return Intent(
        cpu_kv_bytes=round(size * GIB) if size > 0 else None,
        has_host_kv=_has("host-kv", command, patterns),
        has_expert_ring=_has("expert-ring", command, patterns),
        has_ple_disk=_has("ple-disk", command, patterns),
        has_sm70_paths=_has("sm70-paths", command, patterns),
        uses_cards=uses_cards,
    )


def _has(kind: str, command: str, patterns: Patterns) -> bool:
    return any(one.search(command) is not None for one in patterns[kind])
