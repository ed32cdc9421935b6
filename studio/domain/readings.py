"""What the operating system says about memory in one instant. `None` means not known, never zero.

Counters are cumulative since the machine, the control group or the process began; bytes unless a
name says otherwise.
"""

import msgspec

PAGE_BYTES = 4096
"""What `/proc/vmstat` counts in, on every machine that an engine runs on."""


class Pressure(msgspec.Struct, frozen=True, kw_only=True):
    """How much time was lost waiting for memory (PSI); shares of the last ten seconds, 0 to 1."""

    some: float
    """At least one task waited."""
    full: float | None = None
    """All of them waited: nothing got done."""


class HostReading(msgspec.Struct, frozen=True, kw_only=True):
    """The whole machine's memory."""

    available_bytes: int | None = None
    """What programs can still get without swapping."""
    swapped_in_bytes: int | None = None
    """Counter."""
    swapped_out_bytes: int | None = None
    """Counter."""
    swap_bytes: int | None = None
    """How much swap there is; 0: none."""
    refault_bytes: int | None = None
    """Counter: pages of files that were thrown out and soon read again."""
    pressure: Pressure | None = None


class GroupReading(msgspec.Struct, frozen=True, kw_only=True):
    """The tightest limited control group around the engine."""

    path: str
    limit_bytes: int
    used_bytes: int | None = None
    """Without files that can be thrown out at any time."""
    swap_bytes: int | None = None
    limit_hits: int | None = None
    """Counter: how often it was held at its limit."""
    kills: int | None = None
    """Counter: processes that the kernel ended for want of memory."""
    refault_bytes: int | None = None
    """Counter."""
    pressure: Pressure | None = None
    """Only the second version of control groups tells."""


class EngineReading(msgspec.Struct, frozen=True, kw_only=True):
    """The engine's processes together."""

    pids: frozenset[int]
    swap_bytes: int | None = None
    shared_bytes: int | None = None
    """Shared memory (arenas that several processes map); the largest, for all map the same."""
    major_faults: int | None = None
    """Counter: pages that had to be read from a disk."""
    disk_read_bytes: int | None = None
    """Counter: what really came from disks."""
    group: GroupReading | None = None
    """None: no limited control group."""


class AdapterReading(msgspec.Struct, frozen=True, kw_only=True):
    """One graphics adapter as Windows counts it."""

    luid: str
    """Windows' name for it until the next restart: `0x00000000_0x0000d3f5`."""
    name: str | None = None
    shared_bytes: int
    """What of its memory lies in the machine's."""
    dedicated_bytes: int | None = None
    total_bytes: int | None = None
    """Its own memory."""
    is_nvidia: bool | None = None


class AdapterReadings(msgspec.Struct, frozen=True, kw_only=True):
    """What Windows said last; where it says nothing, `note` says why."""

    at_s: float | None = None
    """On the monotonic clock; None: nothing was said yet."""
    adapters: tuple[AdapterReading, ...] = ()
    heaviest: tuple[tuple[int, int], ...] = ()
    """Windows process id and its shared bytes, the most first."""
    note: str | None = None


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine was told to keep or fetch beside the cards; of an adopted one nothing."""

    cpu_kv_bytes: int | None = None
    """Size of the KV tier in host memory; None: there is none."""
    has_host_kv: bool = False
    has_expert_ring: bool = False
    has_ple_disk: bool = False
    has_sm70_paths: bool = False
    """It tells which of the V100's fast paths run."""
    uses_cards: bool = False


class PathReport(msgspec.Struct, frozen=True, kw_only=True):
    """Fast paths of the V100 engine that were expected and do not run, each with the reason."""

    failed: tuple[tuple[str, str | None], ...] = ()
    note: str | None = None
    """Why it is not known."""


class SpillLook(msgspec.Struct, frozen=True, kw_only=True):
    """All that is looked at for the spill of one second."""

    at: float
    """Seconds since the epoch."""
    monotonic_s: float
    """What rates are divided by."""
    is_running: bool = False
    """The engine's processes exist."""
    is_linux: bool = True
    host: HostReading | None = None
    engine: EngineReading | None = None
    adapters: AdapterReadings | None = None
    """None: Windows is not around us."""
    intent: Intent = Intent()
    paths: PathReport | None = None
    """None: this engine has no such paths."""
    stored_bytes: float | None = None
    """Counter: into the KV tier."""
    loaded_bytes: float | None = None
    """Counter: back from it."""
    link_bytes_per_s: float | None = None
    """What the engine's cards receive over their links."""
