"""System libraries that a fresh machine lacks."""

import json
import shutil
from pathlib import Path

import pytest

from studio.domain.errors import HostLacks
from studio.runtimes import folder
from studio.runtimes.install import install
from tests.runtimes.standin import StandIn


def wants(stand_in: StandIn, soname: str, package: str) -> None:
    """Let the stand-in's recipe ask for a library."""
    text = stand_in.recipe_file.read_text("utf-8")
    ask = f'soname = "{soname}"\npurpose = "a test"\npackages = {{ apt = "{package}" }}\n'
    stand_in.recipe_file.write_text(f"{text}\n[[libraries]]\n{ask}", "utf-8")


def system_libraries() -> set[str]:
    """Return the names in the system's library folder."""
    return {path.name for path in Path("/usr/lib/x86_64-linux-gnu").glob("lib*")}


async def test_a_library_that_the_system_has_is_left_alone(stand_in: StandIn) -> None:
    """Nothing is fetched, nothing is copied."""
    wants(stand_in, "libc.so.6", "no-such-package")

    made = await install(stand_in.recipe, stand_in.paths, stand_in.reports.append)

    assert not (folder.folder_of(stand_in.paths, made) / "lib").exists()


async def test_a_library_that_nobody_has_is_named_with_its_package(stand_in: StandIn) -> None:
    """The engine's own words would be an AttributeError of an operator, a minute later."""
    wants(stand_in, "libnobodyhasthis.so.7", "libnobodyhasthis7")

    with pytest.raises(HostLacks) as caught:
        await install(stand_in.recipe, stand_in.paths, stand_in.reports.append)

    assert caught.value.code == "library-missing"
    assert "libnobodyhasthis.so.7" in caught.value.message
    assert "libnobodyhasthis7" in (caught.value.hint or "")
    assert not list(stand_in.paths.runtimes.rglob("apt.partial"))


@pytest.mark.real
async def test_a_library_that_the_package_manager_has_is_copied_into_the_runtime(
    stand_in: StandIn,
) -> None:
    """A minimal Debian lacks libnuma; the system stays as it is and no rights are needed."""
    if shutil.which("apt-get") is None:
        pytest.skip("this system has no apt")
    before = system_libraries()
    wants(stand_in, "libcdb.so.1", "libcdb1")

    made = await install(stand_in.recipe, stand_in.paths, stand_in.reports.append)

    copied = folder.folder_of(stand_in.paths, made) / "lib" / "libcdb.so.1"
    assert copied.read_bytes()[:4] == b"\x7fELF"
    assert system_libraries() == before
    notes = json.dumps([report.note for report in stand_in.reports])
    assert "Getting libcdb.so.1" in notes
