"""Ticks → what was measured while the load stood still: the only time that speeds compare. Pure.

A rate of a tick is a mean over the seconds before it, so the first ticks after a request came or
went still speak of the old load and are left out; so are those in which a prompt was computed.
"""

import collections

from studio.domain.metrics import Tick
from studio.domain.speed import SpeedMeasured

WINDOW_S = 60.0
SETTLED_S = 3.0
"""How long the same number of requests must have run before a tick counts: a rate looks so far
back."""
_SLACK_S = 0.2
_READING_SHARE = 0.02
"""Prompt tokens a second, beside generated ones, that leave steps as they are."""
_LONGEST_TICK_S = 15.0

Entry = tuple[float, float, int, float | None, float | None, int | None]


class SpeedWindow:
    """The newest minute of steady decoding."""

    def __init__(self, window_s: float = WINDOW_S) -> None:
        self._window_s = window_s
        self._entries: collections.deque[Entry] = collections.deque()
        self._running = 0
        self._since = 0.0
        self._last_at: float | None = None

    def add(self, tick: Tick, context_tokens: int | None) -> SpeedMeasured | None:
        """Take up a tick; return what it alone says, where it says something.

        `context_tokens` is the longest conversation that runs; None: not known.
        """
        running = tick.running or 0
        span_s = 0.0 if self._last_at is None else tick.at - self._last_at
        self._last_at = tick.at
        if running != self._running or not 0 < span_s <= _LONGEST_TICK_S:
            self._since = tick.at
        self._running = running
        decode = tick.decode_tokens_per_s
        is_steady = running > 0 and tick.at - self._since >= SETTLED_S - _SLACK_S
        if not is_steady or not decode or _is_reading(tick, decode):
            self._forget(tick.at)
            return None
        step_s = step_time(running, decode, tick.tokens_per_step)
        self._entries.append(
            (tick.at, span_s, running, decode, tick.tokens_per_step, context_tokens)
        )
        self._forget(tick.at)
        return SpeedMeasured(
            seconds=span_s,
            requests=running,
            decode_tokens_per_s=decode,
            tokens_per_step=tick.tokens_per_step,
            step_s=step_s,
            context_tokens=context_tokens,
        )

    def clear(self) -> None:
        """Forget everything: another engine serves."""
        self._entries.clear()
        self._running = 0
        self._last_at = None

    def measured(self) -> SpeedMeasured:
        """Return the mean over the entries with the newest number of requests."""
        if not self._entries:
            return SpeedMeasured()
        requests = self._entries[-1][2]
        chosen = [one for one in self._entries if one[2] == requests]
        seconds = sum(one[1] for one in chosen)
        decode = sum(one[1] * (one[3] or 0.0) for one in chosen) / seconds
        per_step = [(one[1], one[4]) for one in chosen if one[4] is not None]
        tokens_per_step = None
        if len(per_step) == len(chosen):
            tokens_per_step = sum(s * value for s, value in per_step) / seconds
        contexts = [one[5] for one in chosen]
        known = [one for one in contexts if one is not None]
        return SpeedMeasured(
            seconds=seconds,
            requests=requests,
            decode_tokens_per_s=decode,
            tokens_per_step=tokens_per_step,
            step_s=step_time(requests, decode, tokens_per_step),
            context_tokens=max(known) if len(known) == len(contexts) else None,
        )

    def _forget(self, now: float) -> None:
        while self._entries and not 0 <= now - self._entries[0][0] <= self._window_s:
            self._entries.popleft()


def step_time(running: int, decode: float, tokens_per_step: float | None) -> float | None:
    """Return the seconds of one step, from what all requests together get.

    In one step each running request gets `tokens_per_step` tokens, or one without speculation.
    """
    if decode <= 0 or running <= 0:
        return None
    return running * (tokens_per_step or 1.0) / decode


def _is_reading(tick: Tick, decode: float) -> bool:
    return (tick.prefill_tokens_per_s or 0.0) > _READING_SHARE * decode
