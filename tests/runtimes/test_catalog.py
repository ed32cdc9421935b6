"""The catalogue: what is offered, and what is said about a name that is not."""

import pytest

from studio.domain.errors import BadInput, NotFound
from studio.host.paths import Paths, bundled_root
from studio.runtimes.catalog import Catalog
from studio.runtimes.folder import lock_file
from tests.runtimes.standin import NAME, StandIn


def test_every_recipe_is_offered(stand_in: StandIn) -> None:
    """A folder without a recipe is no runtime."""
    (stand_in.paths.catalogue / "runtimes" / "tools").mkdir()

    assert [recipe.name for recipe in Catalog(stand_in.paths).recipes()] == [NAME]


def test_a_misspelt_name_gets_a_guess(stand_in: StandIn) -> None:
    """`tiny-1` is almost right; the person should not have to look it up."""
    with pytest.raises(NotFound) as caught:
        Catalog(stand_in.paths).recipe("tiny1.0")

    assert caught.value.code == "runtime-unknown"
    assert f"Did you mean `{NAME}`?" in (caught.value.hint or "")


@pytest.mark.parametrize("name", ["../tiny-1.0", "tiny-1.0/..", "", "/etc", "tools"])
def test_a_name_is_not_a_path(stand_in: StandIn, name: str) -> None:
    """Names come over the control API."""
    with pytest.raises(NotFound):
        Catalog(stand_in.paths).recipe(name)


def test_a_misspelt_key_is_named(stand_in: StandIn) -> None:
    """A key that is passed over in silence costs its author an evening."""
    stand_in.edit("disk_bytes", "disc_bytes")

    with pytest.raises(BadInput, match="disc_bytes") as caught:
        Catalog(stand_in.paths).recipes()

    assert str(stand_in.recipe_file) in caught.value.message


def test_name_and_folder_must_agree(stand_in: StandIn) -> None:
    """Installed folders are named after the one and looked for by the other."""
    stand_in.edit(f'name = "{NAME}"', 'name = "other"')

    with pytest.raises(BadInput) as caught:
        Catalog(stand_in.paths).recipe(NAME)

    assert caught.value.code == "runtime-name"


def test_the_shipped_recipes_are_whole() -> None:
    """Each has its lock, the lock has a hash for every pin, and the count is right."""
    paths = Paths(home=bundled_root() / "nowhere", catalogue=bundled_root())
    recipes = Catalog(paths).recipes()

    assert "cpu-vllm-0.32.0" in [recipe.name for recipe in recipes]
    for recipe in recipes:
        lock = lock_file(paths, recipe)
        if lock is None or recipe.packages is None:
            continue
        text = lock.read_text("utf-8")
        entries = text.replace("\\\n", " ").splitlines()
        pins = [line for line in entries if line and not line.startswith("#")]
        assert len(pins) == recipe.packages.count
        assert all("==" in pin and "--hash=sha256:" in pin for pin in pins)
        assert "://" not in text
        assert all(len(archive.sha256) == 64 for archive in recipe.interpreter.archives)
