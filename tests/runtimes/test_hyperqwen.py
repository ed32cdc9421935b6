"""The shipped recipes of HyperQwen against repositories of its shape: the first fetch decides.

The project's own host is on no test's path. A stand-in has the folders, the list and the names of
patches that a recipe names; its patches are empty words.
"""

from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import Damaged
from studio.domain.manifests import RuntimeRecipe
from studio.domain.runtimes import PinRequest
from studio.host.network import NetworkPolicy
from studio.host.paths import Paths, bundled_root
from studio.runtimes import pin, series
from studio.runtimes.catalog import Catalog
from tests.fakes.git import commit, make_repository

V031, V032 = "cu13-hyperqwen-0.31.0", "cu13-hyperqwen-0.32.0"
NEW_IN_032 = ("one-more.patch", "another.patch")


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """The shipped catalogue and an empty home."""
    return Paths(home=tmp_path / "höme", catalogue=bundled_root())


def names_of(recipe: RuntimeRecipe, path: str) -> tuple[str, ...]:
    """Return the patches that a recipe expects in a folder of the repository, in their order."""
    return next(
        one.upstream.order
        for one in recipe.patches
        if one.upstream is not None and one.upstream.path == path
    )


def files_of(listed: tuple[str, ...], kvarn: tuple[str, ...], steps: set[str]) -> dict[str, bytes]:
    """Return a repository that holds these patches."""
    files = {"patches/series": "\n".join(["# In this order.", *listed, ""]).encode()}
    files |= {f"patches/{name}": f"Of {name}.\n".encode() for name in listed}
    files |= {f"kvarn/{name}": f"Of {name}.\n".encode() for name in kvarn}
    files |= {f"{step}/install.sh": b"#!/bin/sh\n" for step in steps}
    return {**files, "kvarn/files/vllm/kvarn/__init__.py": b"", "README.md": b"Others.\n"}


def shape(paths: Paths, version: str) -> dict[str, bytes]:
    """Return the repository as it is, or would be, at a version's commit."""
    recipe = Catalog(paths).published(version)
    listed = names_of(Catalog(paths).published(V031), "patches")
    if version == V032:
        listed = (*listed, *NEW_IN_032)
    steps = {one.upstream for one in recipe.steps if one.upstream is not None}
    return files_of(listed, names_of(recipe, "kvarn"), steps)


def at(recipe: RuntimeRecipe, repository: Path, sha: str | None) -> RuntimeRecipe:
    """Return the recipe with the stand-in in the project's place."""
    patches = tuple(
        msgspec.structs.replace(
            one,
            upstream=msgspec.structs.replace(
                one.upstream, repository=str(repository), commit=sha, tree=None
            ),
        )
        if one.upstream is not None
        else one
        for one in recipe.patches
    )
    return msgspec.structs.replace(recipe, patches=patches)


async def refusal(recipe: RuntimeRecipe, paths: Paths) -> Damaged:
    """Return the error by which the first fetch keeps a series out."""
    with pytest.raises(Damaged) as caught:
        await series.fetched(recipe, paths, None)
    assert caught.value.code == "series-unexpected"
    return caught.value


async def test_the_series_of_0_31_is_recognised_by_its_list(paths: Paths, tmp_path: Path) -> None:
    """All 48 in the recipe's order, and KVarN's four."""
    sha = make_repository(tmp_path / "project", shape(paths, V031))
    recipe = at(Catalog(paths).published(V031), tmp_path / "project", sha)

    found = await series.fetched(recipe, paths, None)

    assert [one.commit for one in found.sets] == [sha, sha]
    assert found.sets[0].patches == names_of(recipe, "patches")
    assert len(found.sets[0].patches) == 48
    assert found.sets[1].patches[-4:] == names_of(recipe, "kvarn")


async def test_the_series_of_another_version_is_refused_with_what_to_do(
    paths: Paths, tmp_path: Path
) -> None:
    """The commit's bytes are whole and its list is that of 0.32: no patch of it may be tried."""
    sha = make_repository(tmp_path / "project", shape(paths, V032))
    recipe = at(Catalog(paths).published(V031), tmp_path / "project", sha)

    error = await refusal(recipe, paths)

    assert sha in error.message
    assert recipe.title in error.message
    assert "expected 48 patches, found 50" in error.evidence
    assert all(f"{name} is not expected" in error.evidence for name in NEW_IN_032)
    assert f"weir runtime pin {V031} --confirm {pin.ORDER_MARK}" in (error.hint or "")
    pin.record(paths, Catalog(paths).published(V031), PinRequest(confirm=(pin.ORDER_MARK,)))


async def test_the_right_patches_in_another_order_are_refused_too(
    paths: Paths, tmp_path: Path
) -> None:
    """They build on each other: two that change places may fit, and mean something else."""
    files = shape(paths, V031)
    first, second, *others = names_of(Catalog(paths).published(V031), "patches")
    files["patches/series"] = "\n".join([second, first, *others, ""]).encode()
    sha = make_repository(tmp_path / "project", files)

    error = await refusal(at(Catalog(paths).published(V031), tmp_path / "project", sha), paths)

    assert f"number 1 is {second}, expected {first}" in error.evidence


async def test_a_pin_takes_the_newest_and_the_first_fetch_looks_whether_it_is_the_version(
    paths: Paths, tmp_path: Path
) -> None:
    """`weir runtime pin` records a commit; that it is of another version is told by its list."""
    project = tmp_path / "project"
    old = make_repository(project, shape(paths, V031))
    published = at(Catalog(paths).published(V032), project, None)
    pinned = await pinned_newest(paths, published)
    assert {one.upstream.commit for one in pinned.patches if one.upstream} == {old}
    error = await refusal(pinned, paths)
    assert "expected 50 patches, found 48" in error.evidence
    assert f"weir runtime pin {V032} --confirm {pin.ORDER_MARK}" in (error.hint or "")
    assert f"weir runtime pin {V032} --forget" in (error.hint or "")

    for name in names_of(Catalog(paths).published(V031), "kvarn"):
        (project / "kvarn" / name).unlink()
    new = commit(project, shape(paths, V032), "For 0.32")
    pin.record(paths, published, PinRequest(forget=True))
    found = await series.fetched(await pinned_newest(paths, published), paths, None)

    assert {one.commit for one in found.sets} == {new}
    assert found.sets[0].patches[-2:] == NEW_IN_032


async def pinned_newest(paths: Paths, published: RuntimeRecipe) -> RuntimeRecipe:
    """Return the recipe after `weir runtime pin NAME`, as the catalogue would give it out."""
    request = await pin.resolved(paths, published, PinRequest(), NetworkPolicy())
    return pin.apply(published, pin.record(paths, published, request))
