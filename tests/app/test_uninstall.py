"""What is ours, and what of it goes."""

import os
from pathlib import Path

import pytest

from studio.app.uninstall import Uninstall
from studio.domain.errors import Busy
from studio.domain.uninstall import Belongings, UninstallRequest
from studio.host import lxss
from studio.host.documents import write_json
from studio.host.own_program import OwnProgram
from studio.host.paths import Paths, bundled_root
from studio.host.registry import Registry
from tests.fakes.registry import FakeRegistry

ALL = UninstallRequest(remove=tuple(Belongings))


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """Return a home with something of every kind, and a file that is not ours."""
    home = tmp_path / "wéir home"
    made = {
        "models/a/weights": 1_000, "runtimes/r/lib": 500, "cache/uv/x": 100, "logs/engine.log": 10,
        "history.db": 20, "history.db-wal": 5, "studio.db": 30, "settings.json": 2,
        "service/service.lock": 0, "presets/mine.toml": 7, "notes of mine.txt": 3,
    }  # fmt: skip
    for name, size in made.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    os.link(home / "runtimes/r/lib", home / "store-link")
    (home / "store").mkdir()
    (home / "store-link").rename(home / "store/lib")
    return Paths(home=home, catalogue=bundled_root())


def of(
    paths: Paths, program: OwnProgram | None = None, registry: Registry | None = None
) -> Uninstall:
    """Return the uninstaller of a home, for a person without a unit."""
    environ = {"HOME": str(paths.home.parent), "XDG_CONFIG_HOME": str(paths.home.parent / "config")}
    return Uninstall(
        paths, environ=environ, program=lambda: program or OwnProgram(), registry=registry
    )


def test_everything_is_listed_with_its_size_and_shared_bytes_once(paths: Paths) -> None:
    """What would be freed is no guess."""
    plan = of(paths).plan()

    sizes = dict.fromkeys(Belongings, 0)
    for place in plan.places:
        sizes[place.group] += place.bytes
    assert sizes[Belongings.MODELS] == 1_000
    assert sizes[Belongings.RUNTIMES] == 500
    assert sizes[Belongings.HISTORY] == 25
    assert sizes[Belongings.KEYS] == 30
    assert sizes[Belongings.SETTINGS] == 9
    assert plan.foreign == (str(paths.home / "notes of mine.txt"),)
    assert plan.service_pid is None


def test_only_what_was_chosen_goes(paths: Paths) -> None:
    """Models stay unless they are named; a stranger's file stays always."""
    result = of(paths).remove(UninstallRequest(remove=(Belongings.RUNTIMES, Belongings.HISTORY)))

    assert result.left == ()
    assert result.freed_bytes == 525
    assert not (paths.home / "runtimes").exists()
    assert not (paths.home / "history.db-wal").exists()
    assert (paths.home / "models/a/weights").stat().st_size == 1_000
    assert (paths.home / "notes of mine.txt").exists()


def test_all_of_it_leaves_what_is_not_ours_and_a_second_time_nothing_to_do(paths: Paths) -> None:
    """The folder itself goes when it is empty."""
    of(paths).remove(ALL)
    assert [path.name for path in paths.home.iterdir()] == ["notes of mine.txt"]

    (paths.home / "notes of mine.txt").unlink()
    again = of(paths).remove(ALL)

    assert again.removed == ()
    assert not paths.home.exists()


def test_a_link_goes_and_what_it_points_at_stays(paths: Paths, tmp_path: Path) -> None:
    """People put models on another disk that way."""
    elsewhere = tmp_path / "big disk"
    elsewhere.mkdir()
    (elsewhere / "weights").write_bytes(b"x")
    (paths.home / "models/a/weights").unlink()
    (paths.home / "models/a").rmdir()
    (paths.home / "models").rmdir()
    (paths.home / "models").symlink_to(elsewhere)

    of(paths).remove(ALL)

    assert not os.path.lexists(paths.home / "models")
    assert (elsewhere / "weights").exists()


def test_while_the_service_runs_nothing_is_taken_from_under_it(paths: Paths) -> None:
    """It is ended first; a file left by one that is gone holds nobody up."""
    write_json(paths.service / "service.json", {"pid": os.getpid()})
    with pytest.raises(Busy) as caught:
        of(paths).remove(ALL)
    assert caught.value.code == "uninstall-service-runs"
    assert (paths.home / "models").exists()

    write_json(paths.service / "service.json", {"pid": 999_999_999})
    assert of(paths).remove(ALL).left == ()


def test_the_program_goes_last_with_its_empty_folder(paths: Paths, tmp_path: Path) -> None:
    """Whoever is cut off half-way can still run it."""
    program = tmp_path / "opt/weir-studio"
    (program / "1.0").mkdir(parents=True)
    (program / "1.0/weir").touch()
    found = OwnProgram(paths=(program / "1.0",), folders=(program,))

    plan = of(paths, found).plan()
    of(paths, found).remove(ALL)

    assert plan.places[-1].group is Belongings.PROGRAM or Belongings.PROGRAM in {
        place.group for place in plan.places
    }
    assert list(Belongings)[-1] is Belongings.PROGRAM
    assert not program.exists()


def test_a_file_of_a_persons_in_a_version_stays_and_the_rest_counts_as_removed(
    paths: Paths, tmp_path: Path
) -> None:
    """Else 180 MB go, and the person is told of nothing but what stayed."""
    version = tmp_path / "opt/weir-studio/1.0"
    version.mkdir(parents=True)
    (version / "weir").write_bytes(bytes(1_000))
    (version / "files.txt").write_text("weir\n", encoding="utf-8")
    (version / "mine.txt").write_bytes(b"mine")
    found = OwnProgram(paths=(version,), folders=())

    result = of(paths, found).remove(ALL)

    [program] = [place for place in result.removed if place.group is Belongings.PROGRAM]
    assert (program.bytes, program.files) == (1_000 + len("weir\n"), 2)
    assert any("not ours" in one for one in result.left)
    assert [path.name for path in version.iterdir()] == ["mine.txt"]


def test_a_unit_of_another_home_is_not_ours(paths: Paths) -> None:
    """Two homes, one unit file."""
    folder = paths.home.parent / "config/systemd/user"
    folder.mkdir(parents=True)
    (folder / "weir-studio.service").write_text(
        "[Service]\nExecStart=/bin/true\n", encoding="utf-8"
    )

    assert not any("systemd" in place.path for place in of(paths).plan().places)


def test_what_cannot_be_removed_is_named(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest goes nevertheless."""

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("studio.host.own_program.shutil.rmtree", refuse)

    result = of(paths).remove(ALL)

    assert any("models: Permission denied" in one for one in result.left)
    assert not (paths.home / "settings.json").exists()


def test_the_disk_of_a_linux_that_wsl_knows_is_not_taken_from_under_it(paths: Paths) -> None:
    """`weir wsl remove` says what is in it, and WSL forgets it; then its folder is like any."""
    registry = FakeRegistry()
    disk = paths.home / "wsl/ext4.vhdx"
    disk.parent.mkdir()
    disk.write_bytes(b"x" * 4_000)
    registry.write(rf"{lxss.KEY}\{{1}}", "DistributionName", "weir-studio")
    registry.write(rf"{lxss.KEY}\{{1}}", "BasePath", str(disk.parent))

    plan = of(paths, registry=registry).plan()
    result = of(paths, registry=registry).remove(ALL)

    [note] = plan.notes
    assert "weir wsl remove" in note
    assert str(disk) in note
    assert disk.exists()
    assert result.left == (note,)
    assert not any("wsl" in place.path for place in (*plan.places, *result.removed))
    assert not (paths.home / "models").exists()
    registry.values.clear()
    assert of(paths, registry=registry).remove(ALL).left == ()
    assert not disk.exists()


@pytest.mark.parametrize("moved", ["wsl", "wsl-of mine", "other disk"])
def test_a_folder_that_the_disk_of_the_linux_has_left_goes(
    paths: Paths, tmp_path: Path, moved: str
) -> None:
    """`wsl --manage weir-studio --move` leaves it behind: the disk elsewhere stays, and is told."""
    registry, old = FakeRegistry(), paths.home / "wsl"
    old.mkdir()
    (old / "shortcut.ico").touch()
    disk = tmp_path / moved / "ext4.vhdx"
    disk.parent.mkdir()
    disk.write_bytes(b"disk")
    registry.write(rf"{lxss.KEY}\{{1}}", "DistributionName", "weir-studio")
    registry.write(rf"{lxss.KEY}\{{1}}", "BasePath", str(disk.parent))

    result = of(paths, registry=registry).remove(ALL)

    assert not old.exists()
    assert disk.exists()
    assert result.left == (*of(paths, registry=registry).plan().notes,)
    assert str(disk) in result.left[0]


@pytest.mark.parametrize(
    ("linux", "other"), [("weir-studio", "mine"), ("mine", None), ("weir-studio", None)]
)
def test_a_folder_in_which_another_disk_lies_stays_and_is_told(
    paths: Paths, tmp_path: Path, linux: str, other: str | None
) -> None:
    """Whatever WSL calls it: nobody was asked about what is in it."""
    registry, image = FakeRegistry(), paths.home / "wsl/ext4.vhdx"
    image.parent.mkdir()
    image.write_bytes(b"models")
    elsewhere = tmp_path / "other disk" if linux == "weir-studio" else image.parent
    registry.write(rf"{lxss.KEY}\{{1}}", "DistributionName", linux)
    registry.write(rf"{lxss.KEY}\{{1}}", "BasePath", str(elsewhere))
    if other is not None:
        registry.write(rf"{lxss.KEY}\{{2}}", "DistributionName", other)
        registry.write(rf"{lxss.KEY}\{{2}}", "BasePath", str(image.parent))

    result = of(paths, registry=registry).remove(ALL)

    assert image.exists()
    assert any(str(image.parent) in one for one in result.left)
