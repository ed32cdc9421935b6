"""What a runtime out of a bundle leaves in the store, and what must not get there."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import HostLacks
from studio.domain.manifests import RuntimeRecipe
from studio.domain.runtimes import BuiltStep, StepState
from studio.host.documents import read_json, write_json
from studio.runtimes import folder, survey
from studio.runtimes.bundle_stock import Fed, feed
from studio.runtimes.manifest import LISTING, PLACED, Manifest
from studio.runtimes.steps import BUILT_FILE, Built
from studio.runtimes.store import Read, Store, is_whole
from tests.runtimes.bundles import Made, made, take

__all__ = ["made"]


async def test_the_next_runtime_shares_what_came_in_a_bundle(made: Made, tmp_path: Path) -> None:
    """A second one on a box without a network takes its packages from the store; no patch does."""
    there = made.home(tmp_path / "home")

    await take(there, made.file)

    root = folder.folder_of(there.paths, made.record)
    store = Store(there.paths)
    kept = {path.name.rpartition("-1.0-")[0] for path in store.packages.iterdir()}
    assert {"weirother", "weirscript"} <= kept
    assert "weirtiny" not in kept  # a patch changed it
    for key in store.packages.iterdir():
        listed = store.record(key.name)
        assert listed is not None
        for entry in listed.entries:
            blob = store.blob(entry)
            assert is_whole(blob, entry), entry.path
            is_own = entry.flags & (PLACED | LISTING)
            assert is_own or blob.samefile(root / entry.path), entry.path
    recipe = read_json(root / folder.RECIPE_FILE, RuntimeRecipe)
    assert recipe is not None
    assert recipe == there.recipe


async def test_a_file_that_reads_back_differently_is_not_kept(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stick that loses bytes must not spoil the next runtime."""
    there = made.home(tmp_path / "home")
    survey_of = survey.survey

    def rotten(root: Path, identity: str, known: Mapping[str, Read]) -> Manifest:
        listed = survey_of(root, identity, known)
        first, *others = listed.entries
        worse = msgspec.structs.replace(first, digest=b"0" * 32, flags=0)
        return msgspec.structs.replace(listed, entries=(worse, *others))

    monkeypatch.setattr(survey, "survey", rotten)

    with pytest.raises(HostLacks) as caught:
        await take(there, made.file, made.exported.fingerprint)
    assert caught.value.code == "disk-unreliable"

    assert list(Store(there.paths).packages.iterdir()) == []


async def test_what_was_built_here_or_cannot_be_shared_stays_out(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wheel that a step built is not the lock's; a disk without links would hold all twice."""
    there = made.home(tmp_path / "home")
    await take(there, made.file)
    root = folder.folder_of(there.paths, made.record)
    for package in Store(there.paths).packages.iterdir():
        package.unlink()
    step = BuiltStep(name="x", title="X", state=StepState.BUILT, definition="0")
    write_json(root / BUILT_FILE, Built(steps=(step,)))
    assert feed(there.paths, root, there.recipe, made.record) == Fed()
    (root / BUILT_FILE).unlink()

    def link(source: object, target: object, **_options: object) -> None:
        raise OSError(18, os.strerror(18))

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", link)
        assert feed(there.paths, root, there.recipe, made.record) == Fed()

    assert feed(there.paths, root, there.recipe, made.record).keys
