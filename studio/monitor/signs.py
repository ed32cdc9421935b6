"""Every alarm's code, what looks for its evidence, and the names that its texts may use. Pure."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping

from studio.monitor import signs_cards, signs_load, signs_memory
from studio.monitor.alarm_rules import Evidence, Limits
from studio.monitor.scene import Recent, Scene

Look = Callable[[Scene, Recent, Limits], Iterator[Evidence]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """How one alarm is looked for."""

    look: Look
    names: frozenset[str]
    limits: frozenset[str]
    """Which limits its rule has to give."""


def _sign(look: Look, names: str, limits: str = "") -> Sign:
    return Sign(look=look, names=frozenset(names.split()), limits=frozenset(limits.split()))


_CARD = "card index"
_HELD = f"{_CARD} temperature power clock lower_w"

SIGNS: Mapping[str, Sign] = {
    "spill-wddm": _sign(
        signs_memory.wddm,
        "bytes adapter excess excess_share",
        "bytes bytes_with_signature utilisation controller step_times",
    ),
    "spill-swap": _sign(signs_memory.swap, "bytes excess excess_gib", "bytes"),
    "memory-pressure": _sign(
        signs_memory.pressure, "share where", "share available_share swap_bytes_per_s"
    ),
    "page-thrash": _sign(signs_memory.thrash, "rate", "bytes_per_s"),
    "slow-path-failed": _sign(signs_memory.slow_paths, "paths reason"),
    "host-memory-low": _sign(signs_memory.host_memory, "available total", "share bytes"),
    "memory-limit-near": _sign(signs_memory.group_memory, "group used limit", "share"),
    "kv-tier-unused": _sign(
        signs_memory.tier, "stored loaded size minutes", "within_s times reuse"
    ),
    "card-lost": _sign(signs_cards.lost, f"{_CARD} said"),
    "throttled-heat": _sign(signs_cards.heat, _HELD, "utilisation"),
    "throttled-power": _sign(signs_cards.power, _HELD, "utilisation"),
    "ecc-uncorrected": _sign(signs_cards.ecc, f"{_CARD} count"),
    "card-memory-taken": _sign(signs_cards.taken, f"{_CARD} grown program", "bytes"),
    "pool-too-small": _sign(signs_load.preempted, "count within share running", "count within_s"),
    "requests-waiting": _sign(signs_load.waiting, "waiting why", "waiting pool_share"),
    "disk-nearly-full": _sign(signs_load.disks, "holds mount free total", "bytes share"),
    "engine-died": _sign(signs_load.died, "cause"),
    "slower-than-published": _sign(signs_load.slower, "share sentence", "share"),
}
FLAGS = frozenset(("waits", "wsl", "processor", "pinned", "limited", "pool", "seats", "other"))
"""What remedies may depend on."""
