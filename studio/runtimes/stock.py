"""One installation and the store: what it takes out before uv is asked, what it leaves there."""

import asyncio
import contextlib
import functools
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path

from studio.domain.errors import Busy
from studio.domain.manifests import RuntimeRecipe
from studio.host import locks, pip_config, uv, uv_cache
from studio.host.files import folder_bytes, require_space, write_atomic
from studio.host.meter import Meter
from studio.host.paths import Paths
from studio.host.sharing import Way
from studio.host.threads import in_thread
from studio.runtimes import folder as folders
from studio.runtimes import survey, wheels
from studio.runtimes.store import Read, Store, interpreter_key, package_keys
from studio.runtimes.store_keep import keep, keep_interpreter
from studio.runtimes.store_take import Taken, take
from studio.runtimes.survey import Seen
from studio.runtimes.verify import ticking

MISSING_FILE = "missing.lock"
_CLEAN_UP_S = 60.0
_CLEAN_UP_LOOK_S = 0.1


class Stock:
    """The store as one installation sees it."""

    def __init__(self, recipe: RuntimeRecipe, paths: Paths, meter: Meter) -> None:
        self.store = Store(paths)
        self.known: dict[str, Read] = {}
        """What was read of the runtime's files, so that its list of files need not read it again.
        """
        self.taken_bytes = 0
        """Of packages that came out of the store."""
        self._seen: dict[str, Seen] | None = None
        """The runtime before patches. They change no package that is kept after them."""
        self._recipe = recipe
        self._paths = paths
        self._meter = meter
        self._lock = whole_lock(paths, recipe)
        self._keys = package_keys(self._lock, recipe.interpreter.series)
        self._cache = paths.cache / "uv"

    @contextlib.asynccontextmanager
    async def in_use(self) -> AsyncIterator[None]:
        """Keep clean-ups away from the store; waits for one that is under way.

        Raises: Busy (`clean-up-running`), OSError.
        """
        await in_thread(self.store.open)
        deadline = time.monotonic() + _CLEAN_UP_S
        while True:
            with self.store.used() as is_ours:
                if is_ours:
                    yield
                    return
            if time.monotonic() > deadline:
                raise Busy(
                    "clean-up-running",
                    "The store is being cleaned up by another process of the Studio.",
                    hint="Wait until `weir runtime gc` is done, then run it again.",
                )
            await asyncio.sleep(_CLEAN_UP_LOOK_S)

    def require_space(self, unfinished: Iterable[Path], least_bytes: int) -> None:
        """Refuse a disk that is too small; what is here counts, half done or in the store.

        Raises: HostLacks (`disk-space`).
        """
        needed = self._recipe.needs.disk_bytes
        here = sum(folder_bytes(place) for place in unfinished)
        if here:
            here += folder_bytes(self._cache)
        if self.store.way() is Way.LINK:
            here = max(here, self.store.bytes_of(self._keys.values()))
        wanted = max(min(least_bytes, needed), needed - here)
        require_space(self._paths.home, wanted, self._recipe.title)

    def has_interpreter(self, build: str) -> bool:
        """Tell whether the interpreter of this build needs no archive."""
        return self.store.holds(interpreter_key(build))

    async def take_interpreter(self, root: Path, build: str) -> bool:
        """Put an interpreter in place; False when the store does not have it whole."""
        taken = await self._take(root, {build: interpreter_key(build)})
        site = root / "python" / "lib" / f"python{self._recipe.interpreter.series}/site-packages"
        if taken.pins:
            site.mkdir(parents=True, exist_ok=True)
        return bool(taken.pins)

    async def keep_interpreter(self, root: Path, build: str) -> None:
        """Leave in the store what was just unpacked."""
        work = functools.partial(keep_interpreter, self.store, root, interpreter_key(build))
        self.known |= await in_thread(work)

    async def take_packages(self, root: Path) -> Path | None:
        """Put in place what is here; return the requirements of the rest, None when that is all.

        Raises: OSError, HostLacks (`disk-full`, `not-writable`).
        """
        taken = await self._take(root, self._keys)
        if taken.damaged:  # what uv has of them may be the same files
            names = sorted({pin.partition("==")[0] for pin in taken.damaged})
            await uv.forget(names, cache=self._cache)
        self.taken_bytes = taken.bytes
        missing = self._keys.keys() - taken.pins
        if not missing:
            return None
        if not taken.pins:
            lock = folders.lock_file(self._paths, self._recipe)
            assert lock is not None
            return wheels.requirements_file(self._recipe, lock, root)
        some = locks.localised(locks.part(self._lock, missing), pip_config.read_sources().folders)
        write_atomic(root / MISSING_FILE, some.encode())
        return root / MISSING_FILE

    async def keep_packages(self, root: Path, touched: frozenset[str] | None) -> None:
        """Leave in the store what uv has put in place and a patch is about to change.

        `touched` are those packages (touched.py); None: all, for a build step may change any.
        """
        fresh = {pin: key for pin, key in self._fresh() if touched is None or pin in touched}
        if fresh:
            self._meter.begin(f"Putting {len(fresh)} packages into the store")
        await self.look(root)
        await self._keep(root, fresh)
        for name in (MISSING_FILE, wheels.REQUIREMENTS_FILE):
            (root / name).unlink(missing_ok=True)

    async def look(self, root: Path) -> None:
        """Look once at the files that are still to be kept: patches make and remove others."""
        if self._seen is None and self._fresh():
            self._seen = await in_thread(functools.partial(survey.walk, root))

    async def keep_others(self, root: Path, touched: frozenset[str] | None) -> None:
        """Leave in the store what no patch and no step has changed; says nothing of it."""
        if touched is not None:
            await self._keep(root, {pin: key for pin, key in self._fresh() if pin not in touched})

    def _fresh(self) -> list[tuple[str, str]]:
        return [(pin, key) for pin, key in self._keys.items() if not self.store.holds(key)]

    async def _keep(self, root: Path, fresh: Mapping[str, str]) -> None:
        if fresh:
            work = functools.partial(keep, self.store, root, fresh, self.known, self._seen)
            kept = await in_thread(work)
            self.known |= kept.known
            if self.store.way() is Way.COPY:
                await in_thread(functools.partial(self._forget_cached, kept.pins))

    async def _take(self, root: Path, keys: Mapping[str, str]) -> Taken:
        held = {pin: key for pin, key in keys.items() if self.store.holds(key)}
        if not held:
            return Taken(frozenset(), frozenset(), 0, {})
        total = await in_thread(functools.partial(self.store.bytes_of, held.values()))
        self._meter.begin("Taking from the store what is here", total=total, unit="bytes")
        read = [0]

        def on_bytes(count: int) -> None:
            read[0] += count

        work = functools.partial(take, self.store, root, held, on_bytes=on_bytes)
        taken = await ticking(work, lambda: self._meter.reach(min(read[0], total)))
        self.known |= taken.known
        return taken

    def _forget_cached(self, pins: frozenset[str]) -> None:
        """Remove uv's copies: where a disk cannot share, they would be the third of each file."""
        for place, _pin in uv_cache.unpacked(self._cache, pins):
            folders.remove(place)


def whole_lock(paths: Paths, recipe: RuntimeRecipe) -> str:
    """Return everything that is installed beside the interpreter, with its hashes."""
    lock = folders.lock_file(paths, recipe)
    return wheels.whole_lock(recipe, lock) if lock is not None else ""
