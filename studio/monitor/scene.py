"""What alarms are judged by: one second of the monitor, and the last minutes of it. Pure."""

import collections
import dataclasses
from collections.abc import Callable

from studio.domain.cards import CardSample
from studio.domain.metrics import Tick
from studio.domain.readings import SpillLook

KEPT_S = 600.0
STEP_S = 3.0
SPEED_S = 10.0
"""Over how long speed is taken; a shorter one moves with every request."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DiskRoom:
    """The disk that holds something of ours."""

    holds: str
    """`models`, `logs`: what cannot be written when it is full."""
    mount: str
    free_bytes: int
    total_bytes: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Slower:
    """An engine that is slower than its preset's published figure."""

    sentence: str
    share: float
    """Of the published figure, 0 to 1."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One second. What is not known is None, and no alarm comes of it."""

    at: float
    monotonic_s: float
    tick: Tick
    look: SpillLook | None = None
    is_serving: bool = False
    serving_since_s: float | None = None
    """On the monotonic clock: when the load phase was over."""
    engine_cards: frozenset[int] | None = None
    """Numbers of the cards that the engine was given; None: not known."""
    max_num_seqs: int | None = None
    flags: frozenset[str] = frozenset()
    """What holds of host and engine, for remedies: `wsl`, `processor`, `pinned`."""
    disks: tuple[DiskRoom, ...] = ()
    death: str | None = None
    """Of what the engine died, while it does not serve again."""
    slower: Slower | None = None

    @property
    def served_s(self) -> float:
        """Return for how long the engine has served; 0: it does not."""
        if not self.is_serving or self.serving_since_s is None:
            return 0.0
        return self.monotonic_s - self.serving_since_s

    def cards(self) -> list[CardSample]:
        """Return the engine's cards that answer; all of them where its own are not known."""
        all_cards = self.tick.cards or ()
        wanted = self.engine_cards
        return [one for one in all_cards if wanted is None or one.index in wanted]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Moment:
    monotonic_s: float
    tick: Tick
    stored_bytes: float | None
    loaded_bytes: float | None


class Recent:
    """The last minutes, and what this run of the engine was seen to be able to do."""

    def __init__(self) -> None:
        self._moments: collections.deque[_Moment] = collections.deque()
        self._best: dict[int, float] = {}
        self._best_step_s: dict[int, float] = {}
        self._run: float | None = None
        self.ecc: dict[int, int] = {}
        """Card to the errors that it had when it was seen first."""
        self.foreign: dict[int, int] = {}
        """Card to what others held when this run of the engine began to serve."""

    def take(self, scene: Scene) -> None:
        """Take up a second; a new run of the engine begins with nothing."""
        if scene.serving_since_s != self._run or not scene.is_serving:
            self._run = scene.serving_since_s
            self._moments.clear()
            self._best.clear()
            self._best_step_s.clear()
            self.foreign.clear()
        look = scene.look
        self._moments.append(
            _Moment(
                monotonic_s=scene.monotonic_s,
                tick=scene.tick,
                stored_bytes=look.stored_bytes if look else None,
                loaded_bytes=look.loaded_bytes if look else None,
            )
        )
        while self._moments[0].monotonic_s < scene.monotonic_s - KEPT_S:
            self._moments.popleft()
        for card in scene.tick.cards or ():
            if card.ecc_uncorrected is not None:
                self.ecc.setdefault(card.index, card.ecc_uncorrected)
        speed = self.speed()
        if speed is not None:
            seats = self._seats()
            self._best[seats] = max(speed, self._best.get(seats, 0.0))
        step_s = self.step_s()
        if step_s is not None and self.lasted_s() >= STEP_S:
            seats = self._seats()
            self._best_step_s[seats] = min(step_s, self._best_step_s.get(seats, step_s))

    def grown(self, read: Callable[[Tick], float | None], within_s: float) -> float | None:
        """Return by how much a counter of ticks grew within the last seconds."""
        return self._grown(lambda one: read(one.tick), within_s)

    def stored(self, within_s: float) -> tuple[float, float] | None:
        """Return the bytes that went into the KV tier, and those that came back."""
        into = self._grown(lambda one: one.stored_bytes, within_s)
        back = self._grown(lambda one: one.loaded_bytes, within_s)
        return None if into is None or back is None else (into, back)

    def _grown(self, read: Callable[[_Moment], float | None], within_s: float) -> float | None:
        newest = begin = self._moments[-1]
        for one in reversed(self._moments):
            if one.monotonic_s < newest.monotonic_s - within_s:
                break
            begin = one
        first, last = read(begin), read(newest)
        return None if first is None or last is None or last < first else last - first

    def lasted_s(self) -> float:
        """Return how much of this run is known."""
        return self._moments[-1].monotonic_s - self._moments[0].monotonic_s

    def mean(self, read: Callable[[Tick], float | None], within_s: float) -> float | None:
        """Return the mean of a figure over the last seconds; None unless all are known."""
        limit = self._moments[-1].monotonic_s - within_s
        total, count = 0.0, 0
        for one in reversed(self._moments):
            if one.monotonic_s <= limit:
                break
            value = read(one.tick)
            if value is None:
                return None
            total, count = total + value, count + 1
        return total / count

    def speed(self) -> float | None:
        """Return tokens a second, read and generated together, while requests are answered.

        Together, because under WSL2 the split between time to first token and decoding is unstable.
        """
        running = self.mean(lambda tick: None if not tick.running else 1.0, SPEED_S)
        if running is None or self.lasted_s() < SPEED_S:
            return None
        return self.mean(_tokens_per_s, SPEED_S)

    def best_speed(self) -> float | None:
        """Return the best speed of this run with as many requests as now."""
        return self._best.get(self._seats())

    def step_s(self) -> float | None:
        """Return how long a step of the engine takes."""
        return self.mean(lambda tick: tick.step_s, STEP_S)

    def best_step_s(self) -> float | None:
        """Return the shortest that one took in this run with as many requests as now."""
        return self._best_step_s.get(self._seats())

    def _seats(self) -> int:
        """Return how many requests run, as a power of two: speed grows with them."""
        return (self._moments[-1].tick.running or 0).bit_length()


def _tokens_per_s(tick: Tick) -> float | None:
    if tick.prefill_tokens_per_s is None or tick.decode_tokens_per_s is None:
        return None
    return tick.prefill_tokens_per_s + tick.decode_tokens_per_s
