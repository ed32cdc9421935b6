"""Wheels beside the lock: uv gets them with their hashes, and they count in the runtime's id."""

import asyncio
import hashlib
from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import Damaged, HostLacks
from studio.domain.manifests import InstalledRuntime, RuntimeRecipe
from studio.domain.runtimes import PackageWheel, PinRequest
from studio.runtimes import pin, wheels
from studio.runtimes.catalog import Catalog
from studio.runtimes.folder import python_of
from studio.runtimes.install import install
from studio.runtimes.packages import site_packages
from tests.fakes.wheels import make_wheel
from tests.runtimes.standin import NAME, StandIn

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


def test_a_wheel_that_lies_here_is_taken_from_here(stand_in: StandIn, tmp_path: Path) -> None:
    """A machine without a network gets the file by hand, in the folder that pip is told of."""
    (tmp_path / "a-1.0+cu-py3-none-any.whl").touch()

    lines = wheels.requirement_lines(with_wheels(stand_in, WHEEL), [tmp_path])

    assert lines == (f"a==1.0+cu --hash=sha256:{'ab' * 32}",)


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


def supply_wheel(stand_in: StandIn, sha256: str | None = None) -> str:
    """Put a wheel of its own into the recipe, at an address; return its real sha256."""
    place = stand_in.paths.catalogue / "release"
    make_wheel(place, "weirown", {"weirown/__init__.py": b"OWN = 7\n"})
    (file,) = place.glob("weirown-*.whl")
    real = hashlib.sha256(file.read_bytes()).hexdigest()
    version = file.name.split("-")[1]
    stand_in.edit(
        "[probe]\nimports = [",
        "[[packages.wheels]]\n"
        f'name = "weirown"\nversion = "{version}"\nurl = "{file.as_uri()}"\n'
        + (f'sha256 = "{sha256 or real}"\nsource = "the test"\n' if sha256 != "" else "")
        + '[probe]\nimports = ["weirown", ',
    )
    return real


def put(stand_in: StandIn) -> InstalledRuntime:
    """Install the stand-in."""
    return asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))


def test_a_wheel_of_its_own_is_installed_with_the_lock(stand_in: StandIn) -> None:
    """From its address, checked, imported by the probe, and part of the id."""
    without = put(stand_in)
    supply_wheel(stand_in)

    record = put(stand_in)

    assert record.lock_digest != without.lock_digest
    assert (site_packages(python_of(stand_in.paths, record)) / "weirown").is_dir()


def test_a_wheel_with_other_bytes_is_refused(stand_in: StandIn) -> None:
    """The name is right, the file is another one."""
    supply_wheel(stand_in, sha256="ab" * 32)

    with pytest.raises(Damaged) as caught:
        put(stand_in)

    assert caught.value.code == "package-hash"


def test_a_wheel_without_a_hash_stops_the_installation_before_it_begins(stand_in: StandIn) -> None:
    """Until the person supplies it; then the same recipe installs."""
    real = supply_wheel(stand_in, sha256="")
    with pytest.raises(HostLacks) as caught:
        put(stand_in)
    assert caught.value.code == "hash-unverified"
    assert not stand_in.paths.runtimes.exists()
    (file,) = (stand_in.paths.catalogue / "release").glob("weirown-*.whl")

    published = Catalog(stand_in.paths).published(NAME)
    pin.record(stand_in.paths, published, PinRequest(hashes={file.name: real}))

    assert put(stand_in).runtime_id
