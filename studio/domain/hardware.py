"""What this machine is. `None` means not known; nothing here is ever guessed."""

import msgspec


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """One NVIDIA card as the driver reports it; memory in bytes."""

    index: int
    name: str
    uuid: str | None = None
    compute_capability: str | None = None
    total_bytes: int | None = None
    free_bytes: int | None = None


class HostSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One instant of the host; sizes in bytes."""

    system: str
    machine: str
    os_name: str
    glibc: str | None = None
    is_wsl: bool = False
    cpu_name: str | None = None
    cpu_count: int | None = None
    memory_bytes: int | None = None
    memory_free_bytes: int | None = None
    disk_free_bytes: int | None = None
    driver: str | None = None
    gpus: tuple[Gpu, ...] = ()
    gpu_note: str | None = None
    """Why no card is listed, in words, when none is."""

    @property
    def platform(self) -> str:
        """Return the platform key that recipes use, for example `linux-x86_64`."""
        return f"{self.system}-{self.machine}"
