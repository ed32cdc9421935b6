"""A runtime as it is shown: its recipe, what is installed of it, and the verdict for a host."""

import os

from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import Archive, InstalledRuntime, PatchSet, RuntimeRecipe
from studio.domain.runtimes import (
    PatchSeriesInfo,
    RuntimeDetail,
    RuntimeInfo,
    RuntimePin,
    RuntimeState,
)
from studio.host.paths import Paths
from studio.runtimes import folder as folders
from studio.runtimes import history, patches, pin, steps, verdict

_ID_SHOWN = 12
_DAMAGED = "What is installed of it cannot be used."


def info(recipe: RuntimeRecipe, paths: Paths, host: HostSnapshot) -> RuntimeInfo:
    """Return the runtime as a list shows it."""
    found = folders.installed(paths, recipe)
    return _info(recipe, host, found, _state(recipe, paths, found))


def _info(
    recipe: RuntimeRecipe, host: HostSnapshot, found: InstalledRuntime | None, state: RuntimeState
) -> RuntimeInfo:
    reasons = verdict.reasons_against(recipe, host, is_installed=found is not None)
    if state is RuntimeState.DAMAGED:
        reasons = (*reasons, _DAMAGED)
    elif state is not RuntimeState.INSTALLED:
        reasons = (*reasons, *pin.problems(recipe))
    return RuntimeInfo(
        name=recipe.name,
        title=recipe.title,
        state=state,
        runtime_id=found.runtime_id if found is not None else None,
        bytes=found.bytes if found is not None else _download_bytes(recipe),
        usable=not reasons,
        reasons=reasons,
    )


def detail(
    recipe: RuntimeRecipe, supplied: RuntimePin | None, paths: Paths, host: HostSnapshot
) -> RuntimeDetail:
    """Return everything about the runtime; `recipe` has what was `supplied` filled in."""
    found = folders.installed(paths, recipe)
    packages = recipe.packages
    return RuntimeDetail(
        info=_info(recipe, host, found, _state(recipe, paths, found)),
        engine=recipe.engine,
        engine_version=recipe.engine_version,
        interpreter=found.interpreter if found is not None else _interpreter(recipe, host),
        installed_at=found.installed_at if found is not None else None,
        packages=packages.count + len(packages.wheels) if packages is not None else None,
        download_bytes=_download_bytes(recipe),
        disk_bytes=recipe.needs.disk_bytes,
        requirements=verdict.requirements(recipe),
        warnings=_warnings(recipe, paths, host, found),
        wheels=packages.wheels if packages is not None else (),
        patches=tuple(_series(recipe, one) for one in recipe.patches),
        tools=recipe.tools,
        steps=recipe.steps,
        built=steps.read(folders.folder_of(paths, found)) if found is not None else (),
        left_out=patches.left_out(folders.folder_of(paths, found)) if found is not None else (),
        open=recipe.unverified,
        agreed=supplied.confirmed if supplied is not None else (),
        knobs=tuple(recipe.knobs),
        notes=recipe.notes,
    )


def _state(recipe: RuntimeRecipe, paths: Paths, found: InstalledRuntime | None) -> RuntimeState:
    if found is not None:
        return RuntimeState.INSTALLED
    if _is_damaged(recipe, paths):
        return RuntimeState.DAMAGED
    return pin.open_state(recipe) or RuntimeState.AVAILABLE


def _usable(recipe: RuntimeRecipe, paths: Paths) -> InstalledRuntime | None:
    """Return the installation that is used, when its interpreter can be started."""
    record = folders.current(paths, recipe.name)
    is_whole = record is not None and os.access(folders.python_of(paths, record), os.X_OK)
    return record if is_whole else None


def _is_damaged(recipe: RuntimeRecipe, paths: Paths) -> bool:
    """Tell a broken installation from an older build, which is whole and merely not this one."""
    named = folders.named_folder(paths, recipe.name)
    return (named / history.CURRENT_FILE).exists() and _usable(recipe, paths) is None


def _warnings(
    recipe: RuntimeRecipe, paths: Paths, host: HostSnapshot, found: InstalledRuntime | None
) -> tuple[str, ...]:
    said = verdict.warnings_about(recipe, host)
    older = _usable(recipe, paths) if found is None else None
    if older is None:
        return said
    shown = older.runtime_id[:_ID_SHOWN]
    return (*said, f"Another build of it is installed ({shown}); this one would go beside it.")


def _download_bytes(recipe: RuntimeRecipe) -> int | None:
    if recipe.packages is None:
        return None
    return recipe.packages.download_bytes + sum(one.bytes or 0 for one in recipe.packages.wheels)


def _interpreter(recipe: RuntimeRecipe, host: HostSnapshot) -> str:
    archive: Archive | None = next(
        (one for one in recipe.interpreter.archives if one.platform == host.platform), None
    )
    if archive is None:
        return f"CPython {recipe.interpreter.series} of this machine"
    return f"CPython {archive.version}, build {archive.release} of python-build-standalone"


def _series(recipe: RuntimeRecipe, one: PatchSet) -> PatchSeriesInfo:
    upstream = one.upstream
    if upstream is None:
        left = len(one.files) - len(patches.replaced(recipe, one))
        return PatchSeriesInfo(title=one.title, patches=left)
    return PatchSeriesInfo(
        title=one.title,
        patches=upstream.count or (len(upstream.order) or None),
        repository=upstream.repository,
        commit=upstream.commit,
    )
