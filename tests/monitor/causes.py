"""What is wrong, second by second, for every alarm; and the twin that looks alike and is well."""

import msgspec

from studio.domain.hardware import GpuProcess
from studio.domain.readings import Intent, PathReport, Pressure
from studio.domain.units import GIB, MIB
from studio.monitor.scene import DiskRoom, Slower
from tests.monitor.scenes import (
    CARD,
    ENGINE,
    GROUP,
    HOST,
    TICK,
    Change,
    Film,
    Second,
    windows,
)

BOOTED_S = 12


def swapped(bytes_: int, *, rate: int = 0) -> Change:
    """Return seconds in which so much of the engine lies in swap."""

    def change(second: Second, number: int) -> None:
        second.engine = msgspec.structs.replace(ENGINE, swap_bytes=bytes_)
        second.host = msgspec.structs.replace(HOST, swapped_out_bytes=rate * number)

    return change


def spilling(shared_bytes: int, *, utilisation: float = 0.97, controller: float = 0.6) -> Change:
    """Return seconds in which Windows counts so much as shared."""

    def change(second: Second, number: int) -> None:
        second.adapters = windows(shared_bytes)
        second.card(utilisation_share=utilisation, controller_share=controller)

    return change


def thrashing(read: int, refaulted: int, faults: int) -> Change:
    """Return seconds in which the engine reads so many bytes from mapped files."""

    def change(second: Second, number: int) -> None:
        second.engine = msgspec.structs.replace(
            ENGINE, disk_read_bytes=GIB + read * number, major_faults=50 + faults * number
        )
        second.host = msgspec.structs.replace(HOST, refault_bytes=refaulted * number)

    return change


def pressed(some: float, available: int, swap_rate: int = 0) -> Change:
    """Return seconds in which the machine waits for memory."""

    def change(second: Second, number: int) -> None:
        second.host = msgspec.structs.replace(
            HOST,
            pressure=Pressure(some=some, full=some / 2),
            available_bytes=available,
            swapped_in_bytes=swap_rate * number,
            swapped_out_bytes=0,
        )

    return change


def limited(used: int, some: float = 0.0) -> Change:
    """Return seconds in a control group."""

    def change(second: Second, number: int) -> None:
        group = msgspec.structs.replace(
            GROUP, used_bytes=used, pressure=Pressure(some=some, full=0.0)
        )
        second.engine = msgspec.structs.replace(ENGINE, group=group)

    return change


def on_card(**changes: object) -> Change:
    """Return seconds in which the card is as said."""
    return lambda second, _number: second.card(**changes)


def with_tick(**changes: object) -> Change:
    """Return seconds with such figures."""

    def change(second: Second, _number: int) -> None:
        second.tick = msgspec.structs.replace(TICK, **changes)

    return change


def with_scene(**fields: object) -> Change:
    """Return seconds of such a scene."""

    def change(second: Second, _number: int) -> None:
        second.more = fields

    return change


def preempting(a_second: float) -> Change:
    """Return seconds in which requests are thrown out of the pool."""

    def change(second: Second, number: int) -> None:
        second.tick = msgspec.structs.replace(
            TICK, preemptions=int(a_second * number), pool_used_share=0.99
        )

    return change


def tiered(stored: float, loaded: float) -> Change:
    """Return seconds in which so much goes into a KV tier of 4 GiB, and comes back."""

    def change(second: Second, number: int) -> None:
        second.intent = Intent(uses_cards=True, cpu_kv_bytes=4 * GIB)
        second.stored_bytes, second.loaded_bytes = stored * number, loaded * number

    return change


def paths(*failed: tuple[str, str | None]) -> Change:
    """Return seconds in which the V100 engine tells of its fast paths."""

    def change(second: Second, _number: int) -> None:
        second.paths = PathReport(failed=failed)

    return change


def shared_card(others: int) -> Change:
    """Return seconds in which somebody else takes memory of the card, from the fifth on."""

    def change(second: Second, number: int) -> None:
        assert CARD.processes is not None
        guest = GpuProcess(pid=900, name="blender", bytes=others if number >= 5 else 200 * MIB)
        second.card(processes=(*CARD.processes, guest))

    return change


def room(free: int, total: int) -> Change:
    """Return seconds with such a disk."""
    return with_scene(
        disks=(DiskRoom(holds="models", mount="/data", free_bytes=free, total_bytes=total),)
    )


# What is wrong, how long it is played, and the twin that looks alike and is well.
CASES: dict[str, tuple[Change, int, Change]] = {
    "spill-wddm": (spilling(1_900_000_000), 6, spilling(120_000_000)),
    "spill-swap": (swapped(900 * MIB), 6, swapped(20 * MIB)),
    "memory-pressure": (pressed(0.4, GIB), 6, pressed(0.4, 20 * GIB)),
    "page-thrash": (
        thrashing(60 * MIB, 55 * MIB, 900),
        8,
        thrashing(60 * MIB, 0, 900),
    ),
    "slow-path-failed": (paths(("batch_gemm", "library missing")), 2, paths()),
    "kv-tier-unused": (tiered(60 * MIB, 0.0), 340, tiered(60 * MIB, 8 * MIB)),
    "host-memory-low": (pressed(0.0, GIB), 6, pressed(0.0, 4 * GIB)),
    "memory-limit-near": (limited(15_700 * MIB), 6, limited(12 * GIB)),
    "disk-nearly-full": (room(GIB, 900 * GIB), 2, room(30 * GIB, 900 * GIB)),
    "card-lost": (
        on_card(is_lost=True, faults=("GPU is lost",)),
        2,
        on_card(faults=("Not Supported",)),
    ),
    "throttled-heat": (
        on_card(throttle=("hw-thermal-slowdown",), sm_clock_mhz=900, temperature_c=93),
        25,
        on_card(throttle=("sw-power-cap",), sm_clock_mhz=1_700),
    ),
    "throttled-power": (
        on_card(throttle=("hw-power-brake",), sm_clock_mhz=700),
        15,
        on_card(throttle=("sw-power-cap",)),
    ),
    "ecc-uncorrected": (on_card(ecc_uncorrected=3), 2, on_card(ecc_uncorrected=None)),
    "card-memory-taken": (shared_card(3 * GIB), 15, shared_card(300 * MIB)),
    "pool-too-small": (preempting(0.5), 30, preempting(0.03)),
    "requests-waiting": (
        with_tick(waiting=3, running=4),
        40,
        lambda second, number: with_tick(waiting=3 if number % 20 < 15 else 0)(second, number),
    ),
    "engine-died": (with_scene(death="The engine was killed."), 2, with_scene(death=None)),
    "slower-than-published": (
        with_scene(slower=Slower(sentence="45 of 130 tok/s.", share=0.35)),
        40,
        with_scene(slower=Slower(sentence="120 of 130 tok/s.", share=0.92)),
    ),
}


def booted() -> Film:
    """Return a film of an engine that has served well for a while, with a known baseline."""
    film = Film(idle_s=5, adapters=windows(86_000_000))
    film.play(BOOTED_S, spilling(86_000_000))
    assert film.told == []
    return film
