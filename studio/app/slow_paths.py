"""What makes an engine slow beside what its log says: the machine around it, and its own numbers.

Joins serving's signs with the look at the host and with the monitor. Decides no words: they stand
in runtimes/slow_paths.toml.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from studio.domain.errors import StudioError
from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.metrics import Tick
from studio.domain.spill import SpillKind
from studio.domain.units import GIB, MIB, bytes_text
from studio.presets.store import PresetStore
from studio.serving import slow_path_file
from studio.serving.command import Launch
from studio.serving.slow_paths import Watch

_SWAPPED_BYTES = 64 * MIB
"""Below it the kernel merely put aside what nobody reads."""
_SHM_BYTES = GIB
"""What Docker gives, 64 MB, fails; engines of several processes want more (HyperQwen)."""
_LOW_POWER_SHARE = 0.6
"""Of a card's own limit, where no reference is known: as `weir doctor` counts."""
_OFFLOAD = ("--kv-offloading-size", "--kv-transfer-config")

Told = tuple[str, dict[str, str]]


class SlowPaths:
    """Gives every boot its watch, and tells the newest one what is measured."""

    def __init__(self, file: Path, presets: PresetStore) -> None:
        """Read the signs. Raises: NotFound (`file-missing`), BadInput (`document-invalid`)."""
        self._signs = slow_path_file.load(file)
        self._presets = presets
        self._host: Callable[[], HostSnapshot | None] = lambda: None
        self._watch: Watch | None = None
        self._swapped_bytes = 0
        self._preemptions = 0

    def look_at(self, host: Callable[[], HostSnapshot | None]) -> None:
        """Name who knows what was last seen of the host."""
        self._host = host

    def begin(self, launch: Launch) -> Watch:
        """Return the watch of a new boot."""
        host = self._host()
        watch = Watch(
            self._signs,
            environment=launch.environment,
            argv=launch.argv,
            knobs=self._knobs(launch),
            names={"runtime": launch.runtime, "preset": launch.preset},
            has_cards=bool(host.gpus) if host is not None else None,
        )
        if host is not None:
            for sign, values in host_signs(host, launch, self._signs.reference_power_w):
                watch.tell(sign, **values)
        self._watch, self._swapped_bytes, self._preemptions = watch, 0, 0
        return watch

    def hear(self, tick: Tick) -> bool:
        """Take up a tick; tells whether the badges changed. Counts are told when they double."""
        watch, is_news = self._watch, False
        if watch is None:
            return False
        swapped, preempted = _swapped(tick), tick.preemptions or 0
        if swapped >= max(_SWAPPED_BYTES, 2 * self._swapped_bytes):
            self._swapped_bytes = swapped
            is_news = watch.tell("engine-swaps", swapped=bytes_text(swapped))
        if preempted >= max(1, 2 * self._preemptions):
            self._preemptions = preempted
            is_news |= watch.tell("requests-preempted", count=f"{preempted:,}")
        return is_news

    def _knobs(self, launch: Launch) -> frozenset[str]:
        try:
            return frozenset(self._presets.get(launch.preset).knobs)
        except StudioError:  # the preset was taken away; what it set is still known
            return frozenset(launch.knobs)


def _swapped(tick: Tick) -> int:
    """Return what of the engine lies in swap; a spill may be of other kinds."""
    flows = [one.bytes or 0 for one in tick.spill if one.kind is SpillKind.SWAP]
    return sum(flows)


def host_signs(
    host: HostSnapshot, launch: Launch, reference_power_w: Mapping[str, float]
) -> Iterator[Told]:
    """Yield what of `host` makes `launch` slower than it could be; of several cards the worst."""
    cards = _cards(host, launch)
    needs_shm = len(cards) > 1 or any(part.startswith(_OFFLOAD) for part in launch.argv)
    if needs_shm and host.shm_bytes is not None and host.shm_bytes < _SHM_BYTES:
        yield "shared-memory-low", {"size": bytes_text(host.shm_bytes)}
    limited = [one for card in cards if (one := _limited(card, reference_power_w)) is not None]
    if limited:
        yield "power-limited", min(limited, key=lambda one: one[0])[1]
    narrow = [one for card in cards if (one := _narrow(card)) is not None]
    if narrow:
        yield "link-narrow", min(narrow, key=lambda one: one[0])[1]


def _cards(host: HostSnapshot, launch: Launch) -> list[Gpu]:
    """Return the cards that the engine is given; the processor's engine is given none."""
    named = launch.environment.get("CUDA_VISIBLE_DEVICES", "")
    wanted = {part.strip() for part in named.split(",")}
    return [card for card in host.gpus if str(card.index) in wanted]


def _limited(card: Gpu, references: Mapping[str, float]) -> tuple[float, dict[str, str]] | None:
    """Return how far a card's power is below what it should be, and the figures."""
    limit_w, default_w = card.power_limit_w, card.power_default_w
    if not limit_w:
        return None
    said = {"card": card.name, "index": str(card.index), "limit_w": f"{limit_w:.0f}"}
    for name, reference_w in references.items():
        if name in card.name:
            if limit_w >= reference_w:
                return None
            return limit_w / reference_w, {**said, "reference_w": f"{reference_w:.0f}"}
    if not default_w or limit_w >= default_w * _LOW_POWER_SHARE:
        return None
    return limit_w / default_w, {**said, "default_w": f"{default_w:.0f}"}


def _narrow(card: Gpu) -> tuple[float, dict[str, str]] | None:
    width, most = card.pcie_width, card.pcie_width_max
    if not width or not most or width >= most:
        return None
    said = {"card": card.name, "width": str(width), "most": str(most)}
    return width / most, {**said, "times": f"{most / width:.0f}"}
