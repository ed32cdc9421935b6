"""A runtime as people see it: state, size, verdict, and everything that its recipe says."""

import pytest

from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import InstalledRuntime
from studio.domain.runtimes import RuntimeDetail, RuntimeInfo, RuntimePin, RuntimeState
from studio.host.documents import write_json
from studio.host.paths import Paths, bundled_root
from studio.runtimes import describe, history
from studio.runtimes import folder as folders
from studio.runtimes.catalog import Catalog
from studio.runtimes.interpreter import host_platform
from studio.runtimes.patches import patch_digest
from studio.runtimes.store import Store
from tests.runtimes.standin import NAME, StandIn

HOST = HostSnapshot(
    system=host_platform().partition("-")[0],
    machine=host_platform().partition("-")[2],
    os_name="Debian",
)
WHEEL = """
[[packages.wheels]]
name = "weirwheel"
version = "2.0"
url = "http://127.0.0.1:1/"
bytes = 1_000
"""


def look(stand_in: StandIn) -> RuntimeInfo:
    """Return the stand-in as a list shows it."""
    return describe.info(stand_in.recipe, stand_in.paths, HOST)


def detail(paths: Paths, name: str, supplied: RuntimePin | None = None) -> RuntimeDetail:
    """Return everything about a runtime of the shipped catalogue."""
    return describe.detail(Catalog(paths).recipe(name), supplied, paths, HOST)


@pytest.fixture
def shipped(stand_in: StandIn) -> Paths:
    """The shipped catalogue with the stand-in's home."""
    return Paths(home=stand_in.paths.home, catalogue=bundled_root())


def installed(stand_in: StandIn, **changes: object) -> InstalledRuntime:
    """Write an installation as the installer leaves it."""
    recipe, paths = stand_in.recipe, stand_in.paths
    lock = folders.lock_digest(paths, recipe)
    patches = patch_digest(paths, recipe)
    fields = {
        "name": NAME,
        "runtime_id": folders.runtime_id("test", lock, patches),
        "python": folders.PYTHON,
        "interpreter": "CPython of the test",
        "interpreter_build": "test",
        "lock_digest": lock,
        "patch_digest": patches,
        "bytes": 4_321,
        "installed_at": "2026-11-29T10:00:00+00:00",
        **changes,
    }
    record = InstalledRuntime(**fields)
    place = folders.folder_of(paths, record)
    python = place / folders.PYTHON
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    write_json(place / folders.RECORD_FILE, record)
    current = folders.named_folder(paths, NAME) / history.CURRENT_FILE
    current.write_text(record.runtime_id + "\n")
    return record


def test_what_is_not_installed_shows_what_is_to_download(stand_in: StandIn) -> None:
    """The figure that decides whether to press the button."""
    found = look(stand_in)

    assert (found.state, found.usable, found.reasons) == (RuntimeState.AVAILABLE, True, ())
    assert (found.runtime_id, found.bytes) == (None, 9_000)


def test_what_is_installed_shows_its_id_and_its_size_on_disk(stand_in: StandIn) -> None:
    """The id stands in every log and report; here is where people look it up."""
    record = installed(stand_in)

    found = look(stand_in)

    assert found.state is RuntimeState.INSTALLED
    assert (found.runtime_id, found.bytes, found.usable) == (record.runtime_id, 4_321, True)


@pytest.mark.parametrize("damage", ["record", "interpreter", "folder", "current"])
def test_a_broken_installation_is_not_shown_as_absent(stand_in: StandIn, damage: str) -> None:
    """Something was there yesterday; who reads `can be installed` looks in the wrong place."""
    place = folders.folder_of(stand_in.paths, installed(stand_in))
    current = folders.named_folder(stand_in.paths, NAME) / history.CURRENT_FILE
    match damage:
        case "record":
            (place / folders.RECORD_FILE).write_text("{")
        case "interpreter":
            (place / folders.PYTHON).unlink()
        case "folder":
            place.rename(place.with_name("elsewhere"))
        case _:
            current.write_bytes(b"\xff\xfe../..")

    found = look(stand_in)

    assert (found.state, found.usable) == (RuntimeState.DAMAGED, False)
    assert found.reasons == ("What is installed of it cannot be used.",)


def test_an_older_build_is_no_damage(stand_in: StandIn) -> None:
    """A new lock of the catalogue is an offer: what is installed goes on, and is called that."""
    record = installed(stand_in)
    lock = stand_in.recipe_file.with_name("requirements.lock")
    lock.write_text(lock.read_text() + "# changed\n")

    found = describe.detail(stand_in.recipe, None, stand_in.paths, HOST)

    assert (found.info.state, found.info.usable) == (RuntimeState.INSTALLED, True)
    assert found.info.runtime_id == record.runtime_id
    assert found.info.is_update_offered
    (warning,) = found.warnings
    assert "weir runtime updates" in warning


def test_a_disk_that_shares_nothing_is_said(stand_in: StandIn) -> None:
    """Somebody wonders where the space went."""
    store = Store(stand_in.paths)
    store.open()
    (store.root / "way").write_text("copy")

    (warning,) = describe.detail(stand_in.recipe, None, stand_in.paths, HOST).warnings

    assert "link" in warning


def test_a_recipe_that_cannot_be_read_is_shown_with_its_mistake(stand_in: StandIn) -> None:
    """File, line or key, and what was meant."""
    stand_in.edit("disk_bytes", "disc_bytes")

    ((name, error),) = Catalog(stand_in.paths).unreadable()
    found = describe.unreadable(name, error)

    assert (found.name, found.state, found.usable) == (NAME, RuntimeState.DAMAGED, False)
    assert "runtime.toml" in found.reasons[0]
    assert "disc_bytes" in found.reasons[0]


def test_what_is_open_is_a_reason_until_it_is_installed(stand_in: StandIn) -> None:
    """A hash that is missing keeps it from being installed, not from being used."""
    stand_in.edit("[probe]", WHEEL + "[probe]")

    found = look(stand_in)

    assert (found.state, found.usable) == (RuntimeState.UNVERIFIED, False)
    assert found.reasons == ("No source gives the sha256 of weirwheel 2.0.",)
    assert found.bytes == 10_000
    installed(stand_in)
    assert look(stand_in).usable


def test_another_platform_is_a_reason(stand_in: StandIn) -> None:
    """The verdict and the state are two things."""
    stand_in.edit(f'platforms = ["{host_platform()}"]', 'platforms = ["plan9-mips"]')

    found = look(stand_in)

    assert (found.state, found.usable) == (RuntimeState.AVAILABLE, False)
    assert "plan9-mips" in found.reasons[0]


def test_everything_that_a_recipe_says_is_shown(shipped: Paths) -> None:
    """Patches with their commit, tools, steps with their fall-backs, knobs, marks, failures."""
    found = detail(shipped, "cu13-hyperqwen-0.31.0")

    assert [(one.patches, one.commit) for one in found.patches] == [
        (48, "b20b7401dc3a78bab5cb7fa7ae1a9036687a0eb5"),
        (4, "b20b7401dc3a78bab5cb7fa7ae1a9036687a0eb5"),
        (1, None),  # of our two the series replaces one
    ]
    assert found.packages == 204
    assert {"compiler", "python-headers", "nvcc"} == {one.name for one in found.tools}
    assert all(one.fallback for one in found.steps)
    assert "kvarn_pool_mem_frac" in found.knobs
    assert found.notes
    assert found.interpreter.startswith("CPython 3.12.15")
    assert {one.name for one in found.open} == {
        "series-order",
        "build-scripts",
        "never-booted",
    }


def test_what_was_agreed_to_is_said(shipped: Paths) -> None:
    """Who looks a year later sees what was waved through."""
    found = detail(shipped, "sm70-1cat-1.5.0", RuntimePin(confirmed=("lock",)))

    assert found.agreed == ("lock",)


def test_a_runtime_without_packages_has_no_download(stand_in: StandIn) -> None:
    """Unknown is not zero, and none is not unknown."""
    text = stand_in.recipe_file.read_text("utf-8")
    head, _, rest = text.partition("[packages]")
    stand_in.recipe_file.write_text(head + rest[rest.index("[probe]") :], "utf-8")

    found = describe.detail(stand_in.recipe, None, stand_in.paths, HOST)

    assert (found.packages, found.download_bytes, found.info.bytes) == (None, None, None)
    assert found.wheels == ()
