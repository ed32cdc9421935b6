"""What the catalogue offers instead of an installed runtime, and what that would change.

Reads only. Nothing here replaces anything: that is `install` with `is_update`, when a person asks.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from studio.domain.errors import StudioError
from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import InstalledRuntime, PatchSet, RuntimeRecipe
from studio.domain.runtimes import Change, ChangeKind, RuntimeUpdate, UpdateKind
from studio.host import locks
from studio.host.documents import read_json
from studio.host.paths import Paths
from studio.runtimes import folder as folders
from studio.runtimes import interpreter, pin, sizes, verdict, versions
from studio.runtimes import manifest as manifests
from studio.runtimes.patches import patch_digest
from studio.runtimes.stock import whole_lock
from studio.runtimes.store import Store, interpreter_key


def offered(
    recipes: Iterable[RuntimeRecipe], paths: Paths, host: HostSnapshot
) -> list[RuntimeUpdate]:
    """Return for each installed runtime what could take its place.

    One whose recipe cannot be read has none. Raises: BadInput (`lock-missing`, `patch-missing`).
    """
    found = list(recipes)
    updates = []
    for recipe in found:
        record = folders.in_use(paths, recipe.name)
        if record is None:
            continue
        if not folders.is_made_of(paths, recipe, record):
            updates.append(_update(UpdateKind.RECIPE, record, recipe, paths, host))
        newer = _newest_of_kind(recipe, found)
        if newer is not None and folders.in_use(paths, newer.name) is None:
            updates.append(_update(UpdateKind.RELEASE, record, newer, paths, host))
    return updates


def family(recipe: RuntimeRecipe) -> str:
    """Return what runtimes of one kind have in common: their name without the version."""
    return recipe.name.removesuffix(f"-{recipe.engine_version}")


def _newest_of_kind(
    recipe: RuntimeRecipe, recipes: Iterable[RuntimeRecipe]
) -> RuntimeRecipe | None:
    newer = [
        other
        for other in recipes
        if family(other) == family(recipe) and _order(other) > _order(recipe)
    ]
    return max(newer, key=_order) if newer else None


def _order(recipe: RuntimeRecipe) -> tuple[int, ...]:
    return tuple(int(part) for part in recipe.engine_version.split(".") if part.isdigit())


def _update(
    kind: UpdateKind,
    record: InstalledRuntime,
    recipe: RuntimeRecipe,
    paths: Paths,
    host: HostSnapshot,
) -> RuntimeUpdate:
    root = folders.folder_of(paths, record)
    before = _recipe_of(root)
    is_here = any(
        folders.is_made_of(paths, recipe, one) for one in versions.kept(paths, recipe.name)
    )
    reasons = verdict.reasons_against(recipe, host, is_installed=is_here)
    reasons += pin.problems(recipe)
    return RuntimeUpdate(
        kind=kind,
        runtime=record.name,
        runtime_id=record.runtime_id,
        target=recipe.name,
        title=recipe.title,
        usable=not reasons,
        reasons=reasons,
        is_here=is_here,
        fetch_bytes=0 if is_here else _fetch_bytes(recipe, paths),
        disk_bytes=0 if is_here else sizes.disk_bytes(recipe, paths),
        interpreter=_interpreter(record, recipe),
        packages=changes(_packages_of(root), _packages(recipe, paths)),
        patches=_patches(before, recipe, record, patch_digest(paths, recipe)),
        knobs=changes(_settings(before), _settings(recipe)) if before is not None else None,
    )


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    """Return what differs between two lists of names with their versions, by name."""
    found = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        kind = ChangeKind.CHANGED
        if old is None or new is None:
            kind = ChangeKind.ADDED if old is None else ChangeKind.REMOVED
        found.append(Change(kind=kind, name=name, before=old or None, after=new or None))
    return tuple(found)


def _fetch_bytes(recipe: RuntimeRecipe, paths: Paths) -> int | None:
    archive = next(
        (a for a in recipe.interpreter.archives if a.platform == interpreter.host_platform()), None
    )
    packages = sizes.fetch_bytes(recipe, paths)
    if archive is None:
        return packages
    build = interpreter.archive_build(recipe)
    assert build is not None
    if Store(paths).holds(interpreter_key(build)):
        return packages
    return packages + (archive.bytes or 0)


def _interpreter(record: InstalledRuntime, recipe: RuntimeRecipe) -> Change | None:
    build = interpreter.archive_build(recipe)
    if build is None or build == record.interpreter_build:
        return None
    if record.name == recipe.name and interpreter.is_of_host(record.interpreter_build):
        return None  # it stands on this machine's for want of the archive, and may again
    return Change(
        kind=ChangeKind.CHANGED, name="Python", before=record.interpreter_build, after=build
    )


def _recipe_of(root: Path) -> RuntimeRecipe | None:
    """Return the recipe of the day of an installation; None when it cannot be read any more."""
    try:
        return read_json(root / folders.RECIPE_FILE, RuntimeRecipe)
    except StudioError:
        return None


def _packages_of(root: Path) -> dict[str, str]:
    try:
        with manifests.opened(root) as reader:
            lock = reader.lock() if reader is not None else None
    except StudioError:
        lock = None
    return _versions((lock or b"").decode("utf-8", "replace"))


def _packages(recipe: RuntimeRecipe, paths: Paths) -> dict[str, str]:
    return _versions(whole_lock(paths, recipe))


def _versions(lock: str) -> dict[str, str]:
    pairs = (written.partition("==") for written in locks.exact(lock).values())
    return {locks.plain(name).partition("==")[0]: version for name, _equals, version in pairs}


def _patches(
    before: RuntimeRecipe | None,
    recipe: RuntimeRecipe,
    record: InstalledRuntime,
    digest: str | None,
) -> tuple[Change, ...] | None:
    if before is None:
        return None if record.patch_digest != digest else ()
    found = changes(_patch_names(before.patches), _patch_names(recipe.patches))
    if found or record.patch_digest == digest:
        return found
    return tuple(Change(kind=ChangeKind.CHANGED, name=one.title) for one in recipe.patches)


def _patch_names(sets: Iterable[PatchSet]) -> dict[str, str]:
    """Return our patches by name, and each upstream series with its commit."""
    names: dict[str, str] = {}
    for one in sets:
        names |= dict.fromkeys(one.files, "")
        if one.upstream is not None:
            names[one.upstream.repository] = one.upstream.commit or "no commit"
    return names


def _settings(recipe: RuntimeRecipe | None) -> dict[str, str]:
    """Return what of the engine's interface a recipe names: knobs, flags, its environment."""
    if recipe is None:
        return {}
    knobs = {name: str(knob.default) for name, knob in recipe.knobs.items()}
    flags = dict.fromkeys((*recipe.probe.flags, *recipe.probe.variables), "")
    return {**knobs, **flags, **recipe.serve.environment}
