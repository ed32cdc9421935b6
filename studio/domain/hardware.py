"""What this machine is. `None` means not known; nothing here is ever guessed.

Sizes are bytes unless a name says otherwise. A limit of `UNLIMITED` is no limit.
"""

import enum

import msgspec

UNLIMITED = -1
"""A limit that is none."""


class GpuProcess(msgspec.Struct, frozen=True, kw_only=True):
    """A process that holds memory of a card."""

    pid: int
    name: str | None = None
    """None: the process belongs to somebody else, or to another container."""
    bytes: int | None = None
    """What it holds; WSL and Windows do not say."""
    is_graphics: bool = False
    """Draws (a desktop, a browser) and does not compute."""


class MigDevice(msgspec.Struct, frozen=True, kw_only=True):
    """One slice of a card that is split by MIG."""

    name: str | None = None
    uuid: str | None = None
    total_bytes: int | None = None


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """One NVIDIA card with memory of its own, as the driver reports it."""

    index: int
    """Position in PCI bus order, as NVML counts."""
    name: str
    uuid: str | None = None
    compute_capability: str | None = None
    total_bytes: int | None = None
    """All of it, with what the driver keeps for itself."""
    free_bytes: int | None = None
    used_bytes: int | None = None
    reserved_bytes: int | None = None
    """What the driver keeps for itself; never free for anybody."""
    processes: tuple[GpuProcess, ...] | None = None
    """Who holds memory; None: the driver does not say (WSL)."""
    pci_bus_id: str | None = None
    pcie_generation: int | None = None
    """Of the link as it is now; a card at rest lowers it."""
    pcie_generation_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    power_limit_w: float | None = None
    power_default_w: float | None = None
    power_max_w: float | None = None
    temperature_c: int | None = None
    slowdown_temperature_c: int | None = None
    throttle_reasons: tuple[str, ...] | None = None
    """Why its clocks are lowered now, by name (`sw-power-cap`, `hw-thermal-slowdown`, …); empty:
    they are not."""
    memory_clock_mhz: int | None = None
    memory_clock_max_mhz: int | None = None
    memory_bus_bits: int | None = None
    display_attached: bool | None = None
    display_active: bool | None = None
    """A desktop is drawn on it."""
    is_integrated: bool | None = None
    """Shares the memory of the machine. Such chips are in `adapters`, never in `gpus`."""
    is_wddm: bool | None = None
    """Windows manages its memory, and moves what is too much into the machine's (spill)."""
    ecc_enabled: bool | None = None
    mig_enabled: bool | None = None
    mig_devices: tuple[MigDevice, ...] = ()
    compute_mode: str | None = None
    """`default`, `exclusive-process` or `prohibited`."""
    faults: tuple[str, ...] = ()
    """What the driver failed to answer, in its own words; not: what it does not support."""

    @property
    def usable_bytes(self) -> int | None:
        """Return what CUDA calls the total: all but what the driver keeps.

        Recorded on an H200: 143,771 MiB less 616 MiB reserved are the 139.80 GiB in vLLM's log.
        """
        if self.total_bytes is None:
            return None
        return self.total_bytes - (self.reserved_bytes or 0)


class LinkKind(enum.StrEnum):
    """The shortest way between two cards, nearest first."""

    NVLINK = "nvlink"
    SAME_BOARD = "same-board"
    SWITCH = "pcie-switch"
    SWITCHES = "pcie-switches"
    HOST_BRIDGE = "host-bridge"
    NODE = "numa-node"
    SYSTEM = "between-processors"


class GpuLink(msgspec.Struct, frozen=True, kw_only=True):
    """How two cards reach each other."""

    first: int
    second: int
    kind: LinkKind | None = None
    nvlinks: int | None = None
    """Bonded NVLinks; 0: none."""
    peer: bool | None = None
    """Whether each may read the other's memory."""


class Adapter(msgspec.Struct, frozen=True, kw_only=True):
    """Something else that draws or computes: an integrated chip, a card of another maker."""

    name: str
    vendor: str | None = None
    """`nvidia`, `amd`, `intel`, or the PCI vendor's number."""
    pci_bus_id: str | None = None
    is_integrated: bool | None = None
    compute_capability: str | None = None


class DiskKind(enum.StrEnum):
    """How fast a disk may be expected to be."""

    NVME = "nvme"
    SSD = "ssd"
    ROTATIONAL = "rotational"
    NETWORK = "network"
    MEMORY = "memory"
    VIRTUAL = "virtual"
    """A disk of a virtual machine: what lies behind it is not said."""


class Disk(msgspec.Struct, frozen=True, kw_only=True):
    """The file system that holds something of ours."""

    holds: tuple[str, ...]
    """`home`, `runtimes`, `models`, `cache`."""
    mount: str | None = None
    file_system: str | None = None
    kind: DiskKind | None = None
    total_bytes: int | None = None
    free_bytes: int | None = None
    is_windows_mount: bool | None = None
    """A Windows disk seen from WSL: slow with many small files, and without Unix rights."""
    is_writable: bool | None = None


class WslFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The Windows Subsystem for Linux around us; `config_` fields are what `.wslconfig` says."""

    version: int | None = None
    """1 (no card, no real kernel) or 2."""
    distribution: str | None = None
    networking_mode: str | None = None
    """`nat`, `mirrored`, `virtioproxy`, `none`."""
    has_config: bool | None = None
    """Whether `.wslconfig` exists; None: it could not be looked for."""
    config_memory_bytes: int | None = None
    config_swap_bytes: int | None = None
    config_processors: int | None = None
    config_networking_mode: str | None = None
    config_faults: tuple[str, ...] = ()
    """Lines of `.wslconfig` that say nothing WSL understands."""
    has_linux_driver: bool | None = None
    """A Linux driver was installed inside WSL, which shadows the one that Windows lends."""


class ContainerFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The container around us."""

    kind: str
    """`docker`, `podman`, `lxc`, `kubernetes`, `systemd-nspawn`, `other`; `control-group` is no
    container, only a limit that somebody set."""
    memory_limit_bytes: int | None = None
    """By its control group; `UNLIMITED`: none."""
    cpu_limit: float | None = None
    """In processors; `UNLIMITED`: none."""


class ProcessLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What the operating system allows each process of ours: `ulimit`."""

    open_files: int | None = None
    open_files_hard: int | None = None
    locked_bytes: int | None = None
    locked_bytes_hard: int | None = None
    core_bytes: int | None = None
    """How much of a program that crashed is written to the disk."""
    core_pattern: str | None = None
    """Where to; beginning with `|`: to a program that keeps order."""


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A program on the PATH."""

    path: str
    version: str | None = None


class Toolchain(msgspec.Struct, frozen=True, kw_only=True):
    """Compilers. None: looked for and not there; `HostSnapshot.toolchain` None: not looked for."""

    nvcc: Program | None = None
    compiler: Program | None = None
    ninja: Program | None = None
    cuda_home: str | None = None
    """The environment's CUDA_HOME (or CUDA_PATH)."""


class ClockFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the machine's time can be right. Moments are ISO 8601 in UTC."""

    now: str
    not_before: str | None = None
    """When the newest file of this program was made: an earlier `now` is wrong."""
    is_synchronized: bool | None = None
    """Whether the kernel says that a time server keeps it."""


class HostSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One instant of the host; sizes in bytes."""

    system: str
    machine: str
    os_name: str
    kernel: str | None = None
    glibc: str | None = None
    is_wsl: bool = False
    wsl: WslFacts | None = None
    """None: not WSL, or nothing but `is_wsl` is known."""
    container: ContainerFacts | None = None
    """None: none was found."""
    cpu_name: str | None = None
    cpu_count: int | None = None
    """Threads that this process may use."""
    cpu_cores: int | None = None
    """Physical ones of the whole machine."""
    cpu_flags: tuple[str, ...] | None = None
    """Those that decide how fast an engine computes: `avx2`, `avx512f`, `amx_tile`, …"""
    memory_bytes: int | None = None
    memory_free_bytes: int | None = None
    swap_bytes: int | None = None
    swap_free_bytes: int | None = None
    shm_bytes: int | None = None
    """Size of `/dev/shm`."""
    shm_free_bytes: int | None = None
    disk_free_bytes: int | None = None
    """Of the disk that holds the Studio's folder."""
    disks: tuple[Disk, ...] = ()
    limits: ProcessLimits | None = None
    toolchain: Toolchain | None = None
    clock: ClockFacts | None = None
    locale: str | None = None
    """For example `C.UTF-8`; text encoding after the dot."""
    driver: str | None = None
    cuda_version: str | None = None
    """The newest CUDA that the driver knows, for example `13.0`."""
    gpus: tuple[Gpu, ...] = ()
    gpu_source: str | None = None
    """Who told of the cards: `nvml` or `nvidia-smi`."""
    gpu_note: str | None = None
    """Why no card is listed, in words, when none is."""
    gpu_fault: str | None = None
    """The same for a program: `no-driver`, `not-loaded`, `version-mismatch`, `no-answer`,
    `no-card`, `no-sense` (nvidia-smi was not understood) or `other`."""
    gpu_links: tuple[GpuLink, ...] = ()
    """One for each pair of cards."""
    adapters: tuple[Adapter, ...] = ()
    """What else draws or computes; its memory is the machine's and is counted nowhere."""

    @property
    def platform(self) -> str:
        """Return the platform key that recipes use, for example `linux-x86_64`."""
        return f"{self.system}-{self.machine}"

    @property
    def available_memory_bytes(self) -> int | None:
        """Return the memory that may be used at most: the container's limit, else all."""
        limit = self.container.memory_limit_bytes if self.container else None
        known = [one for one in (self.memory_bytes, limit) if one is not None and one >= 0]
        return min(known, default=None)

    def link(self, first: int, second: int) -> GpuLink | None:
        """Return how two cards reach each other, None when that is not known."""
        wanted = {first, second}
        return next((one for one in self.gpu_links if {one.first, one.second} == wanted), None)
