"""What shows that the engine has more to do than it can, or died of it, or a disk is full. Pure."""

from collections.abc import Iterator

from studio.domain.units import bytes_text, counted, percent_text
from studio.monitor.alarm_rules import Evidence, Limits
from studio.monitor.scene import Recent, Scene


def preempted(scene: Scene, recent: Recent, limits: Limits) -> Iterator[Evidence]:
    """Yield requests that are thrown out of a full pool, again and again."""
    within_s = limits.plain("within_s")
    count = recent.grown(lambda tick: tick.preemptions, within_s)
    if limits.over("count", count):
        yield Evidence(
            values={
                "count": counted(round(count or 0), "request", "requests"),
                "within": f"{within_s:.0f} s",
            },
            lines=(
                f"{count or 0:,.0f} preemptions in {within_s:.0f} s",
                f"pool {percent_text(scene.tick.pool_used_share)} full",
                f"{_count(scene.tick.running)} running, {_count(scene.tick.waiting)} waiting",
            ),
        )


def waiting(scene: Scene, _recent: Recent, limits: Limits) -> Iterator[Evidence]:
    """Yield requests that wait, and for what.

    Whose blocks come back from the KV tier counts as `deferred` meanwhile (vLLM, v1/core/sched/
    scheduler.py): the tier at work, for as long as bytes come. Seen on a real card: two of three.
    """
    tick = scene.tick
    deferred = (tick.waiting_by_reason or {}).get("deferred") or 0
    held_up = tick.waiting
    if held_up is not None and tick.kv_load_bytes_per_s:
        held_up -= deferred
    if not limits.over("waiting", held_up):
        return
    is_full = limits.over("pool_share", tick.pool_used_share)
    seats = scene.max_num_seqs
    is_seated = seats is not None and tick.running is not None and tick.running >= seats
    # vLLM counts under `capacity` what it could not take up. With seats left, that is the pool:
    # the next one needs more blocks than are free, however many those are (seen at 75 % of 25).
    is_short = not is_seated and bool((tick.waiting_by_reason or {}).get("capacity"))
    reason = "pool" if is_full or is_short else "seats" if is_seated else "other"
    put_off = "the engine puts them off: they wait for blocks from a KV tier, or for a grammar"
    share = percent_text(tick.pool_used_share)
    short = f"the pool is {share} full, and the next one does not fit"
    reasons = {
        "pool": f"the pool is {share} full" if is_full else short,
        "seats": f"all {seats} seats are taken (`max_num_seqs`)",
        "other": put_off if deferred else "the engine has not taken them up",
    }
    yield Evidence(
        values={
            "waiting": counted(held_up or 0, "request", "requests"),
            "why": reasons[reason],
            "seats": str(seats),
        },
        lines=(
            f"{_count(tick.waiting)} waiting, {_count(tick.running)} running",
            f"pool {percent_text(tick.pool_used_share)} full",
        ),
        flags=frozenset((reason,)),
        size=float(held_up or 0),
    )


def disks(scene: Scene, _recent: Recent, limits: Limits) -> Iterator[Evidence]:
    """Yield each disk of ours that is nearly full; a small one by its share, a large by bytes."""
    for disk in scene.disks:
        share = disk.free_bytes / max(disk.total_bytes, 1)
        free, total = bytes_text(disk.free_bytes), bytes_text(disk.total_bytes)
        if limits.under("bytes", disk.free_bytes) and limits.under("share", share):
            yield Evidence(
                where=disk.holds,
                values={
                    "holds": disk.holds,
                    "mount": disk.mount,
                    "free": free,
                    "total": total,
                },
                lines=(f"{disk.mount}: {free} of {total} free",),
                size=1 - share,
            )


def died(scene: Scene, _recent: Recent, _limits: Limits) -> Iterator[Evidence]:
    """Yield an engine that died and does not serve again yet."""
    if scene.death is not None:
        yield Evidence(values={"cause": scene.death}, lines=(scene.death,))


def slower(scene: Scene, _recent: Recent, limits: Limits) -> Iterator[Evidence]:
    """Yield an engine far below its preset's published figure."""
    if scene.slower is not None and limits.under("share", scene.slower.share):
        yield Evidence(
            values={
                "share": percent_text(scene.slower.share),
                "sentence": scene.slower.sentence,
            },
            lines=(scene.slower.sentence,),
            size=1 - scene.slower.share,
        )


def _count(value: int | None) -> str:
    return "an unknown number of" if value is None else f"{value:,}"
