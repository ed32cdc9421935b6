"""The check by which a new runtime proves on this machine that it can do its work.

The recipe names a script and what it is told. A first installation has nothing to lose and boots
right after: it does the quick part. An update does all of it before it takes the place of what
works. The script prints a line that begins with `WEIR-CANARY` and holds its findings as JSON.
"""

import json
import secrets
import shutil
from pathlib import Path

import msgspec

from studio.domain.errors import Damaged
from studio.domain.manifests import Canary, RuntimeRecipe
from studio.host import plain_home, tools
from studio.host.files import from_os_error, make_private
from studio.host.meter import Meter
from studio.host.paths import Paths
from studio.host.process import RunResult
from studio.runtimes import folder as folders

_MARK = "WEIR-CANARY "
_EVIDENCE_LINES = 12


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that the script tried."""

    name: str
    is_well: bool
    said: str = ""
    seconds: float | None = None


async def require(
    recipe: RuntimeRecipe, paths: Paths, identity: str, python: Path, meter: Meter
) -> None:
    """Let the new runtime with this id show that it works, before it is used.

    Raises: Damaged (`canary-failed`), HostLacks (`not-writable`, `disk-full`).
    """
    if recipe.canary is None:
        return
    before = folders.current(paths, recipe.name)
    if before is None or before.runtime_id == identity:
        await _try(recipe, recipe.canary, paths, identity, python, meter, is_full=False)
        return
    try:
        await _try(recipe, recipe.canary, paths, identity, python, meter, is_full=True)
    except Damaged as error:
        message = f"{error.message} The installation {before.runtime_id[:12]} stays in use."
        raise Damaged(error.code, message, hint=error.hint, evidence=error.evidence) from error


async def _try(
    recipe: RuntimeRecipe,
    canary: Canary,
    paths: Paths,
    identity: str,
    python: Path,
    meter: Meter,
    *,
    is_full: bool,
) -> None:
    parts = "Trying the engine's own parts on this machine"
    meter.begin("Trying the new engine on this machine" if is_full else parts)
    heard: list[str] = []
    sockets = _sockets(paths)
    folder = folders.runtime_folder(paths, recipe.name, identity)
    try:
        variables = _environment(recipe, paths, folder, python, sockets)
        result = await tools.run_tool(
            Path(plain_home.name_of(paths, python)),
            tools.tool_file(paths, canary.tool),
            [json.dumps({**canary.arguments, "is_full": is_full, "folder": str(sockets)})],
            timeout_s=canary.within_s,
            variables=variables,
            on_line=lambda line: heard.append(line) if line.startswith(_MARK) else None,
        )
    finally:
        shutil.rmtree(sockets, ignore_errors=True)
    _judge(recipe, result, heard)


def _judge(recipe: RuntimeRecipe, result: RunResult, heard: list[str]) -> None:
    try:
        found = msgspec.json.decode(heard[-1][len(_MARK) :], type=tuple[Finding, ...])
    except (IndexError, msgspec.DecodeError):
        found = ()
    bad = [one for one in found if not one.is_well]
    if found and not bad:
        return
    if bad:
        reason = "; ".join(f"{one.name}: {one.said}" for one in bad)
    elif result.timed_out:
        reason = "it did not end in time"
    else:
        reason = f"it ended with status {result.exit_code} and no findings"
    raise Damaged(
        "canary-failed",
        f"{recipe.title} does not work on this machine: {reason}.",
        hint="It is not used. Run it again to try once more; it is not fetched again for that.",
        evidence=result.tail[-_EVIDENCE_LINES:],
    )


def _sockets(paths: Paths) -> Path:
    """Make a folder whose name is short enough for an engine's sockets.

    Raises: HostLacks (`not-writable`, `disk-full`).
    """
    try:
        make_private(paths.sockets, must_be_own=paths.sockets != paths.service)
        while True:
            folder = paths.sockets / secrets.token_hex(1)
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                continue
            return folder
    except OSError as error:
        raise from_os_error(error, paths.sockets) from error


def _environment(
    recipe: RuntimeRecipe, paths: Paths, folder: Path, python: Path, sockets: Path
) -> dict[str, str]:
    """Return what the engine is started with, its placeholders filled in.

    Raises: HostLacks (`not-writable`, `disk-full`).
    """
    plain_home.make(paths)
    places = {
        "{python}": plain_home.name_of(paths, python),
        "{runtime}": plain_home.name_of(paths, folder),
        "{cache}": plain_home.name_of(paths, paths.engine_cache),
        "{sockets}": str(sockets),
    }
    filled = {}
    for name, text in recipe.serve.environment.items():
        value = text
        for mark, place in places.items():
            value = value.replace(mark, place)
        if "{model}" not in value and "{socket}" not in value:
            filled[name] = value
    # What it leaves when it is killed goes with its folder, and no other engine's goes with that.
    return {**filled, "TMPDIR": str(sockets)}
