"""The Studio's own Linux inside Windows: found or set up, a step at a time, also over a restart.

Runs on Windows, beside the native window; `host/wsl_exe.py` asks, `domain/wsl.py` decides. Nothing
of a person's is changed unasked: WSL is installed with the administrator's yes, `.wslconfig` is
written with a copy of the old one, and what is lost with the distribution is said before.
"""

import asyncio
import os
import shutil
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import msgspec
import psutil

from studio import __version__
from studio.app import wsl_lan, wsl_rootfs
from studio.app.update_watch import Watched
from studio.app.wsl_lan import Elevate, WslLan
from studio.app.wsl_memory import Record, WslMemory
from studio.app.wsl_renew import Renewal
from studio.app.wsl_resume import Resume
from studio.app.wsl_turn import WslTurn
from studio.domain.errors import (
    ErrorInfo,
    HostLacks,
    NeedsConsent,
    NotFound,
    StudioError,
)
from studio.domain.self_update import is_newer
from studio.domain.wsl import (
    DISTRIBUTION,
    REBOOT_REQUIRED,
    WslConfigRequest,
    WslContents,
    WslFacts,
    WslLanRequest,
    WslRemoveRequest,
    WslReport,
    WslSetupRequest,
    WslStep,
    next_step,
)
from studio.host import adapter_pdh, addresses, elevated, lxss, processes, synced
from studio.host.documents import read_toml
from studio.host.paths import Paths, bundled_root
from studio.host.registry import Registry
from studio.host.wsl_exe import Answer, WslExe, missing

USER = "weir"
"""The user that the service runs as, inside."""
ROOTFS = "weir-studio-rootfs.tar.xz"
_FOLDER = "/home/weir/.local/share/weir-studio"
_BOOT_SLACK_S = 60.0
_CLOCK_SLACK_S = 2.0
"""When a process was started is told anew when the clock is set."""
_REACH_S = 2.0
_DU_S = 120.0
_MODES = frozenset(("nat", "mirrored", "virtioproxy", "bridged", "none"))


class Cause(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row of `runtimes/wsl.toml`."""

    codes: tuple[str, ...]
    means: str
    cause: str
    hint: str | None = None


class Causes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`runtimes/wsl.toml`."""

    schema_version: int
    error: tuple[Cause, ...]
    firmware: dict[str, str]

    def of(self, answer: Answer) -> Cause | None:
        """Return what an answer's codes mean; the first that is known."""
        for code in answer.codes:
            for row in self.error:
                if code in row.codes:
                    return row
        return None


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """Where the service inside listens."""

    port: Annotated[int, msgspec.Meta(ge=1, le=65_535)]
    token: str
    version: str | None = None


class WslSetup:
    """The setup of one Windows user."""

    def __init__(
        self,
        paths: Paths,
        *,
        exe: WslExe | None = None,
        environ: Mapping[str, str] = os.environ,
        is_windows: bool = sys.platform == "win32",
        boot_at: Callable[[], float] = psutil.boot_time,
        total_bytes: Callable[[], int] = lambda: int(psutil.virtual_memory().total),
        registry: Registry | None = None,
        elevate: Elevate = elevated.run,
        program: str | None = None,
    ) -> None:
        self._paths = paths
        self._exe = exe or WslExe(environ)
        self._environ = environ
        self._is_windows = is_windows
        self._boot_at = boot_at
        self._record = Record(paths.home)
        self._memory = WslMemory(self._record, environ, total_bytes)
        registry = registry or Registry()
        self._registry = registry
        self._lan_way = WslLan(registry, elevate)
        self._resume = Resume(registry, program)
        self._folder = paths.home / "wsl"

    async def report(self) -> WslReport:
        """Return how far it is. Raises: BadInput (`document-invalid`)."""
        facts, status, names, service = await self._facts()
        step = next_step(facts)
        found = WslReport(
            step=step,
            version=".".join(str(part) for part in facts.version) if facts.version else None,
            distributions=names,
            problem=self._problem(step, status),
            firmware=self._firmware() if step is WslStep.FIRMWARE else None,
            memory=await asyncio.to_thread(adapter_pdh.look) if facts.is_windows else None,
            importing_bytes=None
            if facts.is_imported
            else wsl_rootfs.written_bytes(self._paths.home, self._folder),
        )
        if not facts.is_windows:
            return found
        # Windows' own file, whatever becomes of the Linux.
        found = msgspec.structs.replace(
            found,
            config=self._memory.lines(),
            config_change=self._memory.change(),
            config_file=str(self._memory.file),
            config_preset=self._memory.preset,
        )
        if not facts.is_imported:
            return found
        disk = await asyncio.to_thread(self._disk)
        if await asyncio.to_thread(self.is_compacting):
            return msgspec.structs.replace(found, disk=str(disk), is_compacting=True)
        mode = await self._mode()
        lan = await self._lan(mode)
        return msgspec.structs.replace(
            found,
            disk=str(disk),
            disk_bytes=disk.stat().st_size if disk.is_file() else None,
            networking=mode,
            address=f"127.0.0.1:{service.port}" if service is not None else None,
            inside_version=service.version if service is not None else None,
            is_inside_older=is_newer(__version__, (service and service.version) or __version__),
            is_reachable=None if service is None else await asyncio.to_thread(_reached, service),
            lan=lan,
            is_lan_open=self._lan_way.is_open,
            is_lan_stale=self._lan_way.is_stale(lan),
            lan_gateway=await asyncio.to_thread(_of_gateway, wsl_lan.gateway_commands, lan),
            lan_hosts=await asyncio.to_thread(_of_gateway, wsl_lan.gateway_hosts, lan),
        )

    async def setup(self, request: WslSetupRequest) -> WslReport:
        """Take the next step; returns what is then to do.

        Raises: NeedsConsent (`wsl-elevation`), HostLacks (`wsl-…`), NotFound (`rootfs-missing`).
        """
        report = await self.report()
        if report.step not in (WslStep.INSTALL, WslStep.RESTART):
            await asyncio.to_thread(self._resume.forget)
        match report.step:
            case WslStep.INSTALL:
                await self._install(request)
            case WslStep.UPDATE:
                self._require(await self._exe.update(), "WSL could not be updated")
            case WslStep.IMPORT:
                await self._import(request)
            case _:
                return report
        return await self.report()

    async def configure(self, request: WslConfigRequest) -> WslReport:
        """Write a memory into `.wslconfig`; the file as it was stays beside it.

        Raises: HostLacks (`not-writable`).
        """
        await asyncio.to_thread(self._memory.take, request)
        found = await self.report()
        if request.write or request.memory_bytes is None:
            return found
        change = self._memory.change(request.memory_bytes)
        return msgspec.structs.replace(found, config_change=change)

    async def lan(self, request: WslLanRequest) -> WslReport:
        """Let other machines reach the gateway, or no longer.

        Raises: NeedsConsent (`wsl-elevation`), HostLacks (`wsl-lan-…`).
        """
        opening = await self._lan(await self._mode()) if request.is_open else ()
        await self._lan_way.change(request, opening)
        return await self.report()

    async def compact(self) -> WslReport:
        """Give back what the disk image does not use; what runs in the Linux ends.

        Raises: HostLacks (`wsl-not-compacted`, `wsl-compact-slow`, `wsl-compacting`,
            `not-writable`).
        """
        if await asyncio.to_thread(self.is_compacting):
            raise compacting()
        disk = await asyncio.to_thread(self._disk)
        before = disk.stat().st_size if disk.is_file() else None
        with self._record.compacting():
            trim = ("/sbin/fstrim", "/")
            await self._exe.inside(DISTRIBUTION, *trim, user="root", within_s=_DU_S)
            await self._exe.terminate(DISTRIBUTION)
            answer = await self._exe.compact(DISTRIBUTION)
        if answer.status is None:
            raise HostLacks(
                "wsl-compact-slow",
                "WSL has not made the disk image smaller within 15 minutes; it may still be at it.",
                hint="Nothing in it is lost. Try again later.",
            )
        if not answer.is_good:
            raise HostLacks(
                "wsl-not-compacted",
                "This WSL cannot compact a disk image by itself.",
                hint="As administrator: `wsl --shutdown`, then in `diskpart`: "
                f'`select vdisk file="{disk}"`, `compact vdisk`.',
                evidence=answer.codes,
            )
        return msgspec.structs.replace(await self.report(), disk_was_bytes=before)

    async def remove(self, request: WslRemoveRequest) -> WslContents:
        """Say what is in it; with a yes, let WSL forget it.

        Raises: NotFound (`wsl-not-imported`), HostLacks (`wsl-…`).
        """
        if DISTRIBUTION not in await self._names():
            raise NotFound("wsl-not-imported", "The Studio's Linux is not registered with WSL.")
        disk = await asyncio.to_thread(self._disk)
        size = disk.stat().st_size if disk.is_file() else None
        folders = ("models", "runtimes", "store", "cache")
        inside = await self._exe.inside(
            DISTRIBUTION, "du", "-sh", *(f"{_FOLDER}/{name}" for name in folders), within_s=_DU_S
        )
        lines = tuple(line for line in inside.text.splitlines() if line.count("\t") == 1)
        if request.consent:
            self._require(await self._exe.unregister(DISTRIBUTION), "It could not be removed")
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
            self._record.path.unlink(missing_ok=True)
            self._resume.forget()
        return WslContents(disk_bytes=size, lines=lines, removed=request.consent)

    def has_linux(self) -> bool:
        """Tell whether WSL has the Studio's Linux, also while WSL itself does not work."""
        return lxss.disk(self._registry, DISTRIBUTION) is not None

    def is_compacting(self) -> bool:
        """Tell whether a living process compacts the image: a question inside would start it."""
        kept = self._record.read()
        pid, since = kept.compacting_pid, kept.compacting_since
        begun = processes.started_at(pid) if pid is not None else None
        return begun is not None and since is not None and abs(begun - since) < _CLOCK_SLACK_S

    async def renew(self, turn: WslTurn) -> bool:
        """Bring the program inside to the version in use; see `Renewal.run`."""
        renewal = Renewal(self._exe, self._paths.home, turn.used, turn.left)
        return await renewal.run(turn.inside / ROOTFS)

    async def watched(self) -> Watched | None:
        """Return how often the version inside ended by itself; None where nobody counts."""
        places = (f"{_FOLDER}/update/watched.json", "/proc/sys/kernel/random/boot_id")
        try:
            answer = await self._exe.inside(DISTRIBUTION, "cat", *places)
            record, _, boot = answer.text.strip().rpartition("\n")
            known = msgspec.json.decode(record, type=Watched) if answer.is_good else None
        except (StudioError, msgspec.MsgspecError):
            return None
        if known is None:
            return None
        # One that runs, out of reach of this side, has not ended: it holds its lock.
        lock = f"{_FOLDER}/service/lock"
        is_over = (await self._exe.inside(DISTRIBUTION, "flock", "-n", lock, "true")).is_good
        ends = known.ends_by(boot.strip() if is_over else None)
        return msgspec.structs.replace(known, ends=ends, is_running=False)

    async def service(self) -> Service | None:
        """Return where the service inside listens; None when none runs."""
        if await asyncio.to_thread(self.is_compacting):
            return None
        found = []
        for name in ("service.json", "token"):
            answer = await self._exe.inside(DISTRIBUTION, "cat", f"{_FOLDER}/service/{name}")
            if not answer.is_good:
                return None
            found.append(answer.text.strip())
        try:
            known = msgspec.json.decode(found[0], type=dict[str, object])
            about = {"port": known.get("port"), "version": known.get("version")}
            return msgspec.convert({**about, "token": found[1]}, Service)
        except msgspec.MsgspecError:
            return None

    # -- steps -----------------------------------------------------------------------------

    async def _install(self, request: WslSetupRequest) -> None:
        if not request.consent:
            raise NeedsConsent(
                "wsl-elevation",
                "WSL is not installed. Windows will ask for the administrator, and has to be "
                "started anew afterwards.",
                hint="`weir wsl setup --yes` goes on.",
            )
        boot_at = self._boot_at()
        status = await self._exe.install()
        if status is None:
            raise HostLacks(
                "wsl-not-installed",
                "WSL was not installed: the administrator's yes did not come.",
                hint="Try again, or let an administrator type `wsl --install --no-distribution`.",
            )
        if status not in (0, REBOOT_REQUIRED):
            self._require(Answer(status=status % (1 << 32), text=""), "WSL could not be installed")
        kept = msgspec.structs.replace(self._record.read(), installed_in_boot=boot_at)
        self._record.write(kept)
        await asyncio.to_thread(self._resume.remember)

    async def _import(self, request: WslSetupRequest) -> None:
        rootfs = Path(request.rootfs) if request.rootfs else bundled_root() / ROOTFS
        if not rootfs.is_file():
            raise NotFound(
                "rootfs-missing",
                f"There is no root file system {rootfs}.",
                hint="Install the Studio for Windows again, or name one: "
                "`weir wsl setup --rootfs FILE`.",
            )
        synced.require_own(self._folder, self._environ)
        await asyncio.to_thread(self._require_no_image)
        self._folder.mkdir(parents=True, exist_ok=True)
        async with wsl_rootfs.plain(rootfs, self._paths.home) as readable:
            answer = await self._exe.import_(DISTRIBUTION, self._folder, readable)
        self._require(answer, "The Studio's Linux could not be set up")

    def _require_no_image(self) -> None:
        """Refuse where an image lies that WSL does not know: it may hold a person's models.

        A power cut during an import leaves one, and so does a Windows that was installed anew. WSL
        would refuse it too (ERROR_FILE_EXISTS), at each try and without a way out.
        Raises: HostLacks (`wsl-disk-left`).
        """
        left = self._folder / wsl_rootfs.DISK
        if lxss.disk(self._registry, DISTRIBUTION) is None and left.is_file():
            raise HostLacks(
                "wsl-disk-left",
                f"A disk image lies at {left} already, "
                f"which WSL does not know as `{DISTRIBUTION}`.",
                hint="Where a set-up was cut off, delete the file and try again. Where models of "
                f'yours are in it, `wsl --import-in-place {DISTRIBUTION} "{left}"` takes it up.',
            )

    def _require(self, answer: Answer, what: str) -> None:
        if answer.is_good:
            return
        cause = self._causes().of(answer)
        code = answer.codes[0] if answer.codes else f"status {answer.status}"
        raise HostLacks(
            "wsl-failed",
            f"{what}: {cause.cause if cause is not None else f'WSL says {code}.'}",
            hint=cause.hint if cause is not None else "`wsl --shutdown`, then try again.",
            evidence=answer.codes,
        )

    # -- looking ---------------------------------------------------------------------------

    async def _facts(
        self,
    ) -> tuple[WslFacts, Answer | None, tuple[str, ...], Service | None]:
        if not self._is_windows:
            return WslFacts(is_windows=False), None, (), None
        try:
            status = await self._exe.status()
        except HostLacks as error:
            if not missing(error):
                raise
            facts = WslFacts(
                is_windows=True, has_program=False, is_waiting_for_restart=self._is_waiting()
            )
            return facts, None, (), None
        version = await self._exe.version()
        means = self._means(status, version)
        names = await self._names() if means is None else ()
        is_imported = DISTRIBUTION in names
        service = await self.service() if is_imported else None
        facts = WslFacts(
            is_windows=True,
            means=means,
            version=version,
            is_imported=is_imported,
            is_waiting_for_restart=means in ("install", "firmware") and self._is_waiting(),
            is_serving=service is not None,
        )
        return facts, status, names, service

    def _means(self, status: Answer, version: tuple[int, ...] | None) -> str | None:
        if status.is_good:
            return None
        cause = self._causes().of(status)
        if cause is not None:
            return None if cause.means == "import" else cause.means
        # The stand-in that comes with Windows knows neither word and only offers to install.
        return "install" if version is None else "retry"

    async def _names(self) -> tuple[str, ...]:
        return await self._exe.distributions()

    def _disk(self) -> Path:
        """Return the disk image, also where a person has moved it."""
        return lxss.disk(self._registry, DISTRIBUTION) or self._folder / wsl_rootfs.DISK

    def _is_waiting(self) -> bool:
        """Tell whether WSL was installed since Windows was started last."""
        boot = self._record.read().installed_in_boot
        return boot is not None and abs(self._boot_at() - boot) < _BOOT_SLACK_S

    async def _mode(self) -> str | None:
        answer = await self._exe.inside(DISTRIBUTION, "wslinfo", "--networking-mode")
        word = answer.text.strip().lower()
        return word if answer.is_good and word in _MODES else None

    async def _lan(self, mode: str | None) -> tuple[str, ...]:
        """Return what an administrator types so that other machines reach the gateway."""
        if mode in ("mirrored", "bridged"):
            return wsl_lan.commands(None)
        if mode is None or mode == "none":
            return ()
        answer = await self._exe.inside(DISTRIBUTION, "hostname", "-I")
        address = next(iter(answer.text.split()), None)
        return wsl_lan.commands(address) if answer.is_good and address is not None else ()

    # -- words -----------------------------------------------------------------------------

    def _causes(self) -> Causes:
        return read_toml(self._paths.catalogue / "runtimes" / "wsl.toml", Causes)

    def _firmware(self) -> str:
        maker = self._environ.get("PROCESSOR_IDENTIFIER", "").lower()
        known = self._causes().firmware
        return next((words for name, words in known.items() if name in maker), known["other"])

    def _problem(self, step: WslStep, status: Answer | None) -> ErrorInfo | None:
        if step not in (WslStep.REFUSED, WslStep.FIRMWARE) or status is None:
            return None
        try:
            self._require(status, "WSL cannot be used")
        except HostLacks as error:
            return error.info
        return None


Told = Callable[[tuple[str, ...], tuple[str, ...], tuple[str, ...]], tuple[str, ...]]


def _of_gateway(told: Told, lan: tuple[str, ...]) -> tuple[str, ...]:
    return told(lan, addresses.own_names(), addresses.own_addresses())


def compacting() -> HostLacks:
    """Return why nothing inside can be reached or begun just now."""
    return HostLacks(
        "wsl-compacting",
        "The disk image of the Studio's Linux is being made smaller.",
        hint="The service starts again when that is over; a large image takes minutes.",
    )


def _reached(service: Service) -> bool:
    """Tell whether localhost of this side leads to the service."""
    try:
        with socket.create_connection(("127.0.0.1", service.port), timeout=_REACH_S):
            return True
    except OSError:
        return False
