"""Whether a serving engine moves: what its figures say second by second. Pure.

`/health` says 200 for an engine whose inside stands still. Any figure of `/metrics` that changes is
a step: counters of tokens, and the pool's share in use, which grows with every chunk of a long
prefill while no token comes out yet. Gauges are those of the last step, so an engine that hangs in
its first one looks idle; requests that do not come back, and a token asked for now and then, tell
the two apart.
"""

import dataclasses

import msgspec

from studio.domain.metrics import EngineSample

SHOWN_AFTER_S = 10.0
"""From here on a standstill is shown; shorter ones are long steps."""
PROBE_EVERY_S = 300.0
"""How often an idle engine is asked for a token."""
SUSPICIOUS_S = 5.0
"""How long requests may be under way with an engine that says it has none."""
TRUSTED_S = 60.0
"""The same once it has answered a probe meanwhile: then a client is slow, and not the engine."""
_LONGEST_GAP_S = 5.0
"""Readings further apart mean that the Studio itself stood still, not the engine."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """What the readings come to."""

    still_s: float = 0.0
    """How long nothing has moved although something should; 0: it moves, or has nothing to do."""
    is_stalled: bool = False
    wants_probe: bool = False
    """Whether a token should be asked for, to see whether one comes."""


class Liveness:
    """Reads one engine from its first token to its end."""

    def __init__(self, stall_s: float) -> None:
        self.stall_s = stall_s
        self.pulse = Pulse()
        self.requests = 0
        """Running and waiting ones, by the newest reading."""
        self._at_s: float | None = None
        self._figures: tuple[object, ...] | None = None
        self._still_s = 0.0
        self._idle_s = 0.0
        self._doubt_s = 0.0
        self._doubt_limit_s = SUSPICIOUS_S
        self._is_probing = False
        self._is_given_up = False

    def read(self, at_s: float, sample: EngineSample | None, in_flight: int) -> Pulse:
        """Take one reading: `sample` None means no answer; `in_flight` is the gateway's count."""
        step_s = 0.0 if self._at_s is None else min(at_s - self._at_s, _LONGEST_GAP_S)
        self._at_s = at_s
        figures = msgspec.structs.astuple(sample) if sample is not None else self._figures
        if figures != self._figures:
            self._figures = figures
            if self._is_given_up:
                self._is_probing = self._is_given_up = False
            self._rest()
            return self._told(is_busy=False)
        self.requests = _requests(sample)
        is_busy = sample is None or self.requests > 0 or self._is_probing
        if is_busy:
            self._still_s += step_s
            return self._told(is_busy=True)
        self._still_s = 0.0
        self._idle_s += step_s
        self._doubt_s += step_s
        if in_flight == 0:
            self._doubt_s, self._doubt_limit_s = 0.0, SUSPICIOUS_S
        return self._told(is_busy=False)

    def probing(self) -> None:
        """Take notice that a token was asked for."""
        self._is_probing, self._is_given_up = True, False
        self._still_s = self._idle_s = self._doubt_s = 0.0
        self._told(is_busy=True)

    def gave_up(self) -> None:
        """Take notice that nobody waits for that token any more: the next step ends the doubt."""
        self._is_given_up = self._is_probing

    def moved(self) -> None:
        """Take notice that a token came."""
        self._is_probing = self._is_given_up = False
        self._doubt_limit_s = TRUSTED_S
        self._rest()
        self._told(is_busy=False)

    def _rest(self) -> None:
        self._still_s = self._idle_s = self._doubt_s = 0.0

    def _told(self, *, is_busy: bool) -> Pulse:
        is_due = self._idle_s >= PROBE_EVERY_S or self._doubt_s >= self._doubt_limit_s
        self.pulse = Pulse(
            still_s=self._still_s if is_busy else 0.0,
            is_stalled=is_busy and self._still_s >= self.stall_s,
            wants_probe=is_due and not self._is_probing,
        )
        return self.pulse


def _requests(sample: EngineSample | None) -> int:
    if sample is None:
        return 0
    return round((sample.running or 0) + (sample.waiting or 0))
