"""Makes an installed runtime again what it was, by restoring what differs and nothing else.

Every file is moved in whole, and the list of files is written last: a repair that was killed is
repeated by the next one, which finds less to do. What no source gives back in its old form (the
interpreter it stood on is gone, the list itself is damaged) is installed anew from the cache.
"""

import functools
import os
import posixpath
import shutil
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from studio.domain.errors import Busy, Damaged, NetworkFailure, NotFound, StudioError
from studio.domain.events import Stage
from studio.domain.integrity import DifferenceKind, Repaired
from studio.domain.manifests import InstalledRuntime, RuntimeRecipe
from studio.domain.units import duration_text
from studio.host.files import exclusive, from_os_error
from studio.host.hashing import Wanted, hash_files
from studio.host.meter import Meter, Report
from studio.host.paths import Paths
from studio.host.threads import in_thread
from studio.runtimes import access, aside, install, moved, relocate, survey, verify
from studio.runtimes import folder as folders
from studio.runtimes import manifest as manifests
from studio.runtimes.bytecode import compile_folder, compile_modules
from studio.runtimes.manifest import BYTECODE, LINK, Entry, Manifest
from studio.runtimes.packages import site_packages
from studio.runtimes.repair_sources import (
    REPAIR_FOLDER,
    Sources,
    give_mode,
    hashed_again,
    make_room,
    write_placed,
)
from studio.runtimes.store import Store
from studio.runtimes.verify import Examination, Finding

_DAMAGED = (DifferenceKind.MISSING, DifferenceKind.CHANGED, DifferenceKind.SUSPECT)
_FEW = 400
"""So many modules are compiled by name; for more it is quicker to look through the folder."""


async def repair(recipe: RuntimeRecipe, paths: Paths, report: Report) -> Repaired:
    """Restore the present installation of `recipe` to what was installed.

    Raises: NotFound (`runtime-not-installed`), Busy (`install-running`), NetworkFailure
    (`packages-unreachable`, `interpreter-unreachable`), Damaged (`package-hash`,
    `repair-impossible`), HostLacks (`disk-full`, `not-writable`).
    """
    began = time.perf_counter()
    await in_thread(functools.partial(aside.settle, folders.named_folder(paths, recipe.name)))
    record = folders.current(paths, recipe.name)
    if record is None:
        raise NotFound(
            "runtime-not-installed",
            f"{recipe.title} is not installed, so there is nothing to repair.",
            hint="Install it with `weir up`.",
        )
    meter = Meter(Stage.RUNTIME, f"Repairing {recipe.title}", report)
    try:
        done = await _repair_locked(recipe, paths, record, meter)
        if done is None:
            record = await _rebuild(recipe, paths, record, report)
            done = _counted(record, is_rebuilt=True)
    except StudioError as error:
        meter.fail(error.message)
        raise
    except OSError as error:
        name = error.filename if isinstance(error.filename, str) else None
        place = Path(name) if name else folders.folder_of(paths, record)
        failure = from_os_error(error, place)
        meter.fail(failure.message)
        raise failure from error
    seconds = time.perf_counter() - began
    meter.finish(f"{done.restored} files restored in {duration_text(seconds)}")
    return msgspec.structs.replace(done, seconds=seconds)


async def ensure_whole(
    recipe: RuntimeRecipe,
    paths: Paths,
    report: Report,
    mend: Callable[[], Awaitable[Repaired]] | None = None,
) -> InstalledRuntime | None:
    """Return the installation in use after a look at a sample of it, repaired if need be.

    None when there is none. A recipe that has changed since changes nothing: what is installed
    goes on until a person says otherwise. For every start: some 10 ms when all is well. `mend` is
    in place of `repair`, for whoever wants to know of it.
    Raises: as `repair`, or as `mend`.
    """
    await in_thread(functools.partial(aside.settle, folders.named_folder(paths, recipe.name)))
    if folders.current(paths, recipe.name) is None:
        return None
    found = folders.in_use(paths, recipe.name)
    # Without one, all that it lacks is an interpreter that runs: taken away, or linked to one that
    # is gone.
    is_only_the_list = False
    if found is not None:
        await moved.settle(paths, found, report)
        verdict = await verify.verify(paths, found, full=False, report=report)
        was_cut_off = (folders.folder_of(paths, found) / REPAIR_FOLDER).exists()
        if verdict.is_whole and not was_cut_off:
            return found
        differing = [one.path for one in verdict.differences]
        is_only_the_list = differing == [manifests.MANIFEST_FILE]
    try:
        await (mend() if mend is not None else repair(recipe, paths, report))
    except NetworkFailure:
        # Without a list a start goes on, and so it does with half of one that nothing can mend now.
        if not is_only_the_list:
            raise
    return folders.in_use(paths, recipe.name)


async def _repair_locked(
    recipe: RuntimeRecipe, paths: Paths, record: InstalledRuntime, meter: Meter
) -> Repaired | None:
    """Restore what differs; None when the runtime has to be installed anew."""
    with exclusive(folders.named_folder(paths, recipe.name) / "install.lock") as is_ours:
        if not is_ours:
            raise Busy(
                "install-running",
                f"{recipe.title} is being installed or repaired by another process of the Studio.",
                hint="Wait until it is done, then run it again.",
            )
        root = folders.folder_of(paths, record)
        try:
            manifest = await in_thread(functools.partial(manifests.read, root))
        except Damaged:
            return None
        if manifest is None:
            return None
        store = Store(paths)
        with store.used() as is_ours:
            sources = Sources(recipe, paths, record, manifest, meter, store if is_ours else None)
            await sources.begin()
            done = await _Repair(paths, root, record, manifest, sources, meter).run()
            await sources.clear()
        return done


async def _rebuild(
    recipe: RuntimeRecipe, paths: Paths, record: InstalledRuntime, report: Report
) -> InstalledRuntime:
    if not folders.is_made_of(paths, recipe, record):
        raise Damaged(
            "repair-impossible",
            f"{recipe.title}: the installation {record.runtime_id[:12]} is damaged beyond repair, "
            "and its recipe has changed since.",
            hint=f"Go forward to the newer one, or remove {folders.folder_of(paths, record)} and "
            "run `weir up`.",
        )
    root = folders.folder_of(paths, record)
    await in_thread(functools.partial(shutil.rmtree, root / REPAIR_FOLDER, ignore_errors=True))
    await in_thread(functools.partial(aside.put, paths, recipe, root))
    try:
        return await install.install(recipe, paths, report)
    finally:
        await in_thread(functools.partial(aside.settle, root.parent))


class _Repair:
    """One runtime folder on its way back."""

    def __init__(
        self,
        paths: Paths,
        root: Path,
        record: InstalledRuntime,
        manifest: Manifest,
        sources: Sources,
        meter: Meter,
    ) -> None:
        self._paths = paths
        self._root = root
        self._old_root = Path(manifest.root)
        self._record = record
        self._manifest = manifest
        self._sources = sources
        self._meter = meter
        self._python = root / record.python
        self._entries = {entry.path: entry for entry in manifest.entries}

    async def run(self) -> Repaired | None:
        """Restore all; None when something is left that no source has."""
        await in_thread(functools.partial(access.open_up, self._root))
        found = await self._examine()
        removed = await in_thread(functools.partial(self._remove_extras, found.findings))
        if removed.links:
            found = await self._examine()  # what lay behind a stray link is seen only now
        await in_thread(functools.partial(self._put_right, found.findings))
        damaged = [f.entry for f in found.findings if f.entry and f.kind in _DAMAGED]
        restored = await self._restore(damaged)
        if len(restored) < len(damaged) or not os.access(self._python, os.X_OK):
            return None
        compiled = await self._compile(found.bytecode, restored)
        right = [f.entry for f in found.findings if f.entry and f.kind not in _DAMAGED]
        if not await in_thread(functools.partial(self._relist, [*restored, *right], compiled)):
            return None
        return _counted(
            self._record,
            restored=len(restored) + len(right),
            removed=removed.files,
            compiled=len(compiled),
            packages=tuple(sorted(self._sources.unpacked)),
        )

    async def _examine(self) -> Examination:
        return await verify.examine_reporting(self._root, self._manifest, self._meter)

    def _remove_extras(self, findings: Iterable[Finding]) -> "_Removed":
        links = 0
        extras = [one.path for one in findings if one.kind is DifferenceKind.EXTRA]
        for path in extras:
            links += (self._root / path).is_symlink()
            (self._root / path).unlink(missing_ok=True)
        access.remove_emptied(self._root, extras)
        return _Removed(files=len(extras), links=links)

    def _put_right(self, findings: Iterable[Finding]) -> None:
        """Correct what is whole but for its mode or for the folder that it names."""
        for finding in findings:
            entry = finding.entry
            if entry is None:
                continue
            place = self._root / entry.path
            if finding.kind is DifferenceKind.MODE:
                give_mode(place, place, entry)
            elif finding.kind is DifferenceKind.MOVED:
                form = relocate.general(place.read_bytes(), self._old_root)
                assert form is not None
                write_placed(place, form, self._root, entry)

    async def _restore(self, damaged: Sequence[Entry]) -> list[Entry]:
        """Fetch and move in; the interpreter first, for it is what uv asks about its folders."""
        owned = [entry for entry in damaged if entry.owner]
        system = [entry for entry in damaged if entry.path.startswith(f"{survey.LIBRARIES}/")]
        own = [entry for entry in damaged if entry not in owned and entry not in system]
        done = await self._sources.of_interpreter(own) if own else {}
        if len(done) < len(own) or not os.access(self._python, os.X_OK):
            return list(done.values())
        if owned:
            done |= await self._sources.of_packages(owned)
        if system:
            done |= await self._sources.of_system(system)
        return list(done.values())

    async def _compile(self, bytecode: Sequence[Entry], restored: Sequence[Entry]) -> list[str]:
        """Compile anew what is missing, was compiled by others, or belongs to a restored source."""
        sources = {_source_of(entry.path) for entry in bytecode}
        sources |= {e.path for e in restored if e.path.endswith(".py") and not e.has(LINK)}
        cached = [
            path
            for path, entry in self._entries.items()
            if entry.has(BYTECODE) and _source_of(path) in sources
        ]
        if not cached:
            return []
        self._meter.begin(f"Compiling {len(cached)} files")
        for path in cached:
            place = self._root / path
            make_room(self._root, place)
            place.unlink(missing_ok=True)
        modules = sorted({self._root / _source_of(path) for path in cached})
        if len(modules) <= _FEW:
            await compile_modules(self._paths, self._python, modules)
        else:
            library = site_packages(self._python).parent
            await compile_folder(self._paths, self._python, library)
        return cached

    def _relist(self, restored: Sequence[Entry], compiled: Sequence[str]) -> bool:
        """Write the list with what is there now; False when a file is still not what it was."""
        entries = dict(self._entries)
        for entry in restored:
            again = hashed_again(self._root, entry, self._root)
            if again is None:
                return False
            entries[entry.path] = again
        for path in compiled:
            entries.pop(path)
        wanted = [Wanted(f"{self._root}/{path}", 0) for path in compiled]
        for path, now in zip(compiled, hash_files(wanted), strict=True):
            if now is not None and now.sha256 is not None:
                entries[path] = survey.entry(self._root, path, now, survey.UNOWNED)
        listed = msgspec.structs.replace(
            self._manifest, root=str(self._root), entries=tuple(entries.values())
        )
        if listed != self._manifest:
            manifests.write(self._root / manifests.MANIFEST_FILE, listed)
        return True


class _Removed(msgspec.Struct, frozen=True, kw_only=True):
    files: int
    links: int


def _source_of(path: str) -> str:
    folder, _cached, name = path.rpartition("/__pycache__/")
    return posixpath.join(folder, f"{name.partition('.')[0]}.py")


def _counted(
    record: InstalledRuntime,
    *,
    restored: int = 0,
    removed: int = 0,
    compiled: int = 0,
    packages: tuple[str, ...] = (),
    is_rebuilt: bool = False,
) -> Repaired:
    return Repaired(
        runtime=record.name,
        runtime_id=record.runtime_id,
        restored=restored,
        removed=removed,
        compiled=compiled,
        packages=packages,
        is_rebuilt=is_rebuilt,
        seconds=0.0,
    )
