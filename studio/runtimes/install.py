"""One runtime from nothing to installed, in journaled steps (`InstallStep` names them).

Every step can be run again, and a step that is in the journal is not. `runtime.json` is written
last: a folder without it is unfinished, whatever else it holds. Killed anywhere, run it again.
"""

import asyncio
import datetime
import enum
import functools
import shutil
from pathlib import Path

import msgspec

from studio.domain.errors import Busy, Damaged, HostLacks, StudioError
from studio.domain.events import InstallStep, Stage
from studio.domain.manifests import InstalledRuntime, RuntimeRecipe
from studio.host import archive, tools, uv
from studio.host.documents import read_json, write_json
from studio.host.files import exclusive, from_os_error
from studio.host.meter import Meter, Report
from studio.host.network import in_force
from studio.host.paths import Paths
from studio.host.tasks import together
from studio.host.threads import in_thread
from studio.runtimes import (
    access,
    bytecode,
    canary,
    history,
    libraries,
    patches,
    pin,
    prefetch,
    probing,
    running,
    series,
    sizes,
    steps,
    touched,
)
from studio.runtimes import folder as folders
from studio.runtimes.interpreter import Chosen, choose, host_platform, probe_question
from studio.runtimes.manifest import MANIFEST_FILE
from studio.runtimes.packages import (
    install_packages,
    site_packages,
    write_alias,
)
from studio.runtimes.stock import Stock
from studio.runtimes.survey import Draft, draft, write_manifest

JOURNAL_FILE = "journal.json"
_PROBE_TIMEOUT_S = 120.0
_MIN_FREE_BYTES = 500_000_000


class Step(enum.StrEnum):
    """What has been done in an unfinished folder."""

    INTERPRETER = "interpreter"
    LINKED = "linked"
    """All package files are in place."""
    PACKAGES = "packages"
    """And so is their bytecode."""
    ALIASES = "aliases"
    STEPS = "steps"
    """All build steps are done."""
    PATCHES = "patches"
    """All patches are applied and their modules compiled."""
    PROBE = "probe"
    CANARY = "canary"


class Journal(msgspec.Struct, frozen=True, kw_only=True):
    """`journal.json`: how far an installation got."""

    runtime_id: str
    steps: tuple[Step, ...] = ()


async def install(
    recipe: RuntimeRecipe, paths: Paths, report: Report, *, is_update: bool = False
) -> InstalledRuntime:
    """Install `recipe`, or recognise that it is installed (in milliseconds, starting nothing).

    It becomes the one that is used when all is done; until then, and when anything fails, the
    present one stays. An installation that a person went back to counts as this recipe's, but for
    `is_update`.

    Raises: HostLacks (`runtime-not-pinned`, `hash-unverified`, `platform-unsupported`,
    `disk-space`, `disk-full`, `not-writable`, `interpreter-missing`, `library-missing`),
    NetworkFailure (`packages-unreachable`, `interpreter-unreachable`), Damaged (`download-hash`,
    `package-hash`, `archive-unsafe`, `runtime-probe`, `patch-rejected`, `canary-failed`), Busy
    (`install-running`, `clean-up-running`, `engine-running`), and what `patches.require_patches`
    raises.
    """
    meter = Meter(Stage.RUNTIME, recipe.title, report)
    try:
        meter.step(InstallStep.PLAN)
        found = _found(recipe, paths, is_update=is_update)
        if found is None:
            pin.require_installable(recipe)
            _require_platform(recipe)
            found = await _install_locked(recipe, paths, meter, is_update=is_update)
            meter.finish(steps.said(found.interpreter, folders.folder_of(paths, found)))
        else:
            said = steps.said(found.interpreter, folders.folder_of(paths, found))
            meter.finish(said, skipped=True)
    except StudioError as error:
        meter.fail(error.message)
        raise
    except OSError as error:
        failure = from_os_error(error, _place(error, paths.runtimes / recipe.name))
        meter.fail(failure.message)
        raise failure from error
    return found


def _found(recipe: RuntimeRecipe, paths: Paths, *, is_update: bool) -> InstalledRuntime | None:
    found = folders.installed(paths, recipe)
    is_old = found is not None and is_update and not folders.is_made_of(paths, recipe, found)
    return None if is_old else found


async def _install_locked(
    recipe: RuntimeRecipe, paths: Paths, meter: Meter, *, is_update: bool
) -> InstalledRuntime:
    home = folders.named_folder(paths, recipe.name)
    home.mkdir(parents=True, exist_ok=True)
    with exclusive(home / "install.lock") as is_ours:
        if not is_ours:
            raise Busy(
                "install-running",
                f"{recipe.title} is being installed by another process of the Studio.",
                hint="Wait until it is done; a second run then finds it installed.",
            )
        found = _found(recipe, paths, is_update=is_update)
        if found is not None:
            return found
        _remove_unfinished_writes(home)
        await series.fetch(recipe, paths, meter)
        meter.begin("Seeing what is here and what is to be fetched")
        patches.require_patches(paths, recipe)
        stock = Stock(recipe, paths, meter)
        async with stock.in_use():
            meter.step(InstallStep.SPACE)
            meter.begin("Looking how much room there is")
            work = functools.partial(stock.require_space, _unfinished(home), _MIN_FREE_BYTES)
            await in_thread(work)
            meter.step(InstallStep.FETCH)
            chosen = await choose(recipe, paths, meter, is_stocked=stock.has_interpreter)
            if chosen.archive is not None:
                meter.step(InstallStep.VERIFY)
                meter.begin(f"{chosen.words}: its sha256 is the recipe's")
            installed = await _Installation(recipe, paths, meter, chosen, stock).run()
        await in_thread(functools.partial(_remove_unfinished, paths, home))
        return installed


def download_bytes(recipe: RuntimeRecipe, paths: Paths) -> int:
    """Return about how many bytes a start would still fetch; 0 when it is installed."""
    if recipe.packages is None or folders.in_use(paths, recipe.name) is not None:
        return 0
    return sizes.fetch_bytes(recipe, paths)


class _Installation:
    """One runtime folder on its way to `runtime.json`."""

    def __init__(
        self, recipe: RuntimeRecipe, paths: Paths, meter: Meter, chosen: Chosen, stock: Stock
    ) -> None:
        self._recipe = recipe
        self._paths = paths
        self._meter = meter
        self._chosen = chosen
        self._stock = stock
        self._lock_digest = folders.lock_digest(paths, recipe)
        self._patch_digest = patches.patch_digest(paths, recipe)
        self._id = folders.runtime_id(chosen.build, self._lock_digest, self._patch_digest)
        self._folder = folders.runtime_folder(paths, recipe.name, self._id)
        self._python = self._folder / folders.PYTHON
        self._journal = self._read_journal()
        self._drafted: Draft | None = None
        self._touched: frozenset[str] | None = None
        self._is_built = asyncio.Event()

    async def run(self) -> InstalledRuntime:
        """Do every step that the journal does not hold."""
        if Step.LINKED not in self._journal.steps:
            if self._python.exists():  # its records are lost, and an engine may serve from it
                running.require_idle(self._paths, self._recipe, self._folder)
            # A kill while files were put in place may have left a package that looks installed
            # and is not. Beginning anew costs seconds: what was fetched lies in the cache.
            await self._make_interpreter()
        else:
            await in_thread(functools.partial(access.sweep, self._folder / "python"))
        self._meter.step(InstallStep.PACKAGES)
        if self._recipe.packages is not None:
            await self._install_packages()
            await self._stock.look(self._folder)
        # Patches and checks keep one core busy; what is left to be kept and listed gets the others.
        await together([self._finish_and_check, self._keep_and_draft])
        self._meter.step(InstallStep.ACTIVATE)
        return await self._activate()

    async def _finish_and_check(self) -> None:
        self._meter.step(InstallStep.PATCHES)
        if self._recipe.patches and Step.PATCHES not in self._journal.steps:
            await self._apply_patches()
        if Step.STEPS not in self._journal.steps:
            await steps.build(self._recipe, self._paths, self._folder, self._python, self._meter)
            self._did(Step.STEPS)
        await libraries.supply(self._recipe, self._folder, self._python, self._meter)
        self._is_built.set()
        self._meter.step(InstallStep.PROBE)
        await self._probe()
        self._meter.step(InstallStep.CANARY)
        await canary.require(self._recipe, self._paths, self._id, self._python, self._meter)
        self._did(Step.CANARY)

    async def _keep_and_draft(self) -> None:
        if self._recipe.packages is not None:
            await self._stock.keep_others(self._folder, self._touched)
        await self._is_built.wait()
        known = self._stock.known
        work = functools.partial(draft, self._paths, self._recipe, self._id, known)
        self._drafted = await in_thread(work)

    def _read_journal(self) -> Journal:
        fresh = Journal(runtime_id=self._id)
        try:
            journal = read_json(self._folder / JOURNAL_FILE, Journal)
        except Damaged:
            return fresh
        return journal if journal is not None and journal.runtime_id == self._id else fresh

    def _did(self, step: Step) -> None:
        if step not in self._journal.steps:
            self._journal = Journal(runtime_id=self._id, steps=(*self._journal.steps, step))
            write_json(self._folder / JOURNAL_FILE, self._journal)

    async def _make_interpreter(self) -> None:
        target = self._folder / "python"
        partial = self._folder / "python.partial"
        self._meter.begin(f"Setting up {self._chosen.words}")
        for file in (folders.RECORD_FILE, patches.REPORT_FILE):
            (self._folder / file).unlink(missing_ok=True)
        await in_thread(functools.partial(steps.forget, self._folder))
        for name in ("python", "python.partial", patches.JOURNALS, bytecode.REPORT_FOLDER):
            await in_thread(functools.partial(_remove, self._folder / name))
        if self._chosen.executable is not None:
            self._meter.step(InstallStep.UNPACK)
            await uv.make_venv(self._chosen.executable, target, cache=self._paths.cache / "uv")
        elif not await self._stock.take_interpreter(self._folder, self._chosen.build):
            await self._unpack_interpreter(partial, target)
        self._did(Step.INTERPRETER)

    async def _unpack_interpreter(self, partial: Path, target: Path) -> None:
        if self._chosen.archive is None:  # what the store had of it was not whole
            self._chosen = await choose(self._recipe, self._paths, self._meter)
        self._meter.step(InstallStep.UNPACK)
        assert self._chosen.archive is not None
        await in_thread(functools.partial(_remove, target))
        await in_thread(functools.partial(archive.unpack, self._chosen.archive, partial))
        self._move_into_place(partial, target)
        await self._compile_standard_library(target)
        await self._stock.keep_interpreter(self._folder, self._chosen.build)

    def _move_into_place(self, partial: Path, target: Path) -> None:
        unpacked = partial / "python"
        if not (partial / folders.PYTHON).exists():
            raise Damaged(
                "archive-damaged",
                f"{self._chosen.archive} holds no {folders.PYTHON}.",
                hint="Remove the file and run it again.",
            )
        unpacked.rename(target)
        partial.rmdir()

    async def _compile_standard_library(self, python: Path) -> None:
        """Compile what an archive ships as source only; a runtime is not written to later on."""
        library = next((python / "lib").glob("python3.*"), None)
        if library is None or any((library / "__pycache__").glob("*.pyc")):
            return
        self._meter.begin("Compiling the standard library")
        await bytecode.compile_folder(self._paths, self._python, library)

    async def _install_packages(self) -> None:
        assert self._recipe.packages is not None
        if Step.LINKED not in self._journal.steps:
            missing = await self._stock.take_packages(self._folder)
            if missing is not None:
                await self._install_missing(missing)
            self._did(Step.LINKED)
            if missing is None:  # the store has the bytecode too
                self._did(Step.PACKAGES)
        if Step.PACKAGES not in self._journal.steps:
            place = (self._paths, self._folder, self._python)
            self._stock.known |= await bytecode.compile_packages(*place, self._meter)
            self._did(Step.PACKAGES)
        work = functools.partial(
            touched.packages, self._recipe, self._paths, self._folder, self._python
        )
        self._touched = await in_thread(work)
        if Step.PATCHES not in self._journal.steps:
            await self._stock.keep_packages(self._folder, self._touched)
        forget = functools.partial(prefetch.forget, self._paths, self._recipe, self._folder)
        await in_thread(forget)
        for alias in self._recipe.packages.aliases:
            write_alias(site_packages(self._python), alias)
        self._did(Step.ALIASES)

    async def _install_missing(self, missing: Path) -> None:
        policy = in_force(self._paths)
        here = await prefetch.prefetch(
            *(self._recipe, self._paths, missing, self._python, self._folder, self._meter),
            policy=policy,
        )
        await install_packages(
            self._recipe,
            here.requirements,
            self._python,
            self._paths.cache / "uv",
            self._meter,
            self._stock.taken_bytes,
            policy=policy,
            folders=here.folders,
        )

    async def _apply_patches(self) -> None:
        self._meter.begin("Applying patches")
        site = site_packages(self._python)
        try:
            modules = await in_thread(
                functools.partial(
                    patches.apply_patches, self._paths, self._recipe, site, self._folder
                )
            )
        except Damaged:
            self._forget_steps()
            raise
        await bytecode.compile_modules(self._paths, self._python, modules)
        await in_thread(functools.partial(_remove, self._folder / patches.JOURNALS))
        self._did(Step.PATCHES)

    async def _probe(self) -> None:
        self._meter.begin("Checking the finished runtime")
        result = await tools.run_tool(
            self._python,
            tools.tool_file(self._paths, "probe.py"),
            [probe_question(self._recipe)],
            timeout_s=_PROBE_TIMEOUT_S + probing.more_time_s(self._recipe),
            variables=probing.environment(self._recipe, self._paths, self._folder, self._python),
        )
        try:
            answer = msgspec.json.decode(
                result.tail[-1] if result.tail else "", type=probing.Answer
            )
        except msgspec.DecodeError as error:
            raise self._probe_failure("its interpreter does not run", result.tail) from error
        faults = probing.all_faults(self._recipe, answer)
        if faults:
            raise self._probe_failure("; ".join(faults), result.tail)
        self._did(Step.PROBE)

    def _probe_failure(self, reason: str, evidence: tuple[str, ...]) -> Damaged:
        self._forget_steps()
        return Damaged(
            "runtime-probe",
            f"{self._recipe.title} is not as its recipe says: {reason}.",
            hint="Run it again: it is built anew from what was fetched. If it repeats, remove "
            f"{self._paths.cache / 'uv'} first.",
            evidence=evidence[-10:],
        )

    def _forget_steps(self) -> None:
        """Make the next run build the folder anew."""
        self._journal = Journal(runtime_id=self._id)
        write_json(self._folder / JOURNAL_FILE, self._journal)

    async def _activate(self) -> InstalledRuntime:
        self._meter.begin("Listing every file with its digest")
        write = functools.partial(write_manifest, self._paths, self._recipe, self._id)
        size = await in_thread(functools.partial(write, self._stock.known, self._drafted))
        record = InstalledRuntime(
            name=self._recipe.name,
            runtime_id=self._id,
            python=folders.PYTHON,
            interpreter=self._chosen.words,
            interpreter_build=self._chosen.build,
            lock_digest=self._lock_digest,
            patch_digest=self._patch_digest,
            bytes=size,
            installed_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        )
        write_json(self._folder / folders.RECIPE_FILE, self._recipe)
        write_json(self._folder / folders.RECORD_FILE, record)
        history.activate(folders.named_folder(self._paths, self._recipe.name), self._id)
        return record


def _place(error: OSError, otherwise: Path) -> Path:
    """Return the file that an error of the operating system is about."""
    return Path(error.filename) if isinstance(error.filename, str) else otherwise


def _require_platform(recipe: RuntimeRecipe) -> None:
    here = host_platform()
    if here not in recipe.needs.platforms:
        raise HostLacks(
            "platform-unsupported",
            f"{recipe.title} runs on {', '.join(recipe.needs.platforms)}; this is {here}.",
            hint="Choose a preset whose runtime supports this machine.",
        )


def _remove_unfinished_writes(home: Path) -> None:
    """Remove the temporary files of atomic writes that a kill cut off."""
    for place in (
        f".{history.CURRENT_FILE}.*",
        f".{history.HISTORY_FILE}.*",
        f"*/.{MANIFEST_FILE}.*",
        f"*/.{folders.RECORD_FILE}.*",
        f"*/.{JOURNAL_FILE}.*",
        f"*/.{patches.REPORT_FILE}.*",
        f"*/.{folders.RECIPE_FILE}.*",
        f"*/.{steps.BUILT_FILE}.*",
    ):
        for path in home.glob(place):
            path.unlink(missing_ok=True)


def _unfinished(home: Path) -> list[Path]:
    return [
        path
        for path in home.iterdir()
        if path.is_dir() and not (path / folders.RECORD_FILE).exists()
    ]


def _remove_unfinished(paths: Paths, home: Path) -> None:
    """Remove folders that an earlier choice of interpreter left without `runtime.json`.

    One that lost it, to a sync tool say, while an engine runs from it, is the next clean-up's.
    """
    for path in _unfinished(home):
        if not running.runs_from(paths, path):
            shutil.rmtree(path, ignore_errors=True)


def _remove(path: Path) -> None:
    if path.exists():
        shutil.rmtree(path)
