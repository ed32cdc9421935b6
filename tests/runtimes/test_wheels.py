"""Wheels beside the lock: uv gets them with their hashes, and they count in the runtime's id."""

from pathlib import Path

import msgspec

from studio.domain.manifests import RuntimeRecipe
from studio.domain.runtimes import PackageWheel
from studio.runtimes import wheels
from tests.runtimes.standin import StandIn

URL = "https://example.org/a-1.0%2Bcu-py3-none-any.whl"
WHEEL = PackageWheel(name="a", version="1.0+cu", url=URL, sha256="ab" * 32)
LISTED = PackageWheel(
    name="b", version="2", url="https://example.org/whl/", index="own", sha256="cd" * 32
)


def with_wheels(stand_in: StandIn, *found: PackageWheel) -> RuntimeRecipe:
    """Return the stand-in's recipe with these wheels."""
    recipe = stand_in.recipe
    assert recipe.packages is not None
    packages = msgspec.structs.replace(recipe.packages, wheels=found)
    return msgspec.structs.replace(recipe, packages=packages)


def test_a_wheel_is_asked_for_by_address_or_from_its_index(stand_in: StandIn) -> None:
    """Each with the hash without which uv refuses it."""
    assert wheels.requirement_lines(with_wheels(stand_in, WHEEL, LISTED)) == (
        f"a @ {URL} --hash=sha256:{'ab' * 32}",
        f"b==2 --hash=sha256:{'cd' * 32}",
    )


def test_a_recipe_without_wheels_installs_from_its_lock(stand_in: StandIn, tmp_path: Path) -> None:
    """And keeps the id that it always had."""
    lock = stand_in.recipe_file.with_name("requirements.lock")

    assert wheels.requirements_file(stand_in.recipe, lock, tmp_path) == lock
    assert wheels.digest_text(stand_in.recipe) == ""


def test_lock_and_wheels_become_one_file(stand_in: StandIn, tmp_path: Path) -> None:
    """One call of uv, all with hashes; a lock that ends without a newline is no trap."""
    lock = tmp_path / "lock"
    lock.write_bytes(b"x==1 --hash=sha256:00")

    made = wheels.requirements_file(with_wheels(stand_in, WHEEL), lock, tmp_path / "f")

    assert made.parent == tmp_path / "f"
    assert made.read_text().splitlines() == [
        "x==1 --hash=sha256:00",
        f"a @ {URL} --hash=sha256:{'ab' * 32}",
    ]


def test_the_bytes_count_and_not_where_they_came_from(stand_in: StandIn) -> None:
    """A mirror gives the same id on another machine; other bytes never do."""
    mirrored = msgspec.structs.replace(WHEEL, url="https://mirror.example/a.whl")
    other = msgspec.structs.replace(WHEEL, sha256="ef" * 32)

    first = wheels.digest_text(with_wheels(stand_in, WHEEL))
    assert wheels.digest_text(with_wheels(stand_in, mirrored)) == first
    assert wheels.digest_text(with_wheels(stand_in, other)) != first
