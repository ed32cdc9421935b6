"""The Studio's own Linux inside Windows: how far its setup is, and what is to do next."""

import enum

import msgspec

from studio.domain.errors import ErrorInfo
from studio.domain.readings import AdapterReadings

DISTRIBUTION = "weir-studio"
"""As WSL knows it."""
REBOOT_REQUIRED = 3010
"""ERROR_SUCCESS_REBOOT_REQUIRED, the exit status of installers of Windows."""


class WslStep(enum.StrEnum):
    """What stands between this machine and an answer, in order."""

    NOT_WINDOWS = "not-windows"
    FIRMWARE = "firmware"
    """A person has to switch virtualization on."""
    INSTALL = "install"
    """WSL itself: wants the administrator's yes."""
    RESTART = "restart"
    """It was installed; Windows has to be started anew."""
    UPDATE = "update"
    IMPORT = "import"
    """The Studio's Linux."""
    START = "start"
    """Its service."""
    READY = "ready"
    REFUSED = "refused"
    """See `problem`."""


class WslFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was found out without reading a translated word."""

    is_windows: bool
    means: str | None = None
    """What the error of `wsl --status` means, by `runtimes/wsl.toml`; None: there was none."""
    has_program: bool = True
    version: tuple[int, ...] | None = None
    """None: `wsl --version` is not known to it, so it is the old one that came with Windows."""
    is_imported: bool = False
    is_waiting_for_restart: bool = False
    is_serving: bool = False


class WslReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything there is to say about it."""

    schema_version: int = 1
    step: WslStep
    version: str | None = None
    distributions: tuple[str, ...] = ()
    """All that WSL knows; others than ours are not touched."""
    disk: str | None = None
    disk_bytes: int | None = None
    """What the disk image takes; it grows and does not shrink by itself."""
    disk_was_bytes: int | None = None
    """What it took before it was compacted just now; None: nothing was."""
    is_compacting: bool = False
    """It is being made smaller: until that is over, nothing is asked inside or started there."""
    importing_bytes: int | None = None
    """While the Studio's Linux is being unpacked and imported: what of it is written by now."""
    networking: str | None = None
    address: str | None = None
    """Where the service's control port was reached from Windows."""
    inside_version: str | None = None
    """Of the service that runs inside; None: none runs."""
    is_inside_older: bool = False
    """Whether it is older than this program: the next start of the service brings it along."""
    is_reachable: bool | None = None
    """Whether localhost of Windows reaches it; None: nothing runs to be reached."""
    config: tuple[str, ...] = ()
    """Lines that are proposed for `.wslconfig`; none: it is well as it is."""
    config_change: tuple[str, ...] = ()
    """What writing them (or the memory that was asked about) would change there, as a diff."""
    config_file: str | None = None
    config_preset: str | None = None
    """The preset that the proposal is for; None: none was named yet."""
    lan: tuple[str, ...] = ()
    """Commands, for the administrator, with which other machines reach the gateway."""
    is_lan_open: bool = False
    """Whether we ran them."""
    is_lan_stale: bool = False
    """They were run for an address that the Linux no longer has: they have to be run again."""
    lan_gateway: tuple[str, ...] = ()
    """What the gateway has to be told once, so that it answers to other machines."""
    lan_hosts: tuple[str, ...] = ()
    """The names and addresses among it, of this PC: its Linux cannot know them."""
    memory: AdapterReadings | None = None
    """What the graphics adapters hold, as Windows counts it; None: this is no Windows."""
    firmware: str | None = None
    problem: ErrorInfo | None = None


class WslSetupRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far to go."""

    consent: bool = False
    """The person agreed that Windows asks for the administrator."""
    rootfs: str | None = None
    """Root file system to import; None: the one that came along."""


class WslConfigRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to write into `.wslconfig`."""

    memory_bytes: int | None = None
    """None: as proposed."""
    preset: str | None = None
    """What is to be served; it is kept, and later proposals are for it."""
    needed_bytes: int | None = None
    """What the planner says that `preset` takes of the machine's memory."""
    write: bool = True
    """Whether the file is written; else only the preset is kept."""


class WslLanRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether other machines may reach the gateway."""

    is_open: bool
    consent: bool = False
    """The person agreed that Windows asks for the administrator."""


class WslContents(msgspec.Struct, frozen=True, kw_only=True):
    """What would be lost with the Studio's Linux."""

    disk_bytes: int | None = None
    lines: tuple[str, ...] = ()
    """Folders in it with their sizes."""
    removed: bool = False


class WslRemoveRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether it is really to go."""

    consent: bool = False


def next_step(facts: WslFacts) -> WslStep:
    """Return what is to do next."""
    if not facts.is_windows:
        return WslStep.NOT_WINDOWS
    if facts.is_waiting_for_restart:
        return WslStep.RESTART
    if not facts.has_program:
        return WslStep.INSTALL
    if facts.means in ("firmware", "install", "restart", "update", "refused"):
        return WslStep(facts.means)
    if facts.means == "retry":
        return WslStep.REFUSED
    if facts.version is None:
        return WslStep.UPDATE
    if not facts.is_imported:
        return WslStep.IMPORT
    return WslStep.READY if facts.is_serving else WslStep.START
