"""How much there is to fetch: exact with a table of sizes, reckoned without one."""

from studio.host import locks
from studio.host.paths import Paths, bundled_root
from studio.runtimes import sizes
from studio.runtimes.catalog import Catalog
from studio.runtimes.install import download_bytes
from studio.runtimes.stock import whole_lock
from tests.runtimes.sharing_pair import add, build
from tests.runtimes.standin import StandIn


def with_table(stand_in: StandIn) -> None:
    """Write the table of the wheels that lie there."""
    rows = [
        f'"{"==".join(path.name.split("-")[:2])}" = {path.stat().st_size}'
        for path in stand_in.wheels.glob("*.whl")
    ]
    head = 'schema_version = 1\nsource = "here"\n[platforms.linux-x86_64]\n'
    (stand_in.recipe_file.parent / "sizes.toml").write_text(head + "\n".join(rows) + "\n")


def test_with_a_table_it_is_what_will_be_fetched(stand_in: StandIn) -> None:
    """First all of it, then what differs, then nothing."""
    with_table(stand_in)
    wheels = sum(path.stat().st_size for path in stand_in.wheels.glob("*.whl"))
    recipe, paths = stand_in.recipe, stand_in.paths
    assert sizes.fetch_bytes(recipe, paths) == download_bytes(recipe, paths) == wheels
    build(stand_in)
    assert sizes.fetch_bytes(recipe, paths) == 0
    add(stand_in, "weirmore", size=5_000)
    with_table(stand_in)

    new = (stand_in.wheels / "weirmore-1.0-py3-none-any.whl").stat().st_size
    assert sizes.fetch_bytes(stand_in.recipe, paths) == new
    assert download_bytes(stand_in.recipe, paths) == 0  # a start fetches nothing


def test_without_one_it_is_reckoned_from_what_is_here(stand_in: StandIn) -> None:
    """About, and never more than the whole."""
    recipe, paths = stand_in.recipe, stand_in.paths
    assert recipe.packages is not None
    assert sizes.fetch_bytes(recipe, paths) == recipe.packages.download_bytes
    assert sizes.disk_bytes(recipe, paths) == recipe.needs.disk_bytes
    build(stand_in)
    assert sizes.fetch_bytes(recipe, paths) == 0
    add(stand_in, "weirmore")

    assert 0 <= sizes.fetch_bytes(stand_in.recipe, paths) < recipe.packages.download_bytes
    assert sizes.disk_bytes(stand_in.recipe, paths) <= recipe.needs.disk_bytes


def test_the_shipped_tables_know_every_pin_and_add_up() -> None:
    """A table that was forgotten at the last lock would make a wrong promise."""
    paths = Paths(home=bundled_root() / "nowhere", catalogue=bundled_root())
    recipes = Catalog(paths).recipes()
    assert len(recipes) >= 6
    for recipe in recipes:
        assert recipe.packages is not None
        known = sizes.wheel_sizes(recipe, paths)
        own = {locks.plain(f"{one.name}=={one.version}") for one in recipe.packages.wheels}
        assert known.keys() - own == locks.pins(whole_lock(paths, recipe)) - own, recipe.name
        listed = sum(size for pin, size in known.items() if pin not in own)
        assert listed == recipe.packages.download_bytes, recipe.name
