"""The service as a systemd user unit: install, remove, and what there is to say about it.

Nothing of a person's is overwritten or removed unasked: an edited unit, the unit of another folder
and drop-ins are told apart from what we wrote (host/unit_file.py).
"""

import contextlib
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from studio import __version__
from studio.domain.errors import BadInput, Damaged, ErrorInfo, HostLacks, StudioError
from studio.domain.service import RunsAs, UnitInfo, UnitRequest, UnitText
from studio.host import detach, files, processes, unit_file
from studio.host.documents import read_json, write_json
from studio.host.files import from_os_error
from studio.host.paths import Paths
from studio.host.systemd import UnitState, UserManager, unit_folder

_MARGIN_S = 20
"""On top of the answers' time: SIGTERM to the engine (8 s), then SIGKILL, the guard (4 s), ours."""
_CLOCK_SLACK_S = 120.0
"""By how much a clock that was set since may bend the start of a process."""

KEPT = (
    "PATH", "LANG", "LC_ALL", "TZ", "WEIR_CATALOGUE",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
    "http_proxy", "https_proxy", "all_proxy", "no_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CLIENT_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "PIP_CONFIG_FILE", "UV_DEFAULT_INDEX", "UV_INDEX_URL",
    "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH",
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
)  # fmt: skip
"""Variables of the shell that the unit keeps: systemd starts services without the person's own."""
_PASSWORD = re.compile(r"://[^/@\s\"]*@")


class _Made(msgspec.Struct, frozen=True, kw_only=True):
    """`service-unit.json`: what an install changed besides the unit."""

    linger: bool = False
    """Linger was off before us."""


class _Running(msgspec.Struct, frozen=True, kw_only=True):
    """What is needed of `service/service.json`."""

    pid: Annotated[int, msgspec.Meta(gt=0)]
    started_at: float


class ServiceUnit:
    """The unit of one home."""

    def __init__(
        self,
        paths: Paths,
        *,
        drain_s: Callable[[], float],
        environ: Mapping[str, str] = os.environ,
        manager: UserManager | None = None,
    ) -> None:
        """`drain_s` says how long an engine may take to finish the answers under way."""
        self._paths = paths
        self._drain_s = drain_s
        self._environ = environ
        self._manager = manager or UserManager(environ, uid=None)
        self._record = paths.home / "service-unit.json"

    @property
    def file(self) -> Path:
        """Where the unit lies."""
        return unit_folder(self._environ) / unit_file.NAME

    async def info(self) -> UnitInfo:
        """Return unit and service as they are now. Raises: HostLacks (`not-readable`)."""
        text = self.read()
        version: int | None = None
        problem: ErrorInfo | None = None
        state = UnitState()
        try:
            version = await self._manager.version()
            state = await self._manager.state()
        except HostLacks as error:
            problem = error.info
        pid = self._running_pid()
        known = UnitInfo(
            unit_file=str(self.file),
            is_installed=text is not None,
            is_edited=None if text is None else not unit_file.is_ours(text),
            is_outdated=None
            if text is None or problem is not None
            else text != self._render(version),
            home=None if text is None else unit_file.home_of(text),
            drop_ins=state.drop_ins,
            enabled=state.enabled,
            active=state.active,
            restarts=state.restarts,
            has_linger=self._manager.has_linger() if problem is None else None,
            user=self._manager.user,
            pid=pid,
            runs_as=None if pid is None else RunsAs.UNIT if pid == state.pid else RunsAs.HAND,
            problem=problem,
        )
        return msgspec.structs.replace(known, notes=tuple(_notes(known, state, self._paths)))

    async def text(self) -> UnitText:
        """Return the unit as it would be written now, passwords left out; changes nothing."""
        version: int | None = None
        with contextlib.suppress(HostLacks):
            version = await self._manager.version()
        return UnitText(path=str(self.file), text=_PASSWORD.sub("://…@", self._render(version)))

    async def install(self, request: UnitRequest) -> UnitInfo:
        """Write the unit, let it start at login, and start it unless a service runs by hand.

        Raises: HostLacks (`service-as-root`, `service-as-appimage`, `no-systemd`,
        `no-user-session`, `unit-not-started`, `linger-refused`, `not-writable`), BadInput
        (`unit-edited`, `unit-of-another-home`, `unit-is-link`).
        """
        if self._manager.uid == 0:
            raise _as_root()
        image = self._environ.get("APPIMAGE")
        if image:
            raise _as_image(image)
        version = await self._manager.version()
        text = self._render(version)
        self._require_ours(text, force=request.force)
        if self.read() != text:
            files.write_atomic(self.file, text.encode("utf-8"), mode=0o600)  # may hold a password
        await self._manager.reload()
        await self._manager.enable()
        if request.linger and not self._manager.has_linger():
            write_json(self._record, _Made(linger=True), mode=0o600)
            await self._manager.linger(on=True)
        state, pid = await self._manager.state(), self._running_pid()
        if pid is None or pid == state.pid:
            await self._manager.start(anew=request.restart and pid is not None)
        return await self.info()

    async def uninstall(self, request: UnitRequest) -> UnitInfo:
        """End the unit's service and remove what an install made, and nothing else.

        Raises: BadInput (`unit-edited`, `unit-of-another-home`, `unit-is-link`), HostLacks.
        """
        made = self._made()
        if self.read() is not None:
            self._require_ours(None, force=request.force)
            with contextlib.suppress(HostLacks):  # the file has to go also where nobody reads it
                await self._manager.version()
                await self._manager.disable()
                state = await self._manager.state()
                if state.active not in (None, "inactive"):
                    await self._manager.stop(wait=state.pid != os.getpid())
            self._remove()
            with contextlib.suppress(HostLacks):
                await self._manager.version()
                await self._manager.reload()
        if made.linger:
            with contextlib.suppress(HostLacks):
                await self._manager.linger(on=False)
        self._record.unlink(missing_ok=True)
        return await self.info()

    def _render(self, version: int | None) -> str:
        kept = {"WEIR_HOME": str(self._paths.home)}
        kept |= {name: self._environ[name] for name in KEPT if self._environ.get(name)}
        if self._manager.uid == 0:
            kept = _without_roots_own(kept, self._environ)
        return unit_file.render(
            unit_file.Unit(
                command=[*detach.own_command(), "service", "run", "--autostart"],
                environment=kept,
                stop_s=round(self._drain_s()) + _MARGIN_S,
                systemd=version,
                version=__version__,
            )
        )

    def read(self) -> str | None:
        """Return the file that lies there; None without one, empty for a link that leads nowhere.

        Raises: HostLacks (`not-readable`).
        """
        try:
            return self.file.read_text(encoding="utf-8", errors="surrogateescape")
        except (FileNotFoundError, NotADirectoryError):
            return "" if self.file.is_symlink() else None
        except OSError as error:
            raise HostLacks(
                "not-readable",
                f"{self.file} cannot be read: {error.strerror or error}.",
                hint="Check the file's owner and permissions.",
            ) from error

    def _require_ours(self, text: str | None, *, force: bool) -> None:
        """Refuse to touch what somebody else wrote; `text` is what would be written."""
        if self.file.is_symlink():
            target = str(self.file.readlink())
            raise BadInput(
                "unit-is-link",
                f"{self.file} is a link to {target}"
                + (": the unit is masked." if target == os.devnull else ", which is not ours."),
                hint="Undo it first: `systemctl --user unmask weir-studio`, or remove the link.",
            )
        found = self.read()
        if found is None or force or found == text:
            return
        if not unit_file.is_ours(found):
            lines = unit_file.difference(found, text) if text is not None else ()
            raise BadInput(
                "unit-edited",
                f"{self.file} was changed by hand, or was not written by the Studio.",
                hint="Keep changes in a drop-in (`systemctl --user edit weir-studio`), or add "
                "`--force` to go on without them.",
                evidence=tuple(_PASSWORD.sub("://…@", line) for line in lines),
            )
        home = unit_file.home_of(found)
        if home is not None and home != str(self._paths.home):
            raise BadInput(
                "unit-of-another-home",
                f"The unit serves another folder: {home}, not {self._paths.home}.",
                hint="A person has one unit. Add `--force` to go on with this folder.",
            )

    def _remove(self) -> None:
        """Remove the file and the link that enabling it made, which may outlive it."""
        try:
            link = self.file.parent / "default.target.wants" / unit_file.NAME
            if link.is_symlink():
                link.unlink()
            self.file.unlink(missing_ok=True)
        except OSError as error:
            raise from_os_error(error, self.file) from error

    def _made(self) -> _Made:
        try:
            return read_json(self._record, _Made) or _Made()
        except Damaged:
            return _Made()

    def _running_pid(self) -> int | None:
        """Return the process of this home's service.

        Its lock is not tried: who holds it for a moment keeps a service from starting.
        """
        try:
            known = read_json(self._paths.service / "service.json", _Running)
        except StudioError:
            return None
        began = processes.started_at(known.pid) if known is not None else None
        if known is None or began is None or began > known.started_at + _CLOCK_SLACK_S:
            return None  # it was killed, and its number may be another's now
        return known.pid


def _without_roots_own(kept: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """Return what of root's variables holds for the person whom `User=` will name.

    systemd sets PATH for a service of the system, and HOME for its user, whose own folder is used.
    """
    own = environ.get("HOME") or "/root"
    return {
        name: value
        for name, value in kept.items()
        if name != "PATH" and not name.startswith("XDG_") and own not in value
    }


def _as_root() -> HostLacks:
    return HostLacks(
        "service-as-root",
        "The service is not installed for root: an engine that everybody can reach should not be "
        "able to do everything.",
        hint="Run it as the person who uses the Studio. For the whole machine, "
        "`weir service install --dry-run` prints the unit: put it into /etc/systemd/system with "
        "`User=` and `WantedBy=multi-user.target`.",
    )


def _as_image(image: str) -> HostLacks:
    return HostLacks(
        "service-as-appimage",
        f"systemd cannot keep the service of an AppImage: {image} is mounted anew at each start, "
        "by a program that systemd would take for the service.",
        hint="Install the .deb or the .run: settings, runtimes and models stay where they are. "
        "`weir up` in a terminal goes on as before.",
    )


def _notes(known: UnitInfo, state: UnitState, paths: Paths) -> list[str]:
    """Return what a person should know of the unit, the most pressing first."""
    if known.problem is not None:
        return []
    notes: list[str] = []
    if known.is_installed and known.enabled == "masked":
        notes.append("The unit is masked: `systemctl --user unmask weir-studio` undoes it.")
    if known.is_installed and known.runs_as is RunsAs.HAND:
        notes.append(
            f"A service was started by hand (process {known.pid}), so the unit waits. "
            "`weir service install --restart` hands it over; what is being served starts again."
        )
    if known.active == "failed":
        notes.append(
            f"The unit failed ({state.result or 'no reason given'}): "
            "`journalctl --user -u weir-studio` tells why."
        )
    if known.home not in (None, str(paths.home)):
        notes.append(f"The unit serves another folder: {known.home}.")
    elif known.is_edited:
        notes.append("The unit was changed by hand; `weir service install` shows the difference.")
    elif known.is_outdated:
        notes.append("The unit is of another environment or version: `weir service install`.")
    if known.is_installed and known.has_linger is False:
        notes.append(
            f"The service runs while {known.user} is logged in. To let it run from the machine's "
            "start on and after the last logout: `weir service install --linger`."
        )
    if not known.is_installed and known.drop_ins:
        notes.append(f"Drop-ins of your own are left: {', '.join(known.drop_ins)}.")
    return notes
