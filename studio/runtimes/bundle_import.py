"""A runtime out of one signed file, without a network.

It is unpacked beside whatever is there, under a name that passes for no installation, made to
name its new place, read back, asked by the probe, and only then recorded and switched to. Killed
anywhere, run it again: what was written is not written twice.
"""

import datetime
import functools
import hashlib
import shutil
import time
from pathlib import Path

import msgspec

from studio.domain.bundles import Imported
from studio.domain.errors import Busy, Damaged, HostLacks, StudioError
from studio.domain.events import Stage
from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import InstalledRuntime, RuntimeRecipe
from studio.host import signing, tools
from studio.host.documents import read_json, write_json
from studio.host.files import (
    exclusive,
    folder_bytes,
    from_os_error,
    remove_unfinished,
    require_space,
    write_atomic,
)
from studio.host.meter import Meter, Report
from studio.host.paths import Paths
from studio.host.progress import Progress, followed
from studio.host.threads import in_thread
from studio.runtimes import (
    bundle,
    bundle_read,
    bundle_stock,
    history,
    relocate,
    signers,
    survey,
    verify,
)
from studio.runtimes import folder as folders
from studio.runtimes import manifest as manifests
from studio.runtimes.bundle import RUNTIME
from studio.runtimes.bundle_read import Bundle, Head
from studio.runtimes.interpreter import host_platform, probe_question
from studio.runtimes.manifest import LINK, LISTING, PLACED, Entry, Manifest
from studio.runtimes.probing import Answer, all_faults
from studio.runtimes.running import runs_from
from studio.runtimes.verdict import reasons_against
from studio.runtimes.versions import INSTALL_LOCK

_STAGING = "importing-"
_DOOMED = ".removing-"
_ID_SHOWN = 12
_PROBE_TIMEOUT_S = 120.0
_MIN_FREE_BYTES = 100_000_000


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """`import.json`: where a runtime came from; while unpacking, what it is to become."""

    index_sha256: str
    fingerprint: str
    imported_at: str | None = None


async def read_head(path: Path, paths: Paths, trust: str | None) -> Head:
    """Return what a bundle says of itself, its signer trusted; writes at most the list of signers.

    Raises: BadInput (`fingerprint-invalid`, `bundle-newer`), HostLacks (`signer-unknown`,
    `signer-differs`, `not-readable`), Damaged (`bundle-damaged`, `bundle-signature`,
    `archive-unsafe`), NotFound (`file-missing`).
    """
    return await in_thread(functools.partial(_read_head, path, paths, trust))


def _read_head(path: Path, paths: Paths, trust: str | None) -> Head:
    wanted = signing.read_fingerprint(trust) if trust is not None else None
    with bundle_read.opened(path) as opened:
        head = opened.head
    if wanted is not None and wanted != head.fingerprint:
        raise HostLacks(
            "signer-differs",
            f"{path.name} is signed by {head.fingerprint}, not by {wanted}.",
            hint="Do not use it, unless whoever made it confirms that fingerprint.",
            data={"fingerprint": head.fingerprint},
        )
    if signers.find(paths, head.fingerprint) is None:
        if wanted is None:
            raise _unknown(path, head)
        signers.trust(paths, wanted)
    return head


def _unknown(path: Path, head: Head) -> HostLacks:
    record = head.index.record
    return HostLacks(
        "signer-unknown",
        f"{path.name} holds {record.name} ({record.runtime_id[:_ID_SHOWN]}) and is signed by "
        f"{head.fingerprint}, whom nobody trusts here yet.",
        hint="Compare that with `weir runtime signers list` on the machine that made it. When both "
        f"are equal, run it again with `--trust {head.fingerprint}`.",
        data={"fingerprint": head.fingerprint, "runtime": record.name},
    )


def require_fit(head: Head, host: HostSnapshot) -> None:
    """Refuse, before anything is written, what cannot run on this machine.

    Raises: HostLacks (`platform-unsupported`, `runtime-does-not-fit`).
    """
    index = head.index
    if index.platform != host_platform():
        raise HostLacks(
            "platform-unsupported",
            f"{index.recipe.title} was exported for {index.platform}; this is {host_platform()}.",
            hint="Export it on a machine of this kind.",
        )
    needs = msgspec.structs.replace(
        index.recipe.needs, min_glibc=_newer(index.glibc, index.recipe.needs.min_glibc)
    )
    recipe = msgspec.structs.replace(index.recipe, needs=needs)
    reasons = reasons_against(recipe, host, is_installed=True)
    if reasons:
        raise HostLacks(
            "runtime-does-not-fit",
            f"{index.recipe.title} does not work on this machine: {' '.join(reasons)}",
            hint="Where the C library is what differs: export it on an older system.",
        )


def _newer(one: str | None, other: str | None) -> str | None:
    known = [version for version in (one, other) if version is not None]
    return max(known, key=_parts) if known else None


def _parts(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


async def install(
    path: Path, head: Head, recipe: RuntimeRecipe, paths: Paths, report: Report
) -> Imported:
    """Install what `read_head` accepted, and use it from its next start on.

    `recipe` is this catalogue's of the same name, which may be for another version.

    Raises: Busy (`install-running`, `engine-running`), Damaged (`bundle-damaged`,
    `runtime-probe`), HostLacks (`disk-space`, `disk-full`, `not-writable`, `not-readable`,
    `disk-unreliable`), and what `read_head` raises.
    """
    began = time.perf_counter()
    index = head.index
    meter = Meter(Stage.RUNTIME, f"Importing {index.recipe.title}", report)
    home = folders.named_folder(paths, index.record.name)
    try:
        home.mkdir(parents=True, exist_ok=True)
        with exclusive(home / INSTALL_LOCK) as is_ours:
            if not is_ours:
                raise Busy(
                    "install-running",
                    f"{index.recipe.title} is being installed, repaired, exported or imported by "
                    "another process of the Studio.",
                    hint="Wait until that is done, then run it again.",
                )
            was_there = await _Import(path, head, paths, meter).run()
    except StudioError as error:
        meter.fail(error.message)
        raise
    except OSError as error:
        place = error.filename if isinstance(error.filename, str) else str(home)
        failure = from_os_error(error, Path(place))
        meter.fail(failure.message)
        raise failure from error
    meter.finish(f"{index.record.name} ({index.record.runtime_id[:_ID_SHOWN]})", skipped=was_there)
    signer = signers.find(paths, head.fingerprint)
    return Imported(
        runtime=index.record.name,
        runtime_id=index.record.runtime_id,
        files=len(index.items),
        bytes=index.bytes,
        fingerprint=head.fingerprint,
        signer=signer.name if signer is not None else None,
        was_there=was_there,
        is_catalogued=folders.is_made_of(paths, recipe, index.record),
        seconds=time.perf_counter() - began,
    )


def _interpreter(words: str) -> str:
    """Return what the interpreter is called here: that of a machine names a place of that one."""
    name, of_machine, _place = words.partition(" of this machine")
    return f"{name} of the machine that exported it" if of_machine else words


class _Import:
    """One bundle on its way into a runtime folder; the runtime's lock is held."""

    def __init__(self, path: Path, head: Head, paths: Paths, meter: Meter) -> None:
        self._path = path
        self._head = head
        self._index = head.index
        self._paths = paths
        self._meter = meter
        record = head.index.record
        self._home = folders.named_folder(paths, record.name)
        self._root = folders.runtime_folder(paths, record.name, record.runtime_id)
        self._stage = self._home / f"{_STAGING}{record.runtime_id[:_ID_SHOWN]}"

    async def run(self) -> bool:
        """Do it all; returns whether it was installed and whole already."""
        remove_unfinished(self._home)
        remove_unfinished(self._root)
        if await self._is_whole():
            self._activate()
            return True
        await in_thread(self._prepare)
        self._meter.begin("Unpacking", total=self._index.bytes, unit="bytes")
        await followed(self._unpack, self._meter.reach)
        self._meter.begin("Reading it back")
        await in_thread(self._move_in)
        await in_thread(self._list)
        await self._probe()
        await in_thread(self._record)
        self._activate()
        return False

    async def _is_whole(self) -> bool:
        try:
            record = read_json(self._root / folders.RECORD_FILE, InstalledRuntime)
            if record is None or record.runtime_id != self._index.record.runtime_id:
                return False
            manifest = await in_thread(functools.partial(manifests.read, self._root))
        except Damaged:
            return False
        if manifest is None:
            return False
        found = await verify.examine_reporting(self._root, manifest, self._meter)
        return not found.findings

    def _prepare(self) -> None:
        """Take up the folder of an import of the same file, or begin with an empty one.

        An import that was killed after `_move_in` left it under its own name, without a record.
        """
        has_record = (self._root / folders.RECORD_FILE).exists()
        if self._root.exists() and not has_record and not self._stage.exists():
            self._root.rename(self._stage)
        if not self._is_ours():
            shutil.rmtree(self._stage, ignore_errors=True)
        self._stage.mkdir(parents=True, exist_ok=True)
        left = self._index.bytes - folder_bytes(self._stage)
        require_space(self._home, max(left, 0) + _MIN_FREE_BYTES, self._index.recipe.title)
        origin = Origin(index_sha256=self._head.digest, fingerprint=self._head.fingerprint)
        write_json(self._origin(self._stage), origin)

    def _is_ours(self) -> bool:
        try:
            origin = read_json(self._origin(self._stage), Origin)
        except Damaged:
            return False
        return origin is not None and origin.index_sha256 == self._head.digest

    def _origin(self, folder: Path) -> Path:
        return folder / bundle.ORIGIN_FILE

    def _unpack(self, progress: Progress) -> None:
        with bundle_read.opened(self._path) as opened:
            self._require_same(opened)
            opened.unpack(self._stage, progress)

    def _require_same(self, opened: Bundle) -> None:
        if opened.head.digest != self._head.digest:
            raise bundle.damaged(self._path.name, "it was exchanged while it was read")

    def _move_in(self) -> None:
        """Let files name their new place and give the folder its name; it has no record yet.

        A damaged installation of the same id makes room.
        """
        self._relocate()
        if self._root.exists():
            self._require_idle()
            doomed = self._root.with_name(f"{_DOOMED}{self._root.name}")
            shutil.rmtree(doomed, ignore_errors=True)
            self._root.rename(doomed)
            self._stage.rename(self._root)
            shutil.rmtree(doomed, ignore_errors=True)
        else:
            self._stage.rename(self._root)

    def _require_idle(self) -> None:
        """Refuse to take a damaged runtime away under an engine that runs from it."""
        if runs_from(self._paths, self._root):
            raise Busy(
                "engine-running",
                f"An engine runs from {self._index.recipe.title}, which the import would replace.",
                hint="`weir stop` ends it; then run it again. What was unpacked is kept.",
            )

    def _list(self) -> None:
        """List the runtime anew from what the disk holds.

        Every byte is read back for it and compared with the index: a stick or disk that loses what
        it was given is noticed here. The store gets the packages on the way, of the same reading.
        """
        old = manifests.read(self._root)
        if old is None:
            raise bundle.damaged(self._path.name, "its list of files is missing")
        fed = bundle_stock.feed(self._paths, self._root, self._index.recipe, self._index.record)
        try:
            listed = survey.survey(self._root, self._index.record.runtime_id, fed.known)
            self._compare(listed)
        except StudioError:
            bundle_stock.take_back(self._paths, fed)
            raise
        listed = msgspec.structs.replace(listed, lock=old.lock)
        manifests.write(self._root / manifests.MANIFEST_FILE, listed)

    def _relocate(self) -> None:
        """Write anew what names the folder of the exporting machine."""
        old_root = Path(self._index.root)
        for item in self._index.items:
            path = item.path.removeprefix(RUNTIME)
            if item.link is not None or not relocate.may_name_its_folder(path):
                continue
            place = self._stage / path
            form = relocate.general(place.read_bytes(), old_root)
            if form is not None:
                write_atomic(place, relocate.placed(form, self._root), mode=item.mode)

    def _compare(self, listed: Manifest) -> None:
        now = {entry.path: entry for entry in listed.entries}
        for item in self._index.items:
            path = item.path.removeprefix(RUNTIME)
            if path.startswith((f"{survey.TREE}/", f"{survey.LIBRARIES}/")):
                entry = now.get(path)
                if entry is None or not self._is_same(entry, item):
                    raise self._lost(path)

    def _is_same(self, entry: Entry, item: bundle.Item) -> bool:
        if entry.has(PLACED):
            return True  # just written, for this place
        if item.link is not None:
            return entry.has(LINK) and entry.digest == item.link.encode()
        if not entry.has(LISTING):
            return entry.digest == item.sha256
        content = (self._root / entry.path).read_bytes()
        return hashlib.sha256(content).digest() == item.sha256

    def _lost(self, path: str) -> HostLacks:
        return HostLacks(
            "disk-unreliable",
            f"{self._root / path} was written and reads back differently.",
            hint="Check the disk, then run it again.",
        )

    async def _probe(self) -> None:
        self._meter.begin("Checking the finished runtime")
        result = await tools.run_tool(
            self._root / folders.PYTHON,
            tools.tool_file(self._paths, "probe.py"),
            [probe_question(self._index.recipe)],
            timeout_s=_PROBE_TIMEOUT_S,
        )
        try:
            answer = msgspec.json.decode(result.tail[-1] if result.tail else "", type=Answer)
            faults = all_faults(self._index.recipe, answer)
        except msgspec.DecodeError:
            faults = ["its interpreter does not run"]
        if faults:
            raise Damaged(
                "runtime-probe",
                f"{self._index.recipe.title} does not run on this machine: {'; '.join(faults)}.",
                hint="A system library may be missing here; what was in use before still is. Run "
                "it again when that is mended.",
                evidence=result.tail[-10:],
            )

    def _record(self) -> None:
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        write_json(
            self._origin(self._root),
            Origin(
                index_sha256=self._head.digest,
                fingerprint=self._head.fingerprint,
                imported_at=now,
            ),
        )
        record = msgspec.structs.replace(
            self._index.record,
            interpreter=_interpreter(self._index.record.interpreter),
            bytes=folder_bytes(self._root),
            installed_at=now,
        )
        write_json(self._root / folders.RECIPE_FILE, self._index.recipe)
        write_json(self._root / folders.RECORD_FILE, record)

    def _activate(self) -> None:
        if history.current(self._home) != self._index.record.runtime_id:
            history.activate(self._home, self._index.record.runtime_id)
