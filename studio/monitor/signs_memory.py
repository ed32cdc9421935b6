"""What shows that bytes lie or move where they hurt. Pure; thresholds are data."""

from collections.abc import Callable, Iterator

from studio.domain.cards import CardSample
from studio.domain.metrics import Tick
from studio.domain.spill import SpillFlow, SpillKind
from studio.domain.units import bytes_text, percent_text
from studio.monitor.alarm_rules import Evidence, Limits
from studio.monitor.baseline import named
from studio.monitor.scene import Recent, Scene

MARGIN_BYTES = 200_000_000
"""How far below its line an engine should stay (HyperQwen, WSL2)."""
_SHOWN_S = 3.0
_SLOWER = 1.4
"""From this factor on slowness is worth a line."""


def wddm(scene: Scene, recent: Recent, limits: Limits) -> Iterator[Evidence]:
    """Yield each adapter of which memory lies in the machine's.

    A small excess counts only with the signature of cards that wait for it: fully used, their own
    memory hardly read; or steps that take much longer than they did in this run.
    """
    adapters = scene.look.adapters.adapters if scene.look and scene.look.adapters else ()
    known = named(adapters)
    for flow in _flows(scene, SpillKind.WDDM_SHARED):
        is_waiting = _starves(scene, recent, limits) or _drags(recent, limits)
        is_much = limits.over("bytes", flow.bytes)
        if not is_much and not (is_waiting and limits.over("bytes_with_signature", flow.bytes)):
            continue
        excess = (flow.bytes or 0) + MARGIN_BYTES
        adapter = known.get(flow.where or "")
        total = adapter.total_bytes if adapter is not None else None
        lines = [f"{flow.where}: {bytes_text(flow.bytes)} above its idle baseline"]
        if adapter is not None:
            lines.append(
                f"Windows counts {bytes_text(adapter.shared_bytes)} shared, "
                f"{bytes_text(adapter.dedicated_bytes)} dedicated"
            )
        lines += _holders(scene) + _signature(scene, recent)
        yield Evidence(
            where=flow.where,
            values={
                "bytes": bytes_text(flow.bytes),
                "adapter": flow.where or "a card",
                "excess": str(excess),
                # Two decimals of a card's memory, always enough.
                "excess_share": f"{-(-excess * 100 // total) / 100:.2f}" if total else "0.02",
            },
            lines=tuple(lines),
            flags=frozenset(("waits",)) if is_waiting else frozenset(),
            size=float(flow.bytes or 0),
        )


def swap(scene: Scene, recent: Recent, limits: Limits) -> Iterator[Evidence]:
    """Yield the engine's memory that lies in swap."""
    for flow in _flows(scene, SpillKind.SWAP):
        if limits.over("bytes", flow.bytes):
            lines = [f"{bytes_text(flow.bytes)} of the engine's processes in swap"]
            if flow.in_bytes_per_s is not None and flow.out_bytes_per_s is not None:
                lines.append(
                    f"the machine swaps {bytes_text(flow.in_bytes_per_s)}/s out and "
                    f"{bytes_text(flow.out_bytes_per_s)}/s in"
                )
            lines += _memory_lines(scene) + _speed_lines(recent)
            excess = (flow.bytes or 0) + MARGIN_BYTES
            yield Evidence(
                values={
                    "bytes": bytes_text(flow.bytes),
                    "excess": str(excess),
                    "excess_gib": f"{-(-excess // (1 << 30))}",
                },
                lines=tuple(lines),
                size=float(flow.bytes or 0),
            )


def pressure(scene: Scene, recent: Recent, limits: Limits) -> Iterator[Evidence]:
    """Yield a machine or a control group that waits for memory.

    The machine's figure counts every group's waiting. Where plenty is available and nothing is
    swapped it is somebody else's group that waits at its own limit.
    """
    for flow in _flows(scene, SpillKind.MEMORY_PRESSURE):
        if not limits.over("share", flow.share):
            continue
        if flow.where == "machine" and not _is_short(scene, limits):
            continue
        lines = [f"{flow.where}: {percent_text(flow.share)} of the last 10 s lost to waiting"]
        yield Evidence(
            where=flow.where,
            values={"share": percent_text(flow.share), "where": flow.where or ""},
            lines=(*lines, *_memory_lines(scene), *_speed_lines(recent)),
            size=flow.share or 0.0,
        )


def thrash(scene: Scene, recent: Recent, limits: Limits) -> Iterator[Evidence]:
    """Yield weights that are read from the disk again and again."""
    for flow in _flows(scene, SpillKind.PAGE_THRASH):
        if limits.over("bytes_per_s", flow.bytes_per_s):
            rate = f"{bytes_text(flow.bytes_per_s)}/s"
            yield Evidence(
                values={"rate": rate},
                lines=(
                    f"{rate} of mapped files read anew",
                    *_memory_lines(scene),
                    *_speed_lines(recent),
                ),
                size=flow.bytes_per_s or 0.0,
            )


def slow_paths(scene: Scene, _recent: Recent, _limits: Limits) -> Iterator[Evidence]:
    """Yield the V100 engine's fast paths that were expected and do not run."""
    failed = [one for one in _flows(scene, SpillKind.SLOW_PATH) if one.where is not None]
    if failed:
        yield Evidence(
            values={
                "paths": ", ".join(f"`{one.where}`" for one in failed),
                "reason": next((one.note for one in failed if one.note), "no reason given"),
            },
            lines=tuple(f"{one.where}: {one.note or 'no reason given'}" for one in failed),
            size=float(len(failed)),
        )


def host_memory(scene: Scene, _recent: Recent, limits: Limits) -> Iterator[Evidence]:
    """Yield a machine whose memory is nearly full."""
    available, total = _available(scene), scene.tick.memory_bytes
    if available is None or not total:
        return
    if limits.under("share", available / total) and limits.under("bytes", available):
        yield Evidence(
            values={"available": bytes_text(available), "total": bytes_text(total)},
            lines=tuple(_memory_lines(scene)),
            size=1 - available / total,
        )


def group_memory(scene: Scene, _recent: Recent, limits: Limits) -> Iterator[Evidence]:
    """Yield the engine's control group that is nearly at its limit."""
    group = scene.look.engine.group if scene.look and scene.look.engine else None
    if group is None or group.used_bytes is None:
        return
    share = group.used_bytes / group.limit_bytes
    if limits.over("share", share):
        yield Evidence(
            where=group.path,
            values={
                "group": group.path,
                "used": bytes_text(group.used_bytes),
                "limit": bytes_text(group.limit_bytes),
            },
            lines=(f"{bytes_text(group.used_bytes)} of {bytes_text(group.limit_bytes)} in use",),
            size=share,
        )


def tier(scene: Scene, recent: Recent, limits: Limits) -> Iterator[Evidence]:
    """Yield a KV tier that is written over and over and never read: below its working set."""
    size = scene.look.intent.cpu_kv_bytes if scene.look else None
    within_s = limits.plain("within_s")
    moved = recent.stored(within_s)
    if not size or moved is None or recent.lasted_s() < within_s * 0.9:
        return
    stored, loaded = moved
    if limits.over("times", stored / size) and limits.under("reuse", loaded / max(stored, 1.0)):
        yield Evidence(
            values={
                "stored": bytes_text(stored),
                "loaded": bytes_text(loaded),
                "size": bytes_text(size),
                "minutes": f"{within_s / 60:.0f}",
            },
            lines=(f"{bytes_text(stored)} stored, {bytes_text(loaded)} loaded back",),
        )


def _flows(scene: Scene, kind: SpillKind) -> Iterator[SpillFlow]:
    return (one for one in scene.tick.spill if one.kind is kind)


def _starves(scene: Scene, recent: Recent, limits: Limits) -> bool:
    """Tell whether requests run and a card is fully used while its memory is hardly read.

    Seen with memory moved out by Windows: utilisation about 100 %, bandwidth about 2 %.
    """
    if not scene.tick.running:
        return False
    for card in scene.cards():
        used = recent.mean(_utilisation(card.index), _SHOWN_S)
        read = recent.mean(_controller(card.index), _SHOWN_S)
        if limits.over("utilisation", used) and limits.under("controller", read):
            return True
    return False


def _holders(scene: Scene) -> list[str]:
    heaviest = scene.look.adapters.heaviest if scene.look and scene.look.adapters else ()
    return [f"Windows process {pid}: {bytes_text(held)} shared" for pid, held in heaviest[:3]]


def _drags(recent: Recent, limits: Limits) -> bool:
    """Tell whether steps take much longer than they did in this run with as many requests."""
    now, best = recent.step_s(), recent.best_step_s()
    return now is not None and best is not None and limits.over("step_times", now / best)


def _signature(scene: Scene, recent: Recent) -> list[str]:
    found = []
    for card in scene.cards():
        used, read = card.utilisation_share, card.controller_share
        if used is not None and read is not None:
            found.append(
                f"card {card.index}: {percent_text(used)} used, its memory {percent_text(read)}"
            )
    return found + _speed_lines(recent)


def _utilisation(index: int) -> Callable[[Tick], float | None]:
    return lambda tick: _of(tick, index, lambda card: card.utilisation_share)


def _controller(index: int) -> Callable[[Tick], float | None]:
    return lambda tick: _of(tick, index, lambda card: card.controller_share)


def _of(tick: Tick, index: int, read: Callable[[CardSample], float | None]) -> float | None:
    return next((read(card) for card in tick.cards or () if card.index == index), None)


def _speed_lines(recent: Recent) -> list[str]:
    found = []
    step, best_step = recent.step_s(), recent.best_step_s()
    if step is not None and best_step is not None and step >= best_step * _SLOWER:
        found.append(
            f"one step takes {step * 1000:.0f} ms, where this run took {best_step * 1000:.0f}"
        )
    now, best = recent.speed(), recent.best_speed()
    if now is not None and best is not None and now * _SLOWER <= best:
        found.append(f"{now:,.0f} tokens/s, read and generated, where this run made {best:,.0f}")
    return found


def _memory_lines(scene: Scene) -> list[str]:
    available, total = _available(scene), scene.tick.memory_bytes
    if available is None or not total:
        return []
    return [f"{bytes_text(available)} of {bytes_text(total)} memory available"]


def _available(scene: Scene) -> int | None:
    if scene.look is not None and scene.look.host is not None:
        return scene.look.host.available_bytes
    total, used = scene.tick.memory_bytes, scene.tick.memory_used_bytes
    return None if total is None or used is None else total - used


def _is_short(scene: Scene, limits: Limits) -> bool:
    available, total = _available(scene), scene.tick.memory_bytes
    if available is not None and total and limits.under("available_share", available / total):
        return True
    return any(
        limits.over("swap_bytes_per_s", one.bytes_per_s) for one in _flows(scene, SpillKind.SWAP)
    )
