"""One tick → the values that are kept of it, by the name of their series. Pure."""

from collections.abc import Iterator

import msgspec

from studio.domain.cards import CardSample
from studio.domain.metrics import Tick
from studio.domain.spill import SpillFlow

_NOT_KEPT = frozenset({"at", "index"})
_OF_SPILL = ("bytes", "bytes_per_s", "share")


def values(tick: Tick) -> dict[str, float]:
    """Return what is known in a tick; what is not known is left out, and so is a gap.

    Every number of a tick is a series, also of fields that are added later.
    """
    found = dict(_numbers(tick, ""))
    for card in tick.cards or ():
        found.update(_numbers(card, f"card{card.index}."))
    for flow in tick.spill:
        for name, value in _flow(flow):
            found[name] = found.get(name, 0.0) + value
    return found


def _numbers(record: Tick | CardSample, prefix: str) -> Iterator[tuple[str, float]]:
    for name in record.__struct_fields__:
        value = getattr(record, name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and name not in _NOT_KEPT and value == value:
            yield prefix + name, float(value)


def _flow(flow: SpillFlow) -> Iterator[tuple[str, float]]:
    """Yield what moves or lies somewhere; of one kind in several places it is added up."""
    known = msgspec.structs.asdict(flow)
    for part in _OF_SPILL:
        value = known[part]
        if value is not None:
            yield f"spill.{flow.kind.value}.{part}", float(value)
