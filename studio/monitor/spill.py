"""Successive looks at memory → spill by kind: bytes, rates, since when. Pure.

Harmful kinds are measured above what is normal, intended ones as they are. A kind that cannot occur
here is left out; one that can and is not known says why.
"""

import collections
from collections.abc import Callable, Iterator

import msgspec

from studio.domain.readings import (
    AdapterReading,
    EngineReading,
    GroupReading,
    HostReading,
    SpillLook,
)
from studio.domain.spill import SpillFlow, SpillKind
from studio.domain.units import bytes_text
from studio.monitor.baseline import Baselines, named

WINDOW_S = 4.0
"""How far back rates look: long enough to be steady, short enough to be now."""
_SLACK_S = 1e-6
_NOISE_BYTES = {SpillKind.WDDM_SHARED: 32 << 20, SpillKind.SWAP: 1 << 20}
"""Up to here it is not called spill: `since` stays empty."""
_NOISE_SHARE = 0.01
_NOISE_RATE = 1 << 20
_NO_ENGINE = "No engine runs."
_NOT_SEEN = "The engine's processes cannot be seen from here."
_ONLY_LINUX = "Only Linux tells."
_BY_BYTES = frozenset((SpillKind.WDDM_SHARED, SpillKind.SWAP))

Counter = Callable[[SpillLook], float | None]


def total_bytes(flows: tuple[SpillFlow, ...]) -> int | None:
    """Return the bytes that lie where they hurt; None when nothing is known, or not all of nothing.

    What is known to lie there counts even where another kind is not known: it is at least that.
    """
    kinds = [one for one in flows if one.kind in _BY_BYTES]
    known = sum(one.bytes or 0 for one in kinds)
    is_whole = bool(kinds) and all(one.bytes is not None for one in kinds)
    return known if known or is_whole else None


class SpillMeter:
    """One per service: keeps the last looks and since when each kind is there."""

    def __init__(self, baselines: Baselines) -> None:
        self._baselines = baselines
        self._looks: collections.deque[SpillLook] = collections.deque()
        self._since: dict[tuple[SpillKind, str | None], float] = {}

    def flows(self, look: SpillLook) -> tuple[SpillFlow, ...]:
        """Return every kind that can occur, at this look."""
        self._take(look)
        found = tuple(
            flow
            for part in (
                self._wddm,
                self._swap,
                self._pressure,
                self._thrash,
                _slow_paths,
                self._cpu_kv,
                self._beside_cards,
                self._ple,
            )
            for flow in part(look)
        )
        return self._dated(found, look.at)

    def _take(self, look: SpillLook) -> None:
        last = self._looks[-1] if self._looks else None
        if last is not None and look.monotonic_s <= last.monotonic_s:
            self._looks.clear()
        self._looks.append(look)
        while len(self._looks) > 2 and self._looks[1].monotonic_s <= look.monotonic_s - WINDOW_S:
            self._looks.popleft()

    def rate(self, counter: Counter, *, same_processes: bool = False) -> float | None:
        """Return by how much a counter grows in a second; None where it began anew or is missing.

        `same_processes`: a sum over processes says nothing when one has come or gone.
        """
        newest = self._looks[-1]
        end = counter(newest)
        begin: tuple[float, float] | None = None
        for look in reversed(list(self._looks)[:-1]):
            value = counter(look)
            is_far = look.monotonic_s < newest.monotonic_s - WINDOW_S - _SLACK_S
            if value is None or (begin is not None and is_far):
                break
            if same_processes and _pids(look) != _pids(newest):
                break
            begin = (look.monotonic_s, value)
        if end is None or begin is None or end < begin[1]:
            return None
        return (end - begin[1]) / (newest.monotonic_s - begin[0])

    # -- what hurts ------------------------------------------------------------------------

    def _wddm(self, look: SpillLook) -> Iterator[SpillFlow]:
        if look.adapters is None:
            return
        adapters = named(look.adapters.adapters)
        if not adapters:
            note = look.adapters.note or "Windows lists no NVIDIA card."
            yield SpillFlow(kind=SpillKind.WDDM_SHARED, note=note)
        for name, adapter in adapters.items():
            yield self._of_adapter(look, name, adapter)

    def _of_adapter(self, look: SpillLook, name: str, adapter: AdapterReading) -> SpillFlow:
        if not look.is_running:  # whatever lies there is not ours: it is the baseline
            return SpillFlow(kind=SpillKind.WDDM_SHARED, bytes=0, where=name)
        idle, is_seen = self._baselines.of(name)
        note = None
        if not is_seen:
            note = (
                f"What is normal for this card is not known yet; {bytes_text(idle)} are assumed "
                "until it was seen without an engine."
            )
        # A KV tier is pinned memory of the machine, which Windows counts as shared, too.
        meant = look.intent.cpu_kv_bytes or 0
        return SpillFlow(
            kind=SpillKind.WDDM_SHARED,
            bytes=max(0, adapter.shared_bytes - idle - meant),
            where=name,
            note=note,
        )

    def _swap(self, look: SpillLook) -> Iterator[SpillFlow]:
        reading = look.engine
        if not look.is_linux:
            yield SpillFlow(kind=SpillKind.SWAP, note=_ONLY_LINUX)
        elif reading is None or not look.is_running:
            note = _NO_ENGINE if not look.is_running else _NOT_SEEN
            yield SpillFlow(kind=SpillKind.SWAP, note=note)
        else:
            into = self.rate(lambda one: one.host.swapped_out_bytes if one.host else None)
            back = self.rate(lambda one: one.host.swapped_in_bytes if one.host else None)
            yield SpillFlow(
                kind=SpillKind.SWAP,
                bytes=reading.swap_bytes,
                bytes_per_s=_sum(into, back),
                in_bytes_per_s=into,
                out_bytes_per_s=back,
                note=None if reading.swap_bytes is not None else "The kernel does not say.",
            )

    def _pressure(self, look: SpillLook) -> Iterator[SpillFlow]:
        if not look.is_linux:
            return
        group = look.engine.group if look.engine is not None else None
        told = [("machine", look.host.pressure if look.host is not None else None)]
        if group is not None and group.pressure is not None:
            told.append((f"control group {group.path}", group.pressure))
        for where, pressure in told:
            if pressure is None:
                note = "This kernel does not measure pressure (PSI)."
                yield SpillFlow(kind=SpillKind.MEMORY_PRESSURE, where=where, note=note)
            else:
                yield SpillFlow(kind=SpillKind.MEMORY_PRESSURE, share=pressure.some, where=where)

    def _thrash(self, look: SpillLook) -> Iterator[SpillFlow]:
        if not look.is_linux or not look.is_running:
            return
        if look.intent.has_ple_disk:
            note = "Not judged: this preset reads from the disk by design."
            yield SpillFlow(kind=SpillKind.PAGE_THRASH, note=note)
            return
        rate = self._thrash_rate()
        yield SpillFlow(
            kind=SpillKind.PAGE_THRASH,
            bytes_per_s=rate,
            out_bytes_per_s=rate,
            note=None if rate is not None else "Two readings of the same processes are needed.",
        )

    def _thrash_rate(self) -> float | None:
        """Return the bytes a second that were read again soon after they had been thrown out.

        Three witnesses must agree, and the least of them counts: pages faulted in from a disk by
        the engine, bytes it really read, and pages that the kernel knows to be back. The first
        reading of a file is none of that.
        """
        faults = self.rate(lambda one: _engine(one, lambda e: e.major_faults), same_processes=True)
        read = self.rate(lambda one: _engine(one, lambda e: e.disk_read_bytes), same_processes=True)
        if faults is None or read is None:
            return None
        back = self.rate(lambda one: _group(one, lambda g: g.refault_bytes))
        if back is None:
            back = self.rate(lambda one: _host(one, lambda h: h.refault_bytes))
        if faults < 1:
            return 0.0
        return min(read, back) if back is not None else read

    # -- what was meant to go there ---------------------------------------------------------

    def _cpu_kv(self, look: SpillLook) -> Iterator[SpillFlow]:
        size, stored = look.intent.cpu_kv_bytes, look.stored_bytes
        if size is None and not stored:
            return
        into = self.rate(lambda one: one.stored_bytes)
        back = self.rate(lambda one: one.loaded_bytes)
        lies = None
        if stored is not None:
            lies = round(stored if size is None else min(stored, size))
        note = None if lies is not None else "The engine does not say."
        yield SpillFlow(
            kind=SpillKind.CPU_KV_TIER,
            bytes=lies,
            bytes_per_s=_sum(into, back),
            in_bytes_per_s=into,
            out_bytes_per_s=back,
            where=None if size is None else f"of {bytes_text(size)}",
            note=note,
        )

    def _beside_cards(self, look: SpillLook) -> Iterator[SpillFlow]:
        intent = look.intent
        if intent.has_host_kv:
            yield SpillFlow(
                kind=SpillKind.HOST_KV,
                out_bytes_per_s=None if intent.has_expert_ring else look.link_bytes_per_s,
                note="The engine does not say how much of its history lies in host memory.",
            )
        if intent.has_expert_ring:
            # One arena that every rank maps: counted once (1Cat-vLLM, V4.1).
            held = look.engine.shared_bytes if look.engine is not None else None
            yield SpillFlow(
                kind=SpillKind.EXPERT_RING,
                bytes=held,
                bytes_per_s=look.link_bytes_per_s,
                out_bytes_per_s=look.link_bytes_per_s,
                note=None if held is not None else _NO_ENGINE,
            )

    def _ple(self, look: SpillLook) -> Iterator[SpillFlow]:
        if not look.intent.has_ple_disk:
            return
        read = self.rate(lambda one: _engine(one, lambda e: e.disk_read_bytes), same_processes=True)
        yield SpillFlow(kind=SpillKind.PLE_DISK, bytes_per_s=read, out_bytes_per_s=read)

    # -- since when --------------------------------------------------------------------------

    def _dated(self, flows: tuple[SpillFlow, ...], at: float) -> tuple[SpillFlow, ...]:
        """Return `flows` with the moment since when each is above its noise."""
        before, self._since = self._since, {}
        made = []
        for flow in flows:
            key = (flow.kind, flow.where)
            since = before.get(key, at) if _is_there(flow) else None
            if flow.bytes is None and flow.share is None and flow.bytes_per_s is None:
                since = before.get(key)  # one reading that failed does not begin it anew
            if since is not None:
                self._since[key] = since
            made.append(msgspec.structs.replace(flow, since=since))
        return tuple(made)


def _slow_paths(look: SpillLook) -> Iterator[SpillFlow]:
    if look.paths is None:
        return
    if look.paths.note is not None:
        yield SpillFlow(kind=SpillKind.SLOW_PATH, note=look.paths.note)
    elif not look.paths.failed:
        yield SpillFlow(kind=SpillKind.SLOW_PATH, bytes=0)
    for name, reason in look.paths.failed:
        yield SpillFlow(kind=SpillKind.SLOW_PATH, where=name, share=1.0, note=reason)


def _is_there(flow: SpillFlow) -> bool:
    if (flow.bytes or 0) > _NOISE_BYTES.get(flow.kind, 0):
        return True
    if (flow.share or 0.0) > _NOISE_SHARE:
        return True
    return flow.bytes is None and (flow.bytes_per_s or 0.0) > _NOISE_RATE


def _pids(look: SpillLook) -> frozenset[int]:
    return look.engine.pids if look.engine is not None else frozenset()


def _engine(look: SpillLook, read: Callable[[EngineReading], float | None]) -> float | None:
    return None if look.engine is None else read(look.engine)


def _host(look: SpillLook, read: Callable[[HostReading], float | None]) -> float | None:
    return None if look.host is None else read(look.host)


def _group(look: SpillLook, read: Callable[[GroupReading], float | None]) -> float | None:
    group = look.engine.group if look.engine is not None else None
    return None if group is None else read(group)


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second
