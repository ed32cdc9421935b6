"""Which model a person means."""

from pathlib import Path

import pytest

from studio.app.library_names import named
from studio.domain.errors import BadInput, NotFound
from studio.domain.library import RootKind
from studio.models.digests import DigestBook
from studio.models.roots import Root
from studio.models.shelf import Model, Shelf
from tests.models.made_models import cached, model


def models(folder: Path) -> tuple[Model, ...]:
    """Return the models of a folder."""
    shelf = Shelf(folder / "own", folder / "cache", DigestBook(folder / "own"))
    return shelf.scan([Root(path=str(folder / "r"), kind=RootKind.FOLDER)]).models


def test_a_name_its_end_and_its_path_all_mean_the_model(tmp_path: Path) -> None:
    """In whatever letters."""
    folder = model(tmp_path / "r" / "Owner" / "Big-Model")
    cached(tmp_path / "r" / "hub")
    here = models(tmp_path)

    for text in ("Owner/Big-Model", "big-model", str(folder)):
        assert named(text, here).entry.name == "Owner/Big-Model"
    repository = str(tmp_path / "r" / "hub" / "models--owner--name")
    assert named(repository, here).entry.name == "owner/name"


def test_two_of_a_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    """Nothing is done to the wrong one."""
    model(tmp_path / "r" / "a" / "m")
    model(tmp_path / "r" / "b" / "m")

    with pytest.raises(BadInput) as refused:
        named("m", models(tmp_path))

    assert str(tmp_path / "r" / "a" / "m") in (refused.value.hint or "")


@pytest.mark.parametrize("text", ["", "~", "x" * 100_000, "\0", "~no-such-person/x", "mm"])
def test_an_unknown_name_is_said_with_the_nearest(tmp_path: Path, text: str) -> None:
    """Whatever it is."""
    model(tmp_path / "r" / "mmm")
    with pytest.raises(NotFound) as refused:
        named(text, models(tmp_path))

    assert refused.value.code == "model-unknown"
    if text == "mm":
        assert "`mmm`" in (refused.value.hint or "")
