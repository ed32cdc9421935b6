"""One scan: every model with its state, and nothing read twice that nobody wrote."""

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from studio.domain.library import ModelEntry, RootKind, RootState
from studio.domain.proofs import ModelState, ProofRecord
from studio.host.files import sha256_file
from studio.models import shelf as shelf_module
from studio.models.digests import DigestBook
from studio.models.facts import describe
from studio.models.proof import proven, write_proof
from studio.models.roots import Root
from studio.models.shelf import Scan, Shelf
from tests.models.made_models import cached, model, safetensors

LARGE = safetensors({"w": ("U8", [2 << 20])})


def made(home: Path) -> Shelf:
    """Return the shelf of a home."""
    return Shelf(home / "models", home / "cache", DigestBook(home / "models"))


def root(folder: Path, kind: RootKind = RootKind.FOLDER) -> Root:
    """Return a root."""
    return Root(path=str(folder), kind=kind)


def named(scan: Scan) -> dict[str, ModelEntry]:
    """Return the models by name."""
    return {one.name: one for one in scan.library.models}


def scanned(home: Path, roots: Sequence[Root]) -> dict[str, ModelEntry]:
    """Return the models of some roots by name."""
    return named(made(home).scan(roots))


def test_what_was_read_once_is_not_read_again_until_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """500 models in a second; also in the next process."""
    folder = model(tmp_path / "root" / "m")
    model(tmp_path / "root" / "n")
    read: list[str] = []

    def counted(found: object) -> object:
        read.append(found.name)
        return describe(found)

    monkeypatch.setattr(shelf_module, "describe", counted)
    for _ in range(2):
        scanned(tmp_path / "home", [root(tmp_path / "root")])
    (folder / "config.json").write_text('{"model_type": "new"}')
    after = scanned(tmp_path / "home", [root(tmp_path / "root")])

    assert read == ["m", "n", "m"]
    assert after["m"].facts.architecture == "new"


def test_a_disk_that_is_away_keeps_what_is_known_of_it(tmp_path: Path) -> None:
    """It comes back, and its headers are not read again."""
    usb = tmp_path / "usb"
    model(usb / "m")
    shelf = made(tmp_path / "home")
    shelf.scan([root(usb)])
    usb.rename(tmp_path / "away")

    gone = made(tmp_path / "home").scan([root(usb)])

    assert gone.library.models == ()
    assert gone.library.roots[0].state is RootState.MISSING
    assert str(usb / "m") in made(tmp_path / "home")._cache()


def test_a_damaged_cache_is_made_anew(tmp_path: Path) -> None:
    """It costs a second and nothing else."""
    model(tmp_path / "root" / "m")
    file = tmp_path / "home" / "cache" / "model-facts.msgpack"
    file.parent.mkdir(parents=True)
    for data in (b"", b"\xff" * 100, b"\x81\xa6format\xcd\x03\xe7"):
        file.write_bytes(data)
        assert set(scanned(tmp_path / "home", [root(tmp_path / "root")])) == {"m"}


def test_a_home_that_cannot_be_written_is_scanned_all_the_same(tmp_path: Path) -> None:
    """A list needs no room on the disk."""
    model(tmp_path / "root" / "m")
    (tmp_path / "home").write_text("a file in its place")

    assert set(scanned(tmp_path / "home", [root(tmp_path / "root")])) == {"m"}


def test_the_same_name_in_two_roots_is_two_models(tmp_path: Path) -> None:
    """Each can be named; a root inside another adds none."""
    model(tmp_path / "a" / "m")
    model(tmp_path / "b" / "m")
    found = scanned(
        tmp_path / "home", [root(tmp_path / "a"), root(tmp_path / "b"), root(tmp_path / "a" / "m")]
    )

    assert set(found) == {"m", f"m@{tmp_path}/b"}


def test_sizes_count_what_is_shared_once(tmp_path: Path) -> None:
    """Two revisions of a cache, and hard links between models."""
    cached(tmp_path / "hub")
    cached(tmp_path / "hub", commit="b" * 40, ref="v1")
    folder = model(tmp_path / "plain" / "m")
    (tmp_path / "plain" / "n").mkdir()
    (tmp_path / "plain" / "n" / "x.safetensors").hardlink_to(folder / "model.safetensors")

    library = (
        made(tmp_path / "home")
        .scan([root(tmp_path / "hub", RootKind.CACHE), root(tmp_path / "plain")])
        .library
    )

    size = len(safetensors()) + (folder / "config.json").stat().st_size
    assert [one.size_bytes for one in library.roots] == [size, size]
    assert library.size_bytes == 2 * size
    assert [one.models for one in library.roots] == [2, 2]


def test_equal_weights_are_found_by_what_is_known_of_them(tmp_path: Path) -> None:
    """A blob's name and a proof need no reading; without them, equal sizes are told."""
    files = {"config.json": b"{}", "w.safetensors": LARGE}
    cached(tmp_path / "hub", files=files)
    folder = model(tmp_path / "home" / "models" / "m", LARGE)
    roots = [root(tmp_path / "hub", RootKind.CACHE), root(tmp_path / "home/models", RootKind.OWN)]

    before = made(tmp_path / "home").scan(roots)
    name = "model.safetensors"
    record = ProofRecord(
        source="import",
        proven_at_s=time.time(),
        files=(proven(folder, name, sha256_file(folder / name)),),
    )
    write_proof(folder, tmp_path / "home" / "models", record)
    after = made(tmp_path / "home").scan(roots)

    assert before.library.doubles == ()
    assert [Path(one.path).name for one in before.to_hash] == [name]
    assert before.library.not_compared_bytes == len(LARGE)
    assert named(after)["m"].same_as == ("owner/name",)
    assert named(after)["m"].state is ModelState.READY
    assert after.library.doubles[0].extra_bytes == len(LARGE)
    assert after.to_hash == ()


def test_a_damaged_proof_is_a_problem_of_its_model_alone(tmp_path: Path) -> None:
    """And makes it no ready one."""
    folder = model(tmp_path / "home" / "models" / "m")
    (folder / "weir-model.json").write_text("[]")

    found = scanned(tmp_path / "home", [root(tmp_path / "home" / "models", RootKind.OWN)])["m"]

    assert found.state is ModelState.UNPROVEN
    assert "of no use" in found.problems[0]


def test_a_download_that_is_not_over_is_incomplete(tmp_path: Path) -> None:
    """Whatever of it is there already."""
    snapshot = cached(tmp_path / "hub")
    (snapshot.parents[1] / "blobs" / "x.part").write_bytes(b"x" * 4096)

    found = scanned(tmp_path / "home", [root(tmp_path / "hub", RootKind.CACHE)])["owner/name"]

    assert found.state is ModelState.INCOMPLETE
    assert "not ended" in found.problems[0]


@pytest.mark.soak
def test_a_repository_of_10_000_files_is_listed_like_another(tmp_path: Path) -> None:
    """In a moment, with every file counted."""
    folder = model(tmp_path / "root" / "m")
    (folder / "shards").mkdir()
    for number in range(10_000):
        (folder / "shards" / f"{number}.txt").touch()

    began = time.monotonic()
    found = scanned(tmp_path / "home", [root(tmp_path / "root")])["m"]

    assert found.files == 10_002
    assert time.monotonic() - began < 5.0
