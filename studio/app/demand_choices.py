"""What the person chose about engines that requests start: read, checked and changed. Pure."""

import math
import re
from collections.abc import Callable

import msgspec

from studio.domain.demand import Abandoned, DemandChange, DemandSettings, ListedPreset
from studio.domain.errors import BadInput, NotFound
from studio.gateway.demand import Rules

PLAIN_WAIT_S = 280.0
"""Node's fetch, and so most programs in JavaScript, gives up after 300 s without headers; the
official clients wait 600 s and ask again after a 503."""
STREAM_WAIT_S = 1_800.0
"""A stream is kept alive, so it may wait for the longest boots."""
MOST_QUEUED = 1_000
_MOST_LISTED = 100
_SPAN = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s*([smhd]?)")
_SPAN_S = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_LONGEST_S = 30 * 86_400.0
_LONGEST_WAIT_S = 3_600.0


def changed(
    before: DemandSettings,
    change: DemandChange,
    check: Callable[[str, dict[str, str]], None],
) -> DemandSettings:
    """Return the settings after `change`.

    `check` refuses an unknown preset, knob or value. Raises: what it raises, BadInput
    (`demand-value`), NotFound (`demand-not-listed`).
    """
    presets = dict(before.presets)
    if change.remove is not None:
        if change.remove not in presets:
            raise NotFound(
                "demand-not-listed",
                f"`{change.remove}` is not on the list.",
                hint="`weir gateway on-demand` shows what is.",
            )
        del presets[change.remove]
    if change.preset is not None:
        listed = presets.get(change.preset, ListedPreset())
        overrides = listed.overrides if change.overrides is None else change.overrides
        check(change.preset, overrides)
        ttl_s = listed.ttl_s if change.ttl is None else _span(change.ttl, "ttl", word="default")
        presets[change.preset] = ListedPreset(overrides=overrides, ttl_s=ttl_s)
        if len(presets) > _MOST_LISTED:
            raise BadInput("demand-value", f"At most {_MOST_LISTED} presets can be listed.")
    elif change.overrides or change.ttl is not None:
        raise BadInput(
            "demand-value",
            "It was not said which preset this is for.",
            hint="Name it: `weir gateway on-demand PRESET --ttl 30m`.",
        )
    return msgspec.structs.replace(_others(before, change), presets=presets)


def _others(before: DemandSettings, change: DemandChange) -> DemandSettings:
    """Return the settings with all that concerns no single preset."""
    changes: dict[str, object] = {}
    if change.is_on is not None:
        changes["is_on"] = change.is_on
    if change.ttl_by_hand is not None:
        changes["ttl_by_hand"] = change.ttl_by_hand
    if change.default_ttl is not None:
        changes["ttl_s"] = _span(change.default_ttl, "default-ttl") or 0.0
    if change.residence is not None:
        changes["residence_s"] = _span(change.residence, "residence", word="auto")
    if change.wait is not None:
        changes["wait_s"] = _span(change.wait, "wait", word="auto", most_s=_LONGEST_WAIT_S)
    if change.queue_length is not None:
        if not 1 <= change.queue_length <= MOST_QUEUED:
            raise BadInput(
                "demand-value",
                f"`queue` cannot be {change.queue_length}.",
                hint=f"It is a number from 1 to {MOST_QUEUED:,}.",
            )
        changes["queue_length"] = change.queue_length
    if change.abandoned is not None:
        word = change.abandoned.strip().lower()
        if word not in set(Abandoned):
            known = ", ".join(f"`{one}`" for one in Abandoned)
            raise BadInput(
                "demand-value",
                f"`abandoned` cannot be `{change.abandoned}`.",
                hint=f"It can be {known}.",
            )
        changes["abandoned"] = Abandoned(word)
    return msgspec.structs.replace(before, **changes)


def rules(chosen: DemandSettings, *, is_held: bool) -> Rules:
    """Return the choices as the policy takes them."""
    ttls = {name: one.ttl_s for name, one in chosen.presets.items() if one.ttl_s is not None}
    return Rules(
        listed=frozenset(chosen.presets) if chosen.is_on else frozenset(),
        residence_s=chosen.residence_s,
        ttl_s=chosen.ttl_s,
        ttls_s=ttls,
        ttl_by_hand=chosen.ttl_by_hand,
        ends_abandoned=chosen.abandoned is Abandoned.END,
        is_held=is_held,
    )


def within_s(chosen: DemandSettings, *, is_stream: bool) -> float:
    """Return how long a request may wait."""
    if chosen.wait_s is not None:
        return chosen.wait_s
    return STREAM_WAIT_S if is_stream else PLAIN_WAIT_S


def _span(
    text: str, name: str, *, word: str | None = None, most_s: float = _LONGEST_S
) -> float | None:
    """Return a span in seconds; None for the word that stands for the default."""
    typed = text.strip().lower()
    if word is not None and typed == word:
        return None
    found = _SPAN.fullmatch(typed)
    seconds = float(found[1]) * _SPAN_S[found[2]] if found is not None else math.inf
    if seconds > most_s:
        also = f", or `{word}`" if word is not None else ""
        raise BadInput(
            "demand-value",
            f"`{name}` cannot be `{text}`.",
            hint=f"Write seconds or a span such as `90s`, `30m` or `2h`, at most "
            f"{most_s / 3_600:g} hours{also}.",
        )
    return seconds
