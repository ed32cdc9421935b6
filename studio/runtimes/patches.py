"""A recipe's patch sets: read and named by one digest, then applied to the installed packages.

`patching` knows how a series is applied; here is which series, to what, and what is kept of it:
`patches.json` in the runtime folder says for each hunk what became of it. The digest depends on
the recipe and the patch files alone, so it is known before anything is fetched, and equal inputs
give an equal digest on any machine.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec

from studio.domain.errors import BadInput, Damaged
from studio.domain.manifests import PatchSet, RuntimeRecipe
from studio.host.documents import read_json, write_json
from studio.host.files import sha256_bytes
from studio.host.paths import Paths
from studio.runtimes import series as upstreams
from studio.runtimes.catalog import recipe_folder
from studio.runtimes.packages import refresh_records
from studio.runtimes.patching.apply import apply, preview, recover
from studio.runtimes.patching.decide import named_paths
from studio.runtimes.patching.model import (
    HunkOutcome,
    HunkResult,
    Outcome,
    PatchOutcome,
    Plan,
    Series,
)
from studio.runtimes.patching.parse import parse_series

PATCHES = "patches"
REPORT_FILE = "patches.json"
JOURNALS = "patching"
"""Folder of the engine's journals while a series is being applied."""


class SetReport(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one set."""

    title: str
    tree: str
    source: str | None = None
    """Repository and commit of an upstream series."""
    left_out: str | None = None
    """Why the set was left out, and at which cost."""
    replaced: tuple[str, ...] = ()
    """Patches that were skipped, for an upstream series does the same."""
    result_digest: str | None = None
    """Digest of every file that the set names, as it is now; None while it is being applied."""
    files: tuple[str, ...] = ()
    """Those files, relative to site-packages."""
    patches: tuple[PatchOutcome, ...]
    hunks: tuple[HunkOutcome, ...]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """`patches.json`."""

    schema_version: int = 1
    patch_digest: str
    sets: tuple[SetReport, ...] = ()


def patch_digest(paths: Paths, recipe: RuntimeRecipe) -> str | None:
    """Return the digest of all patches and build steps of a recipe, or None when it has none.

    Raises: BadInput (`patch-missing`, `patch-name`).
    """
    if not recipe.patches and not any(step.default for step in recipe.steps):
        return None
    named: list[object] = [
        {
            "tree": patches.tree,
            "strip": patches.strip,
            "files": [sha256_bytes(data) for _name, data in _own_files(paths, recipe, patches)],
            "upstream": msgspec.to_builtins(patches.upstream),
        }
        for patches in recipe.patches
    ]
    # What is to be built, and not what this machine could build: equal on every machine.
    named += [msgspec.to_builtins(step) for step in recipe.steps if step.default]
    return hashlib.sha256(msgspec.json.encode(named)).hexdigest()


def require_patches(paths: Paths, recipe: RuntimeRecipe) -> None:
    """Refuse, before anything is fetched, a recipe whose patches cannot be had or read.

    An upstream series has to be fetched before (series.py).

    Raises: HostLacks (`runtime-not-pinned`, `series-missing`), BadInput (`patch-missing`,
    `patch-name`, `patch-binary`, `patch-unsupported`), Damaged (`patch-malformed`,
    `series-damaged`, `series-unexpected`).
    """
    for patches in recipe.patches:
        _tree_name(recipe, patches)
        named_paths(_series(paths, recipe, patches), patches.strip)


def patched_files(paths: Paths, recipe: RuntimeRecipe) -> frozenset[str]:
    """Return every file that a recipe's patches name, relative to site-packages.

    Raises: as `require_patches`.
    """
    require_patches(paths, recipe)
    return frozenset(
        name
        for patches in recipe.patches
        for name in _in_site(patches, named_paths(_series(paths, recipe, patches), patches.strip))
    )


def apply_patches(
    paths: Paths, recipe: RuntimeRecipe, site: Path, folder: Path
) -> tuple[Path, ...]:
    """Apply every set to `site`; return the modules whose bytecode has to be compiled.

    `folder` is the runtime's; a set that its report calls done is not looked at again. May be
    killed and run again; takes seconds at most.

    Raises: Damaged (`patch-rejected`, `patch-journal`), and what `require_patches` and
    `patching.apply` raise.
    """
    require_patches(paths, recipe)
    digest = patch_digest(paths, recipe)
    assert digest is not None
    for patches in recipe.patches:
        tree = site / _tree_name(recipe, patches)
        if tree.is_dir():
            recover(tree, _journal(folder, patches))
    keeper = _Keeper(folder / REPORT_FILE, digest)
    for number, patches in enumerate(recipe.patches):
        # A later set may have changed the lines of this one, which then looks like no other state.
        if keeper.is_done(number):
            continue
        tree = site / _tree_name(recipe, patches)
        series = _series(paths, recipe, patches)
        journal = _journal(folder, patches)
        files = _in_site(patches, named_paths(series, patches.strip))
        keeper.plan(number, _report_of(recipe, patches), preview(series, tree, patches.strip))
        try:
            outcome = apply(series, tree, journal=journal, strip=patches.strip)
        except Damaged as error:
            if error.code != "patch-rejected" or patches.fallback_cost is None:
                raise
            keeper.leave_out(number, f"{error.message} Without it: {patches.fallback_cost}.")
            continue
        refresh_records(site, files)
        keeper.done(number, outcome, files)
    named = dict.fromkeys(site / name for name in keeper.files() if name.endswith(".py"))
    return tuple(path for path in named if path.is_file())


def recorded_files(folder: Path) -> frozenset[str] | None:
    """Return every file that a runtime's patches have changed, relative to site-packages.

    None when nobody can tell: then the recipe has to be asked, which may not be the same any more.
    """
    try:
        report = read_json(folder / REPORT_FILE, Report)
    except Damaged:
        return None
    return None if report is None else frozenset(n for one in report.sets for n in one.files)


def left_out(folder: Path) -> tuple[str, ...]:
    """Return in words which sets of a runtime did not fit, and what it costs."""
    try:
        report = read_json(folder / REPORT_FILE, Report)
    except Damaged:
        return ()
    sets = report.sets if report is not None else ()
    return tuple(f"{one.title}: {one.left_out}" for one in sets if one.left_out is not None)


class _Keeper:
    """Writes the report before and after each set, and reads what a run that was killed left.

    That run's findings are kept: to the next one a hunk is merely there.
    """

    def __init__(self, path: Path, digest: str) -> None:
        self._path = path
        self._digest = digest
        self._sets = self._read()

    def _read(self) -> list[SetReport]:
        try:
            report = read_json(self._path, Report)
        except Damaged:
            return []
        is_ours = report is not None and report.patch_digest == self._digest
        return list(report.sets) if report is not None and is_ours else []

    def is_done(self, number: int) -> bool:
        """Return whether a set was applied to its end."""
        if number >= len(self._sets):
            return False
        one = self._sets[number]
        return one.result_digest is not None or one.left_out is not None

    def files(self) -> list[str]:
        """Return every file that the sets name."""
        return [name for one in self._sets for name in one.files]

    def plan(self, number: int, report: SetReport, plan: Plan) -> None:
        """Keep what a set is about to do."""
        was_there = all(hunk.result is HunkResult.ALREADY for hunk in plan.hunks)
        if was_there and number < len(self._sets):
            return  # killed after its last change; what it planned is what it did
        self._sets[number:] = [
            msgspec.structs.replace(report, patches=plan.patches, hunks=plan.hunks)
        ]
        self._write()

    def leave_out(self, number: int, reason: str) -> None:
        """Keep that a set does not fit, and why that is no reason to stop."""
        self._sets[number] = msgspec.structs.replace(self._sets[number], left_out=reason)
        self._write()

    def done(self, number: int, outcome: Outcome, files: tuple[str, ...]) -> None:
        """Keep what a set has become."""
        self._sets[number] = msgspec.structs.replace(
            self._sets[number], result_digest=outcome.digest, files=files
        )
        self._write()

    def _write(self) -> None:
        write_json(self._path, Report(patch_digest=self._digest, sets=tuple(self._sets)))


def _series(paths: Paths, recipe: RuntimeRecipe, patches: PatchSet) -> Series:
    return parse_series(list(_files(paths, recipe, patches)))


def _files(paths: Paths, recipe: RuntimeRecipe, patches: PatchSet) -> Iterator[tuple[str, bytes]]:
    upstream = patches.upstream
    if upstream is not None:
        if upstream.commit is None:
            raise upstreams.not_pinned(recipe, patches.title, upstream.repository)
        snapshot = upstreams.load(paths, upstream)
        upstreams.check(recipe, patches, snapshot)
        yield from upstreams.patch_files(snapshot, patches)
    yield from _own_files(paths, recipe, patches)


def _own_files(
    paths: Paths, recipe: RuntimeRecipe, patches: PatchSet
) -> Iterator[tuple[str, bytes]]:
    """Yield those that lie in a recipe's folder, but for what an upstream series replaces."""
    folder = recipe_folder(paths, patches.recipe or recipe.name) / PATCHES
    left_out = replaced(recipe, patches)
    for name in patches.files:
        if name in left_out:
            continue
        if PurePosixPath(name).name != name or "\\" in name:
            raise BadInput(
                "patch-name",
                f"The recipe of {recipe.title} names the patch `{name}`, which is no file name.",
                hint=f"Patches lie in {folder}, without folders of their own.",
            )
        try:
            yield name, (folder / name).read_bytes()
        except OSError as error:
            raise BadInput(
                "patch-missing",
                f"{folder / name}, which the recipe names, cannot be read: {error.strerror}.",
                hint="Restore the file, or take it out of the recipe.",
            ) from error


def _tree_name(recipe: RuntimeRecipe, patches: PatchSet) -> str:
    if patches.recipe is not None and PurePosixPath(patches.recipe).name != patches.recipe:
        raise BadInput(
            "patch-name",
            f"The recipe of {recipe.title} takes patches of `{patches.recipe}`, which is no name.",
            hint="Name another recipe of the catalogue.",
        )
    tree = PurePosixPath(patches.tree)
    if tree.is_absolute() or ".." in tree.parts or "\\" in patches.tree:
        raise BadInput(
            "patch-name",
            f"The recipe of {recipe.title} patches the folder `{patches.tree}`, which is not "
            "inside its packages.",
            hint="Name a folder relative to site-packages.",
        )
    return patches.tree


def _journal(folder: Path, patches: PatchSet) -> Path:
    """Return the journal of a tree: sets of one tree share it, so that one takes back another."""
    name = hashlib.sha256(patches.tree.encode()).hexdigest()[:12]
    return folder / JOURNALS / f"{name}.json"


def replaced(recipe: RuntimeRecipe, patches: PatchSet) -> tuple[str, ...]:
    """Return which files of a set are skipped, because an upstream series does the same."""
    named = {
        name for one in recipe.patches if one.upstream is not None for name in one.upstream.replaces
    }
    return tuple(name for name in patches.files if name in named)


def _report_of(recipe: RuntimeRecipe, patches: PatchSet) -> SetReport:
    upstream = patches.upstream
    return SetReport(
        title=patches.title,
        tree=patches.tree,
        source=f"{upstream.repository} at {upstream.commit}" if upstream is not None else None,
        replaced=replaced(recipe, patches),
        patches=(),
        hunks=(),
    )


def _in_site(patches: PatchSet, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple((PurePosixPath(patches.tree) / name).as_posix() for name in names)
