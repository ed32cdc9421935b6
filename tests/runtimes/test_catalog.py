"""The catalogue: what is offered, and what is said about a name that is not."""

import pytest

from studio.domain.errors import BadInput, NotFound
from studio.domain.runtimes import RuntimeState
from studio.host.paths import Paths, bundled_root
from studio.runtimes import pin
from studio.runtimes.catalog import Catalog
from studio.runtimes.folder import lock_file
from studio.runtimes.interpreter import host_platform
from tests.runtimes.standin import NAME, SERIES, StandIn


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
        Catalog(stand_in.paths).recipe(NAME)

    assert str(stand_in.recipe_file) in caught.value.message


@pytest.mark.parametrize(
    "text", ["disc_bytes = 1", "name = ", "\x00", '[needs]\ndisk_bytes = "much"']
)
def test_one_bad_recipe_does_not_hide_the_others(stand_in: StandIn, text: str) -> None:
    """Somebody edits a recipe of their own, and every other runtime is still to be had."""
    bad = stand_in.recipe_file.parents[1] / "mine-1.0" / "runtime.toml"
    bad.parent.mkdir()
    bad.write_text(text)
    catalog = Catalog(stand_in.paths)

    assert [recipe.name for recipe in catalog.recipes()] == [NAME]
    ((name, error),) = catalog.unreadable()
    assert name == "mine-1.0"
    assert str(bad) in error.message


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
        assert recipe.interpreter.archives
        assert {one.platform for one in recipe.interpreter.archives} <= set(recipe.needs.platforms)
        series = f"{recipe.interpreter.series}."
        assert all(one.version.startswith(series) for one in recipe.interpreter.archives)


def test_the_catalogue_carries_what_it_promises() -> None:
    """Processor twice, CUDA 13 twice, V100 twice; what is open is open and nothing else."""
    recipes = Catalog(Paths(home=bundled_root() / "nowhere", catalogue=bundled_root())).recipes()

    assert {one.name: pin.open_state(one) for one in recipes} == {
        "cpu-vllm-0.31.0": None,
        "cpu-vllm-0.32.0": None,
        "cu13-hyperqwen-0.31.0": RuntimeState.UNVERIFIED,
        "cu13-hyperqwen-0.32.0": RuntimeState.NOT_PINNED,
        "sm70-1cat-1.5.0": RuntimeState.UNVERIFIED,
        "sm70-1cat-1.5.2": RuntimeState.UNVERIFIED,
    }


def test_names_inside_the_shipped_recipes_agree() -> None:
    """A step that needs a tool which nobody declares would be found on the person's machine."""
    for recipe in Catalog(Paths(home=bundled_root(), catalogue=bundled_root())).recipes():
        tools = {one.name for one in recipe.tools}
        indexes = {one.name for one in recipe.packages.indexes} if recipe.packages else set()
        wheels = recipe.packages.wheels if recipe.packages else ()
        assert {name for step in recipe.steps for name in step.tools} <= tools
        assert {one.index for one in wheels if one.index is not None} <= indexes
        assert all(one.sha256 is None or len(one.sha256) == 64 for one in wheels)
        assert all(one.sha256 is None or one.source for one in wheels)
        for series in recipe.patches:
            upstream = series.upstream
            if upstream is not None and upstream.order and upstream.count is not None:
                assert len(set(upstream.order)) == len(upstream.order) == upstream.count


def test_a_recipe_takes_its_interpreter_from_the_common_table(stand_in: StandIn) -> None:
    """Only the archives of the named release, and of its own platforms."""
    _write_table(stand_in, "20990101")
    stand_in.edit(f'series = "{SERIES}"', f'series = "{SERIES}"\nrelease = "20990101"')

    (archive,) = stand_in.recipe.interpreter.archives

    assert (archive.platform, archive.release) == (host_platform(), "20990101")


def test_a_release_that_the_table_lacks_is_named(stand_in: StandIn) -> None:
    """Else the runtime would quietly stand on whatever Python the machine has."""
    _write_table(stand_in, "20980101")
    stand_in.edit(f'series = "{SERIES}"', f'series = "{SERIES}"\nrelease = "20990101"')

    with pytest.raises(BadInput) as caught:
        Catalog(stand_in.paths).recipe(NAME)

    assert caught.value.code == "interpreter-unlisted"
    assert "20990101" in caught.value.message


def test_a_misspelt_key_gets_a_guess(stand_in: StandIn) -> None:
    """File, place, and what was meant."""
    stand_in.edit("disk_bytes", "disc_bytes")

    with pytest.raises(BadInput) as caught:
        Catalog(stand_in.paths).recipe(NAME)

    assert "$.needs" in caught.value.message
    assert caught.value.hint == "Did you mean `disk_bytes`?"


def _write_table(stand_in: StandIn, release: str) -> None:
    rows = "".join(
        f'[[archives."{SERIES}"]]\nplatform = "{platform}"\nversion = "{SERIES}.99"\n'
        f'release = "{one}"\nurl = "http://127.0.0.1:1/x"\nsha256 = "{"ab" * 32}"\n'
        for platform in (host_platform(), "plan9-mips")
        for one in ("20970101", release)
    )
    table = stand_in.paths.catalogue / "runtimes" / "interpreters.toml"
    table.write_text(f'schema_version = 1\nsource = "made up"\n{rows}', "utf-8")
