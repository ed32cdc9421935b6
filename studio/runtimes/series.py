"""Another project's patch series: fetched at its pinned commit, checked, and kept in the home.

    <home>/series/<commit>.bundle    what the recipe needs of the repository (upstream/obtain.py)

What a recipe needs of it, and what of it is applied in which order.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from studio.domain.errors import Damaged, HostLacks
from studio.domain.manifests import PatchSet, RuntimeRecipe, UpstreamSeries
from studio.domain.runtimes import FetchedSeries, SeriesSet, SeriesSource
from studio.host.meter import Meter
from studio.host.network import in_force
from studio.host.paths import Paths
from studio.runtimes.pin import ORDER_MARK
from studio.runtimes.upstream import obtain
from studio.runtimes.upstream.copies import as_patch
from studio.runtimes.upstream.objects import (
    BadObject,
    File,
    MissingObject,
    entry_at,
    read,
    walk,
)
from studio.runtimes.upstream.obtain import Snapshot, Source, Wanted

FOLDER = "series"
_PATCHES = (".patch", ".diff")
_MOST_NAMED = 12
"""Differences that are named one by one."""


def wanted(recipe: RuntimeRecipe) -> tuple[Wanted, ...]:
    """Return what the recipe's pinned series need: one for each repository and commit."""
    found: dict[tuple[str, str], Wanted] = {}
    for one in recipe.patches:
        upstream = one.upstream
        if upstream is None or upstream.commit is None:
            continue
        key = (upstream.repository, upstream.commit)
        before = found[key].paths if key in found else ()
        steps = (step.upstream for step in recipe.steps if step.upstream is not None)
        paths = dict.fromkeys((*before, upstream.path, *upstream.copies, *steps))
        found[key] = Wanted(
            repository=upstream.repository,
            commit=upstream.commit,
            tree=upstream.tree,
            paths=tuple(paths),
        )
    return tuple(found.values())


def kept_file(paths: Paths, commit: str) -> Path:
    """Return where a commit is kept."""
    return paths.home / FOLDER / f"{commit}.bundle"


async def fetch(recipe: RuntimeRecipe, paths: Paths, meter: Meter | None) -> tuple[Source, ...]:
    """Bring every series of the recipe into the home, and check that it is the expected one.

    Takes milliseconds and no network where it is kept already.

    Raises: NetworkFailure (`series-unreachable`), NotFound (`series-commit-missing`,
    `series-repository-missing`), Damaged (`series-unexpected`, `series-damaged`), HostLacks
    (`disk-full`, `not-writable`).
    """
    sources = [
        await obtain.ensure(one, kept_file(paths, one.commit), meter, in_force(paths))
        for one in wanted(recipe)
    ]
    for patches in recipe.patches:
        if patches.upstream is not None and patches.upstream.commit is not None:
            check(recipe, patches, load(paths, patches.upstream))
    return tuple(sources)


async def fetched(recipe: RuntimeRecipe, paths: Paths, meter: Meter | None) -> FetchedSeries:
    """Fetch and check every series of a recipe, and return what it is.

    Raises: HostLacks (`runtime-not-pinned`), and what `fetch` raises.
    """
    for one in recipe.patches:
        if one.upstream is not None and one.upstream.commit is None:
            raise not_pinned(recipe, one.title, one.upstream.repository)
    sources = await fetch(recipe, paths, meter)
    sets = []
    for one in recipe.patches:
        upstream = one.upstream
        if upstream is None or upstream.commit is None:
            continue
        sets.append(
            SeriesSet(
                title=one.title,
                repository=upstream.repository,
                commit=upstream.commit,
                patches=tuple(name for name, _data in patch_files(load(paths, upstream), one)),
            )
        )
    return FetchedSeries(
        runtime=recipe.name,
        sets=tuple(sets),
        sources=tuple(
            SeriesSource(
                repository=one.repository,
                commit=one.commit,
                words=one.words,
                file=str(kept_file(paths, one.commit)),
                bytes=one.bytes,
            )
            for one in sources
        ),
    )


def not_pinned(recipe: RuntimeRecipe, title: str, repository: str) -> HostLacks:
    """Return the refusal of a recipe whose series has no commit yet."""
    return HostLacks(
        "runtime-not-pinned",
        f"{recipe.title} is not pinned yet: the commit of `{title}` ({repository}) is not known.",
        hint=f"`weir runtime pin {recipe.name}` takes the newest one; `--commit SHA` one that you "
        "trust.",
    )


def load(paths: Paths, upstream: UpstreamSeries, *, more: tuple[str, ...] = ()) -> Snapshot:
    """Return a series that was fetched, and the folders of its repository that `more` names.

    Raises: HostLacks (`series-missing`).
    """
    assert upstream.commit is not None, "an open recipe is refused before"
    one = Wanted(
        repository=upstream.repository,
        commit=upstream.commit,
        tree=upstream.tree,
        paths=(upstream.path, *upstream.copies, *more),
    )
    found = obtain.kept_snapshot(kept_file(paths, upstream.commit), one)
    if found is None:
        raise HostLacks(
            "series-missing",
            f"The patches of {upstream.repository} at commit {upstream.commit} are not here yet.",
            hint="`weir runtime series NAME` fetches them.",
            data={"commit": upstream.commit},
        )
    return found


def patch_files(snapshot: Snapshot, patches: PatchSet) -> Iterator[tuple[str, bytes]]:
    """Yield the series' patches in order, before them its new files as patches of their own.

    Raises: Damaged (`series-damaged`).
    """
    upstream = patches.upstream
    assert upstream is not None
    for source, target in upstream.copies.items():
        added = {
            (PurePosixPath(target) / path).as_posix(): file
            for path, file in folder(snapshot, source).items()
        }
        yield f"new files of {source}", as_patch(added, strip=patches.strip)
    inside = folder(snapshot, upstream.path)
    for name in order(snapshot, upstream):
        yield name, inside[name].data


def folder(snapshot: Snapshot, path: str) -> dict[str, File]:
    """Return the files below a folder of the repository, by their path inside it.

    Raises: Damaged (`series-damaged`).
    """
    try:
        entry = entry_at(snapshot.objects, snapshot.tree, path)
        if entry is None:
            return {}
        return {
            name: read(snapshot.objects, one, f"{path}/{name}")
            for name, one in walk(snapshot.objects, entry)
        }
    except (MissingObject, BadObject) as error:
        raise Damaged(
            "series-damaged",
            f"The folder {path} at commit {snapshot.commit} cannot be used: {error}.",
            hint="Choose another commit, or tell the project that keeps the series.",
        ) from error


def order(snapshot: Snapshot, upstream: UpstreamSeries) -> tuple[str, ...]:
    """Return the names of the patches as they are applied, whatever the recipe expects of them."""
    names = _patch_names(snapshot, upstream)
    if upstream.list_file is not None:
        listed = _listed(snapshot, upstream)
        return tuple(name for name in listed if name in names)
    return tuple(name for name in upstream.order if name in names) or names


def _patch_names(snapshot: Snapshot, upstream: UpstreamSeries) -> tuple[str, ...]:
    """Return the patches that lie in the folder itself, by name."""
    found = folder(snapshot, upstream.path)
    return tuple(sorted(n for n in found if "/" not in n and n.endswith(_PATCHES)))


def _listed(snapshot: Snapshot, upstream: UpstreamSeries) -> tuple[str, ...]:
    """Return the names in the list: one a line, `#` begins a comment, options of quilt follow."""
    assert upstream.list_file is not None
    file = folder(snapshot, upstream.path).get(upstream.list_file)
    text = file.data.decode("utf-8", "replace") if file is not None else ""
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    return tuple(words[0] for words in lines if words)


# Is it the one that was expected?


def check(recipe: RuntimeRecipe, patches: PatchSet, snapshot: Snapshot) -> None:
    """Refuse a series that is not the one the recipe describes.

    Raises: Damaged (`series-unexpected`), with every difference as evidence.
    """
    upstream = patches.upstream
    assert upstream is not None
    found = differences(upstream, snapshot)
    if not found:
        return
    shown = found[:_MOST_NAMED]
    more = len(found) - len(shown)
    raise Damaged(
        "series-unexpected",
        f"`{patches.title}` at commit {upstream.commit} is not the series that the recipe of "
        f"{recipe.title} describes: {'; '.join(shown[:3])}" + (" …" if len(found) > 3 else "."),
        hint="Its bytes are those of the commit; the recipe expects others. Where the commit is of "
        f"another version and you supplied it, `weir runtime pin {recipe.name} --forget` takes it "
        f"back. Where the list at the commit is right, `weir runtime pin {recipe.name} --confirm "
        f"{ORDER_MARK}` takes it as it is.",
        evidence=(*shown, *([f"and {more} more"] if more else [])),
        data={"commit": upstream.commit, "differences": len(found)},
    )


def differences(upstream: UpstreamSeries, snapshot: Snapshot) -> list[str]:
    """Return in words where a series differs from what the recipe expects."""
    names = _patch_names(snapshot, upstream)
    said = [f"{source} holds no file" for source in upstream.copies if not folder(snapshot, source)]
    if upstream.list_file is not None:
        listed = _listed(snapshot, upstream)
        if not listed:
            said.append(f"{upstream.path}/{upstream.list_file} is missing or empty")
        said += [f"{name} is listed and not there" for name in listed if name not in names]
        said += [f"{name} is there and not listed" for name in names if name not in listed]
        said += [f"{name} is listed twice" for name in {n for n in listed if listed.count(n) > 1}]
    found = order(snapshot, upstream)
    if upstream.count is not None and len(names) != upstream.count:
        said.append(f"expected {upstream.count} patches, found {len(names)}")
    return [*said, *_order_differences(upstream.order, found)]


def _order_differences(expected: tuple[str, ...], found: tuple[str, ...]) -> list[str]:
    if not expected:
        return []
    said = [f"{name} is expected and missing" for name in expected if name not in found]
    said += [f"{name} is not expected" for name in found if name not in expected]
    if not said:
        places = enumerate(zip(expected, found, strict=False), 1)
        said += [f"number {n} is {is_}, expected {was}" for n, (was, is_) in places if was != is_]
    return said
