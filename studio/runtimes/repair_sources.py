"""Where a repair gets good files from: everything is made in a folder of its own, then moved over.

That folder, `repair/` in the runtime's, has the runtime's own shape, once for the interpreter and
once for packages. The runtime is changed by renames alone, one whole file at a time.
"""

import functools
import hashlib
import os
import posixpath
import shutil
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import msgspec

from studio.domain.manifests import InstalledRuntime, RuntimeRecipe
from studio.host import archive, locks, pip_config, uv
from studio.host.files import write_atomic
from studio.host.hashing import hash_file
from studio.host.meter import Meter
from studio.host.network import NetworkPolicy, in_force
from studio.host.paths import Paths
from studio.host.prefetch import Prefetched
from studio.host.threads import in_thread
from studio.runtimes import folder as folders
from studio.runtimes import (
    interpreter,
    libraries,
    patches,
    prefetch,
    relocate,
    series,
    sizes,
    survey,
    verify,
)
from studio.runtimes.manifest import (
    EXECUTABLE,
    LINK,
    LISTING,
    NOTE,
    PLACED,
    SUSPECT,
    Entry,
    Manifest,
)
from studio.runtimes.packages import extra_indexes, write_alias
from studio.runtimes.store import Store, interpreter_key, package_keys
from studio.runtimes.store_take import take

REPAIR_FOLDER = "repair"
_UNPACKED = 5
"""How much larger a wheel is unpacked, at most: 4.3 times for PyTorch's, 3.2 for all of vLLM's."""


class Sources:
    """Good copies for one runtime's files."""

    def __init__(
        self,
        recipe: RuntimeRecipe,
        paths: Paths,
        record: InstalledRuntime,
        manifest: Manifest,
        meter: Meter,
        store: Store | None,
    ) -> None:
        """`store` is None while it is being cleaned up."""
        self._recipe = recipe
        self._paths = paths
        self._record = record
        self._manifest = manifest
        self._meter = meter
        self._store = store
        self._root = folders.folder_of(paths, record)
        self._staging = self._root / REPAIR_FOLDER
        self._cache = paths.cache / "uv"
        self.unpacked: set[str] = set()
        """Distributions that were unpacked again."""

    async def begin(self) -> None:
        """Start with an empty folder; while it is there, a repair is under way or was cut off."""
        await self.clear()
        self._staging.mkdir()

    async def clear(self) -> None:
        """Remove what this or an earlier repair made."""
        if self._staging.exists():
            await in_thread(functools.partial(shutil.rmtree, self._staging))

    async def of_interpreter(self, entries: Sequence[Entry]) -> dict[str, Entry]:
        """Restore files that no distribution owns; return those that are whole now.

        Raises: NetworkFailure (`interpreter-unreachable`), Damaged (`download-hash`), HostLacks.
        """
        done = {e.path: e for e in entries if e.has(LINK) and self._relink(e)}
        left = [entry for entry in entries if entry.path not in done]
        done |= await self._interpreter_from_store(left)
        left = [entry for entry in entries if entry.path not in done]
        if not left:
            return done
        chosen = await interpreter.same(
            self._record.interpreter_build, self._recipe, self._paths, self._meter
        )
        if chosen is None:
            return done
        stage = self._staging / "interpreter"
        self._meter.begin(f"Restoring files of {chosen.words}")
        if chosen.archive is not None:
            await in_thread(functools.partial(archive.unpack, chosen.archive, stage))
        else:
            assert chosen.executable is not None
            stage.mkdir(parents=True)
            await uv.make_venv(chosen.executable, stage / "python", cache=self._cache)
        return done | self._take(left, stage, made_for=stage)

    async def _interpreter_from_store(self, entries: Sequence[Entry]) -> dict[str, Entry]:
        """Restore files of an interpreter that came out of an archive; no archive is fetched."""
        build = self._record.interpreter_build
        if not entries or self._store is None or interpreter.is_of_host(build):
            return {}
        stage = self._staging / "stored"
        keys = {build: interpreter_key(build)}
        await in_thread(functools.partial(take, self._store, stage, keys, made_for=self._root))
        work = functools.partial(self._take, entries, stage, made_for=self._root)
        return await in_thread(work)

    async def of_system(self, entries: Sequence[Entry]) -> dict[str, Entry]:
        """Restore shared libraries of the system; return those that load now.

        Whatever release the system's packages hold by now is right, as it is for an installation.
        Raises: HostLacks (`library-missing`).
        """
        for entry in entries:
            make_room(self._root, self._root / entry.path)
            (self._root / entry.path).unlink(missing_ok=True)
        python = self._root / self._record.python
        await libraries.supply(self._recipe, self._root, python, self._meter)
        done: dict[str, Entry] = {}
        for entry in entries:
            now = hash_file(f"{self._root}/{entry.path}")
            if now is not None and now.sha256 is not None:
                done[entry.path] = survey.entry(self._root, entry.path, now, survey.UNOWNED)
        return done

    async def of_packages(self, entries: Sequence[Entry]) -> dict[str, Entry]:
        """Restore files of distributions; return those that are whole now.

        What the cache holds is tried first. A cache whose copy is damaged too (a file that was
        changed in place is the same file there) forgets the package and fetches it.

        Raises: as `uv.install`; what `patches.apply_patches` and `series.fetch` raise.
        """
        trusted = [entry for entry in entries if not entry.has(SUSPECT)]
        done = await self._unpack(trusted, "packages") if trusted else {}
        lost = self._patched if not self._can_patch else frozenset[str]()
        left = [e for e in entries if e.path not in done and e.path not in lost]
        if left:
            names = {self._owner(entry).partition("==")[0] for entry in left}
            await uv.forget(sorted(names), cache=self._cache)
            done |= await self._unpack(left, "fetched")
        return done

    async def _unpack(self, entries: Sequence[Entry], folder: str) -> dict[str, Entry]:
        owners = {self._owner(entry) for entry in entries}
        is_patched = await in_thread(functools.partial(self._add_patched, owners))
        stage = self._staging / folder
        site = stage / self._site()
        site.mkdir(parents=True, exist_ok=True)
        aliases = self._recipe.packages.aliases if self._recipe.packages is not None else ()
        for alias in aliases:
            pin = locks.plain(f"{alias.name}=={alias.version}")
            if pin in owners:
                owners.remove(pin)
                write_alias(site, alias)
        if owners:
            await self._install(owners, stage)
        if is_patched:
            await series.fetch(self._recipe, self._paths, self._meter)
            self._meter.begin("Applying patches")
            work = functools.partial(patches.apply_patches, self._paths, self._recipe, site, stage)
            await in_thread(work)
        return await in_thread(functools.partial(self._take, entries, stage, made_for=self._root))

    async def _install(self, owners: Collection[str], stage: Path) -> None:
        self._meter.begin(f"Unpacking {', '.join(sorted(owners)[:3])}")
        self.unpacked |= set(owners)
        lock = (self._manifest.lock or b"").decode("utf-8", "replace")
        owners = set(owners) - await self._from_store(owners, lock, stage)
        if not owners:
            return
        requirements = stage / "requirements.txt"
        some = locks.localised(locks.part(lock, owners), pip_config.read_sources().folders)
        write_atomic(requirements, some.encode())
        policy = in_force(self._paths)
        here = await self._fetch_large(requirements, owners, policy)
        request = uv.PackageRequest(
            python=self._root / self._record.python,
            requirements=here.requirements,
            cache=self._cache,
            prefix=stage / "python",
            compile_bytecode=False,
            extra_indexes=extra_indexes(self._recipe),
            what=f"The packages of {self._recipe.title} that are damaged",
            policy=policy,
            folders=here.folders,
        )
        await uv.install(request, on_line=self._meter.note)
        done = functools.partial(prefetch.forget, self._paths, self._recipe, stage, prefetch.REPAIR)
        await in_thread(done)

    async def _fetch_large(
        self, requirements: Path, owners: Collection[str], policy: NetworkPolicy
    ) -> Prefetched:
        """Fetch large wheels by our own downloader; a repair that was killed goes on there."""
        known = sizes.wheel_sizes(self._recipe, self._paths)
        python = self._root / self._record.python
        return await prefetch.prefetch(
            *(self._recipe, self._paths, requirements, python, requirements.parent, self._meter),
            policy=policy,
            purpose=prefetch.REPAIR,
            disk_bytes=_UNPACKED * sum(known.get(owner, 0) for owner in owners),
        )

    async def _from_store(self, owners: Collection[str], lock: str, stage: Path) -> frozenset[str]:
        """Lay out what the store has whole; what it has not is not to come from the cache either.

        A file that was changed in place is the same file in runtime, store and cache.
        """
        if self._store is None:
            return frozenset()
        keys = {
            pin: key
            for pin, key in package_keys(lock, self._recipe.interpreter.series).items()
            if pin in owners
        }
        work = functools.partial(take, self._store, stage, keys, made_for=self._root)
        taken = await in_thread(work)
        if taken.damaged:
            names = sorted({pin.partition("==")[0] for pin in taken.damaged})
            await uv.forget(names, cache=self._cache)
        return taken.pins

    def _add_patched(self, owners: set[str]) -> bool:
        """Add what the same patches change: a series is applied to all of its files or to none."""
        if not self._can_patch:
            return False
        patched = self._patched
        touched = {self._owner(e) for e in self._manifest.entries if e.path in patched and e.owner}
        if not touched & owners:
            return False
        owners |= touched
        return True

    @functools.cached_property
    def _can_patch(self) -> bool:
        """Whether the recipe still has the patches that were applied to this installation."""
        applied = self._record.patch_digest
        return applied is not None and applied == patches.patch_digest(self._paths, self._recipe)

    @functools.cached_property
    def _patched(self) -> frozenset[str]:
        """The files that patches have changed here; none when no patch was applied."""
        if self._record.patch_digest is None:
            return frozenset()
        names = patches.recorded_files(self._root)
        if names is None:
            names = patches.patched_files(self._paths, self._recipe)
        return frozenset(f"{self._site()}/{name}" for name in names)

    def _site(self) -> str:
        """Return the folder of packages, as the manifest's paths begin."""
        for entry in self._manifest.entries:
            if relocate.is_listing(entry.path):
                return posixpath.dirname(posixpath.dirname(entry.path))
        return f"python/lib/python{self._recipe.interpreter.series}/site-packages"

    def _owner(self, entry: Entry) -> str:
        return locks.plain(self._manifest.owners[entry.owner - 1])

    def _relink(self, entry: Entry) -> bool:
        target = self._root / entry.path
        make_room(self._root, target)
        fresh = target.with_name(f".{target.name}.link")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(os.fsdecode(entry.digest))
        fresh.replace(target)
        return True

    def _take(self, entries: Iterable[Entry], stage: Path, *, made_for: Path) -> dict[str, Entry]:
        """Move over what is as the manifest says; `made_for` is the folder that scripts name."""
        done: dict[str, Entry] = {}
        for entry in entries:
            source = stage / entry.path
            if source.is_symlink() or not source.is_file():
                if entry.has(NOTE):
                    source.parent.mkdir(parents=True, exist_ok=True)
                    source.write_bytes(b"")
                else:
                    continue
            good = self._checked(entry, source, made_for)
            if good is not None:
                self._place(good, source, made_for)
                done[entry.path] = good
        return done

    def _checked(self, entry: Entry, source: Path, made_for: Path) -> Entry | None:
        """Return the entry of a file that is right; of a suspect one, with the new digest."""
        digest = _digest(entry, source, made_for)
        if digest is None:
            return None
        if entry.has(SUSPECT):
            return msgspec.structs.replace(entry, flags=entry.flags & ~SUSPECT, digest=digest)
        return entry if entry.has(NOTE) or digest == entry.digest else None

    def _place(self, entry: Entry, source: Path, made_for: Path) -> None:
        target = self._root / entry.path
        make_room(self._root, target)
        if entry.has(PLACED) and made_for != self._root:
            form = relocate.general(source.read_bytes(), made_for)
            assert form is not None
            write_placed(target, form, self._root, entry)
        else:
            give_mode(source, source, entry)
            source.replace(target)


def _digest(entry: Entry, source: Path, made_for: Path) -> bytes | None:
    if entry.has(PLACED) or entry.has(LISTING):
        form = verify.form_of(entry, source.read_bytes(), made_for)
        return hashlib.sha256(form).digest() if form is not None else None
    now = hash_file(str(source))
    return now.sha256 if now is not None else None


def write_placed(target: Path, form: bytes, root: Path, entry: Entry) -> None:
    """Write a file that names its folder, for a runtime in `root`."""
    mode = 0o755 if entry.has(EXECUTABLE) else 0o644
    write_atomic(target, relocate.placed(form, root), mode=mode)


def give_mode(source: Path, target: Path, entry: Entry) -> None:
    """Make `target` the content of `source` with the executable bit that `entry` says.

    Never by a change in place: the file is a link into the package cache.
    """
    mode = source.stat().st_mode
    wanted = (mode | 0o111) if entry.has(EXECUTABLE) else (mode & ~0o111)
    if source == target and wanted == mode:
        return
    fresh = target.with_name(f".{target.name}.mode")
    shutil.copyfile(source, fresh)
    fresh.chmod(wanted & 0o777)
    times = source.stat()
    os.utime(fresh, ns=(times.st_atime_ns, times.st_mtime_ns))
    fresh.replace(target)


def make_room(root: Path, target: Path) -> None:
    """Make the folder of `target`, and remove what is in the way: links and files for folders."""
    for parent in reversed(target.relative_to(root).parents):
        place = root / parent
        is_inside = len(parent.parts) > 1  # the tree itself may lie on another disk
        if (is_inside and place.is_symlink()) or (place.exists() and not place.is_dir()):
            place.unlink()
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)


def hashed_again(root: Path, entry: Entry, old_root: Path) -> Entry | None:
    """Return the entry of a file that was just restored, with its size and time of now.

    None when it is still not what the entry says.
    """
    if entry.has(LINK):
        return entry
    now = hash_file(f"{root}/{entry.path}")
    if now is None or verify.compare(entry, now, root, old_root) is not None:
        return None
    return msgspec.structs.replace(entry, size=now.size, mtime_ns=now.mtime_ns)
