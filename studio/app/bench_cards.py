"""What the cards did while they were measured, from the monitor's ticks. Pure."""

from collections.abc import Iterable

from studio.domain.bench import BenchCard
from studio.domain.cards import CardSample
from studio.domain.hardware import Gpu
from studio.domain.metrics import Tick


class CardWatch:
    """Collects ticks; each once."""

    def __init__(self, gpus: Iterable[Gpu]) -> None:
        """`gpus` are those that the engine computes on."""
        self._gpus = tuple(gpus)
        self._last_at: float | None = None
        self._samples: dict[str, list[CardSample]] = {}

    def take(self, tick: Tick | None) -> None:
        """Take up a tick, unless it was the last one too."""
        if tick is None or tick.at == self._last_at:
            return
        self._last_at = tick.at
        for card in tick.cards or ():
            self._samples.setdefault(_key(card.uuid, card.index), []).append(card)

    def cards(self) -> tuple[BenchCard, ...]:
        """Return the cards with what was seen of them."""
        return tuple(self._card(gpu) for gpu in self._gpus)

    def _card(self, gpu: Gpu) -> BenchCard:
        seen = self._samples.get(_key(gpu.uuid, gpu.index), [])
        watts = [one.power_w for one in seen if one.power_w is not None]
        degrees = [one.temperature_c for one in seen if one.temperature_c is not None]
        limits = [one.power_limit_w for one in seen if one.power_limit_w is not None]
        reasons = dict.fromkeys(reason for one in seen for reason in one.throttle or ())
        return BenchCard(
            name=gpu.name,
            uuid=gpu.uuid,
            memory_bytes=gpu.total_bytes,
            power_limit_w=limits[-1] if limits else gpu.power_limit_w,
            power_w=sum(watts) / len(watts) if watts else None,
            temperature_max_c=max(degrees, default=None),
            throttle=tuple(reasons),
        )


def _key(uuid: str | None, index: int) -> str:
    return uuid or f"card {index}"
