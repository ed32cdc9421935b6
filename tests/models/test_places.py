"""Where published files lie already: hubs' caches, folders of the person's own."""

import os
from pathlib import Path

import msgspec
import pytest

from studio.domain.manifests import ModelSource, ModelSpec
from studio.host.paths import Paths
from studio.models import places
from tests.fakes.hub import sha256
from tests.models.checkpoints import COMMIT, FILES, INDEX, NAME, SHARD, put

SOURCE = ModelSource(repository=NAME, revision=COMMIT)
SPEC = ModelSpec(
    id="m", title="M", licence="MIT", origin="a test", disk_bytes=1, files=("config.json",),
    sources=(SOURCE,),
)  # fmt: skip


def kept(folder: Path, files: dict[str, bytes], *, linked: bool = True) -> Path:
    """Write a repository as huggingface_hub keeps it; return its snapshot."""
    repository = folder / "hub" / "models--owner--base"
    snapshot = repository / "snapshots" / COMMIT
    put(repository / "refs", {"main": COMMIT.encode()})
    if not linked:
        return put(snapshot, files)
    for name, data in files.items():
        put(repository / "blobs", {sha256(data): data})
        place = snapshot / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(os.path.relpath(repository / "blobs" / sha256(data), place.parent))
    return snapshot


def paths_of(folder: Path) -> Paths:
    """Return a home of the test's own."""
    return Paths(home=folder / "home", catalogue=folder)


@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize("revision", [COMMIT, None])
def test_a_cache_is_read_as_it_is(tmp_path: Path, linked: bool, revision: str | None) -> None:
    """Also on file systems without links; without a revision the branch decides."""
    snapshot = kept(tmp_path, FILES, linked=linked)
    spec = msgspec.structs.replace(SPEC, sources=(ModelSource(repository=NAME, revision=revision),))

    assert places.find(paths_of(tmp_path), spec, {"HF_HOME": str(tmp_path)}) == snapshot
    assert places.find(paths_of(tmp_path), spec, {"HF_HUB_CACHE": str(tmp_path / "no")}) is None


@pytest.mark.parametrize("missing", ["config.json", SHARD.format(1), INDEX])
def test_a_repository_that_is_not_whole_is_not_used(tmp_path: Path, missing: str) -> None:
    """A download that was cut off: a link without its blob, a shard that the index names."""
    snapshot = kept(tmp_path, FILES)
    (snapshot / missing).resolve().unlink()
    spec = msgspec.structs.replace(SPEC, files=("config.json", INDEX))

    assert places.find(paths_of(tmp_path), spec, {"HF_HOME": str(tmp_path)}) is None


def test_sizes_and_digests_of_the_preset_decide(tmp_path: Path) -> None:
    """A branch without a revision may hold something else by now; names of blobs are digests."""
    snapshot = kept(tmp_path, FILES)
    environ = {"HF_HOME": str(tmp_path)}
    right = {name: sha256(data) for name, data in FILES.items()}
    home = paths_of(tmp_path)

    def found(**changes: object) -> Path | None:
        return places.find(home, msgspec.structs.replace(SPEC, **changes), environ)

    assert found(digests=right) == snapshot
    assert found(digests={SHARD.format(1): "0" * 64}) is None
    assert found(sizes={"config.json": 1}) is None


def test_what_was_noted_holds_as_long_as_names_and_sizes_do(tmp_path: Path) -> None:
    """A folder that was moved or changed is found anew, or fetched."""
    home, own = paths_of(tmp_path), put(tmp_path / "own", FILES)
    nowhere = {"HF_HOME": str(tmp_path / "no")}
    places.note(home, SPEC, own, places.files_of(own))
    other = msgspec.structs.replace(
        SPEC, sources=(ModelSource(repository=NAME, revision="d" * 40),)
    )

    assert places.find(home, SPEC, nowhere) == own
    assert places.is_noted(home, SPEC)
    assert places.find(home, other, nowhere) is None
    put(own, {"config.json": b"longer than it was before, whatever that was" * 9})
    assert places.find(home, SPEC, nowhere) is None
    put(own, {"config.json": FILES["config.json"]})
    places.forget(home, SPEC)
    assert places.find(home, SPEC, nowhere) is None
    put(home.models / places.FOLDER, {"m.json": b"{"})
    assert places.find(home, SPEC, nowhere) is None


def test_a_folder_counts_when_digests_cover_its_weights(tmp_path: Path) -> None:
    """Names and sizes alone are those of every other fine-tune, too."""
    own = put(tmp_path / "roots" / "a" / "b", FILES)
    put(tmp_path / "roots" / "loop", {"x": b""})
    (tmp_path / "roots" / "loop" / "back").symlink_to(tmp_path / "roots")
    home, roots = paths_of(tmp_path), [tmp_path / "roots", tmp_path / "absent"]
    right = {name: sha256(data) for name, data in FILES.items()}
    some = {name: one for name, one in right.items() if name != SHARD.format(1)}

    def found(digests: dict[str, str]) -> Path | None:
        return places.in_folders(home, msgspec.structs.replace(SPEC, digests=digests), roots)

    assert found(right) == own
    assert found(some) is None
    assert found({**right, SHARD.format(1): "0" * 64}) is None


def test_a_cache_is_seen_with_its_blobs(tmp_path: Path) -> None:
    """A container that sees only the links sees nothing."""
    snapshot = kept(tmp_path, FILES)

    assert places.shared_root(snapshot) == snapshot.parent.parent
    assert places.shared_root(tmp_path / "own") == tmp_path / "own"
