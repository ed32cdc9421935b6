"""One commit of a repository brought into the home, from the first place that can prove it.

What is kept, what a person put into the folder, the git program, a small client of our own. Kept is
only what a recipe needs, as git objects in one file: whole or absent, and equal on every machine.
"""

import contextlib
import functools
import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from studio.domain.errors import HostLacks, NetworkFailure, NotFound, StudioError
from studio.host import git_remote
from studio.host.files import from_os_error, write_atomic
from studio.host.meter import Meter
from studio.host.network import NetworkPolicy, in_force
from studio.host.threads import in_thread
from studio.runtimes.upstream import local, program
from studio.runtimes.upstream.objects import (
    BadObject,
    GitObject,
    MissingObject,
    Objects,
    names_below,
    root_tree,
)
from studio.runtimes.upstream.pack import bundle_bytes, read_bundle, read_pack

_STALE_S = 3600.0


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What is at hand of a repository at one commit."""

    commit: str
    tree: str
    objects: dict[str, GitObject]


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a recipe needs of one repository."""

    repository: str
    commit: str
    tree: str | None
    paths: tuple[str, ...]


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Where a series came from."""

    commit: str
    repository: str
    words: str
    """In words: `git`, a file, the address it has moved to."""
    bytes: int
    """Of the file that is kept."""


async def ensure(
    one: Wanted, target: Path, meter: Meter | None, policy: NetworkPolicy | None = None
) -> Source:
    """Make `target` hold what is wanted; nothing is fetched when it does.

    `policy` says how to go out; None: as the environment says.

    Raises: NetworkFailure (`series-unreachable`), NotFound (`series-commit-missing`,
    `series-repository-missing`), HostLacks (`disk-full`, `not-writable`).
    """
    kept = await in_thread(functools.partial(kept_snapshot, target, one))
    if kept is not None:
        return _source(one, "kept from before", target)
    if meter is not None:
        meter.begin(f"Fetching the patches of {one.repository}")
    try:
        words = await _bring(one, target, policy or in_force())
    except OSError as error:
        raise from_os_error(error, target) from error
    return _source(one, words, target)


async def _bring(one: Wanted, target: Path, policy: NetworkPolicy) -> str:
    """Find what is wanted and keep it; return in words where it was."""
    await in_thread(functools.partial(_make_room, target.parent))
    objects, words = await _find(one, target.parent, policy)
    snapshot = _snapshot(one, objects)
    assert snapshot is not None
    data = bundle_bytes(one.commit, _needed(snapshot, one.paths).values())
    await in_thread(functools.partial(write_atomic, target, data))
    return words


def _source(one: Wanted, words: str, target: Path) -> Source:
    return Source(
        commit=one.commit,
        repository=one.repository,
        words=words,
        bytes=target.stat().st_size,
    )


async def _find(one: Wanted, folder: Path, policy: NetworkPolicy) -> tuple[Objects, str]:
    """Return the objects from the first place that has all of them."""
    tried: list[str] = []
    for place in await in_thread(functools.partial(_places, folder)):
        found = await in_thread(functools.partial(_read_place, one, place, tried))
        if found is not None:
            return found, f"from {place}"
    failure: StudioError | None = None
    if policy.offline and one.repository.startswith(("http://", "https://")):
        raise _unavailable(one, folder, _switched_off(policy), tried)
    if program.program() is not None:
        try:
            found = await program.fetch(one.repository, one.commit, folder, policy.variables())
            if _has_all(one, found):
                return found, "fetched with git"
        except (NetworkFailure, NotFound, HostLacks) as error:
            failure = error
    if not one.repository.startswith(("http://", "https://")):
        raise _unavailable(one, folder, failure or _no_address(one), tried)
    try:
        return await _over_http(one, policy)
    except (NetworkFailure, NotFound) as error:
        raise _unavailable(one, folder, error, tried) from error


def _switched_off(policy: NetworkPolicy) -> NetworkFailure:
    return NetworkFailure(
        "offline",
        f"The network is switched off by {policy.offline_source}.",
        hint=policy.switch_on,
    )


def _make_room(folder: Path) -> None:
    """Make the folder, without what a fetch that was killed has left; a younger one may go on."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob(".*"):
        with contextlib.suppress(OSError):
            if time.time() - path.lstat().st_mtime > _STALE_S:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _places(folder: Path) -> list[Path]:
    """Return what a person may have put there; names with a dot are work in progress."""
    return sorted(place for place in folder.iterdir() if not place.name.startswith("."))


async def _over_http(one: Wanted, policy: NetworkPolicy) -> tuple[Objects, str]:
    """Fetch the commit and its trees first, then the few files that are needed, where one can."""
    async with git_remote.reached(one.repository, policy=policy) as remote:
        words = "fetched over HTTP"
        if remote.address != one.repository.rstrip("/"):
            words = f"fetched over HTTP; the repository has moved to {remote.address}"
        try:
            objects = read_pack(
                await remote.pack(
                    [one.commit], without_files=remote.can_filter, without_history=True
                )
            )
            if remote.can_filter:
                missing = sorted(_missing(one, objects))
                objects |= read_pack(await remote.pack(missing)) if missing else {}
        except BadObject as error:
            raise _damaged(one, f"what {remote.address} sent: {error}") from error
        if not _has_all(one, objects):
            raise _damaged(one, f"what {remote.address} sent lacks files that the commit names")
        return objects, words


def _read_place(one: Wanted, place: Path, tried: list[str]) -> Objects | None:
    """Return the objects of a place that has all that is wanted; say of others why not."""
    try:
        found = local.read(place)
    except (BadObject, OSError) as error:
        tried.append(f"{place.name}: {error}")
        return None
    if found is None:
        return None
    if one.tree in found.trees or _has_all(one, found.objects):
        return found.objects
    if found.trees:
        (tree,) = found.trees
        said = f"has the tree {tree}" + (f", not {one.tree}" if one.tree is not None else "")
        tried.append(f"{place.name}: an archive without git's data, which {said}")
    else:
        tried.append(f"{place.name}: does not hold the commit with all its files")
    return None


def _missing(one: Wanted, objects: Objects) -> set[str]:
    tree = root_tree(objects, one.commit)
    names = {name for path in one.paths for name in names_below(objects, tree, path)}
    return names - objects.keys()


def _has_all(one: Wanted, objects: Objects) -> bool:
    try:
        snapshot = _snapshot(one, objects)
        return snapshot is not None and bool(_needed(snapshot, one.paths))
    except (MissingObject, BadObject, KeyError):
        return False


def _snapshot(one: Wanted, objects: Objects) -> Snapshot | None:
    """Return what is proven: by the commit, or by the tree that the recipe gives beside it."""
    tree = root_tree(objects, one.commit) if one.commit in objects else one.tree
    if tree is None or (one.tree is not None and tree != one.tree):
        return None
    return Snapshot(commit=one.commit, tree=tree, objects=dict(objects))


def _needed(snapshot: Snapshot, paths: Iterable[str]) -> dict[str, GitObject]:
    names = {name for path in paths for name in names_below(snapshot.objects, snapshot.tree, path)}
    names |= {snapshot.commit} & snapshot.objects.keys()
    return {name: snapshot.objects[name] for name in sorted(names)}


def kept_snapshot(target: Path, one: Wanted) -> Snapshot | None:
    """Return what is kept, or None when it is not there, damaged, or not all of it."""
    try:
        objects = read_bundle(target.read_bytes())
    except (OSError, BadObject):
        return None
    return _snapshot(one, objects) if _has_all(one, objects) else None


def _no_address(one: Wanted) -> NetworkFailure:
    return NetworkFailure(
        "repository-unreachable",
        f"{one.repository} is no address of a server, and git is not on this machine.",
    )


def _unavailable(
    one: Wanted, folder: Path, error: StudioError, tried: list[str]
) -> NetworkFailure | NotFound:
    place = f"{folder}{os.sep}"
    by_hand = (
        f"Put one of these into {place} and run it again: a clone of {one.repository}, a bundle of "
        f"it (`git bundle create series.bundle --all` in a clone), or the file "
        f"{one.commit}.bundle of another machine that has this runtime."
    )
    what = f"The patches at commit {one.commit} cannot be had: {error.message}"
    if error.code == "commit-missing":
        return NotFound(
            "series-commit-missing",
            what,
            hint=f"The project may have rewritten its history. {by_hand}",
            evidence=tuple(tried),
        )
    if error.code == "repository-missing":
        return NotFound(
            "series-repository-missing",
            what,
            hint=f"It may have been moved, renamed or withdrawn. {by_hand}",
            evidence=tuple(tried),
        )
    return NetworkFailure(
        "series-unreachable",
        what,
        hint=f"{_first_step(error)} {by_hand}",
        evidence=tuple(tried),
        data={"commit": one.commit, "folder": str(folder)},
    )


def _first_step(error: StudioError) -> str:
    """Return what may help before anything is carried by hand."""
    if error.code == "offline" and error.hint is not None:
        return f"{error.hint} Or do without:"
    return "Check the network."


def _damaged(one: Wanted, what: str) -> NetworkFailure:
    return NetworkFailure(
        "repository-unreachable",
        f"{one.repository} cannot be used: {what}.",
    )
