"""A runtime as it is shown: its recipe, what is installed of it, and the verdict for a host."""

from studio.domain.errors import StudioError
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
from studio.host.sharing import Way
from studio.runtimes import folder as folders
from studio.runtimes import history, patches, pin, steps, verdict
from studio.runtimes.store import Store

_CHANGED = (
    "Its recipe has changed since it was installed. It goes on as it is; `weir runtime updates` "
    "says what an update would change."
)
_COPIES = (
    "This disk can neither link nor clone files: runtimes share nothing on it, and the store "
    "takes the size of each package once more."
)
_DAMAGED = "What is installed of it cannot be used."


def info(recipe: RuntimeRecipe, paths: Paths, host: HostSnapshot) -> RuntimeInfo:
    """Return the runtime as a list shows it."""
    return _info(recipe, paths, host, folders.in_use(paths, recipe.name))


def unreadable(name: str, error: StudioError) -> RuntimeInfo:
    """Return a runtime whose recipe cannot be read, with the place of the mistake."""
    reasons = (error.message, *([error.hint] if error.hint else []))
    return RuntimeInfo(
        name=name, title=name, state=RuntimeState.DAMAGED, usable=False, reasons=reasons
    )


def _info(
    recipe: RuntimeRecipe, paths: Paths, host: HostSnapshot, found: InstalledRuntime | None
) -> RuntimeInfo:
    state = _state(recipe, paths, found)
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
        is_update_offered=found is not None and folders.is_outdated(paths, recipe, found),
    )


def detail(
    recipe: RuntimeRecipe, supplied: RuntimePin | None, paths: Paths, host: HostSnapshot
) -> RuntimeDetail:
    """Return everything about the runtime; `recipe` has what was `supplied` filled in."""
    found = folders.in_use(paths, recipe.name)
    packages = recipe.packages
    return RuntimeDetail(
        info=_info(recipe, paths, host, found),
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
        without_patches=recipe.without_patches,
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


def _is_damaged(recipe: RuntimeRecipe, paths: Paths) -> bool:
    """Tell a broken installation from none."""
    named = folders.named_folder(paths, recipe.name)
    is_whole = folders.in_use(paths, recipe.name) is not None
    return (named / history.CURRENT_FILE).exists() and not is_whole


def _warnings(
    recipe: RuntimeRecipe, paths: Paths, host: HostSnapshot, found: InstalledRuntime | None
) -> tuple[str, ...]:
    said = list(verdict.warnings_about(recipe, host))
    if found is not None and folders.is_outdated(paths, recipe, found):
        said.append(_CHANGED)
    if Store(paths).way() is Way.COPY:
        said.append(_COPIES)
    return tuple(said)


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
        skipped = patches.replaced(recipe, one)
        return PatchSeriesInfo(
            title=one.title,
            patches=len(one.files) - len(skipped),
            fallback_cost=one.fallback_cost,
            replaced=skipped,
        )
    return PatchSeriesInfo(
        title=one.title,
        patches=upstream.count or (len(upstream.order) or None),
        repository=upstream.repository,
        commit=upstream.commit,
        fallback_cost=one.fallback_cost,
    )
