"""Where the program lies, and what of it is ours to remove."""

import shutil
import subprocess
from pathlib import Path

import pytest

from studio.domain.self_update import Came
from studio.host import own_program
from tests.fakes.waiting import until


def installed(prefix: Path) -> Path:
    """Return the folder of one version, as the .run leaves it."""
    program = prefix / "opt/weir-studio"
    for version in ("1.0", "1.1"):
        (program / version).mkdir(parents=True)
        (program / version / "weir").touch()
    (program / "current").symlink_to("1.1")
    (prefix / "bin").mkdir()
    (prefix / "bin/weir").symlink_to(program / "current/weir")
    entry = prefix / "share/applications/weir-studio.desktop"
    entry.parent.mkdir(parents=True)
    entry.touch()
    (program / "installed").write_text(f"{prefix}/bin/weir\n{entry}\n", encoding="utf-8")
    return program / "1.1"


def test_a_program_of_ones_own_lists_all_versions_links_and_entries(tmp_path: Path) -> None:
    """Nothing of it stays."""
    found = own_program.of(installed(tmp_path))

    names = {str(path.relative_to(tmp_path)) for path in found.paths}
    assert names == {
        "bin/weir", "share/applications/weir-studio.desktop", "opt/weir-studio/1.0",
        "opt/weir-studio/1.1", "opt/weir-studio/current", "opt/weir-studio/installed",
    }  # fmt: skip
    assert found.folders == (tmp_path / "opt/weir-studio",)
    assert found.notes == ()


def test_a_link_that_somebody_replaced_is_theirs(tmp_path: Path) -> None:
    """`~/.local/bin/weir` may be another program by now."""
    folder = installed(tmp_path)
    (tmp_path / "bin/weir").unlink()
    (tmp_path / "bin/weir").write_text("theirs", encoding="utf-8")

    assert tmp_path / "bin/weir" not in own_program.of(folder).paths


def test_a_package_of_the_systems_and_a_checkout_are_removed_by_other_means(
    tmp_path: Path,
) -> None:
    """And the words say by which."""
    package = own_program.of(own_program.SYSTEM_FOLDER)
    assert package.paths == ()
    assert "apt remove weir-studio" in package.notes[0]
    assert "by hand" in own_program.of(tmp_path / "somewhere").notes[0]
    assert "checkout" in own_program.find().notes[0]


def listed(folder: Path, *names: str) -> None:
    """Write down what came with a version."""
    (folder / own_program.LISTED).write_text("".join(f"{n}\n" for n in names), encoding="utf-8")


def test_how_a_program_came_is_told_by_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It decides who exchanges it."""
    monkeypatch.delenv("APPIMAGE", raising=False)
    run = own_program.installed_in(installed(tmp_path))

    assert (run.came, run.prefix, run.versions) == (
        Came.RUN, tmp_path, tmp_path / "opt/weir-studio"
    )  # fmt: skip
    assert not run.has_window
    assert own_program.installed_in(own_program.SYSTEM_FOLDER).came is Came.DEB
    assert own_program.installed_in(tmp_path).came is Came.FOLDER
    assert own_program.installed().came is Came.CHECKOUT
    monkeypatch.setenv("APPIMAGE", "/home/me/Weir.AppImage")
    assert own_program.installed_in(tmp_path / "mnt").came is Came.APPIMAGE


def test_the_program_is_started_by_the_link_unless_another_version_is_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A unit that names a version would start the old one for ever."""
    folder = installed(tmp_path)
    monkeypatch.setattr("sys.executable", str(folder / "weir"))
    assert own_program.command() == tmp_path / "opt/weir-studio/current/weir"

    own_program.switch(folder.parent, "1.0")

    assert own_program.current(folder.parent) == "1.0"
    assert own_program.command() == folder / "weir"


def test_a_version_goes_and_what_a_person_put_into_it_stays(tmp_path: Path) -> None:
    """And a list that leads out of the folder removes nothing there."""
    folder = installed(tmp_path)
    (folder / "lib").mkdir()
    for name in ("lib/a", "lib/mine"):
        (folder / name).touch()
    outside = tmp_path / "outside"
    outside.touch()
    listed(folder, "weir", "lib/a", "../../../outside")

    assert own_program.remove(folder) == f"{folder}: it holds files that are not ours"

    assert outside.exists()
    left = sorted(path.name for path in folder.rglob("*"))
    assert left == ["lib", "mine"]
    (folder / "lib/mine").unlink()
    listed(folder)
    assert own_program.remove_version(folder) is None
    assert not folder.exists()


def test_a_removal_that_was_cut_off_is_completed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list goes last: without it nobody knows what the folders left belong to."""
    folder = installed(tmp_path)
    (folder / "lib").mkdir(exist_ok=True)
    (folder / "lib/a").touch()
    listed(folder, "weir", "lib/a")

    def killed(path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as power:
        power.setattr(Path, "rmdir", killed)
        with pytest.raises(KeyboardInterrupt):
            own_program.remove_version(folder)
    assert not (folder / "weir").exists()

    assert own_program.remove_version(folder) is None
    assert not folder.exists()


def test_a_folder_without_a_list_is_left_alone(tmp_path: Path) -> None:
    """Nobody knows what is in it."""
    folder = installed(tmp_path)

    assert "not known" in (own_program.remove_version(folder) or "")
    assert (folder / "weir").exists()


def test_older_versions_go_but_not_what_runs(tmp_path: Path) -> None:
    """A service of an old version serves on."""
    versions = installed(tmp_path).parent
    sleeper = versions / "0.9/weir"
    sleeper.parent.mkdir()
    shutil.copyfile("/bin/sleep", sleeper)
    sleeper.chmod(0o755)
    for name in ("0.9", "1.0", "1.1"):
        listed(versions / name, "weir")
    with subprocess.Popen([str(sleeper), "600"]) as running:
        try:
            until(lambda: Path(f"/proc/{running.pid}/exe").readlink() == sleeper, "the sleeper")
            own_program.forget_older(versions, ["1.1"])
        finally:
            running.kill()

    assert sleeper.exists()
    assert not (versions / "1.0").exists()
    assert (versions / "1.1").exists()


def test_an_appimage_is_started_by_its_file_and_removed_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it is mounted as is gone when whoever started it ends."""
    monkeypatch.setenv("APPIMAGE", "/home/zoë/Weir Studio.AppImage")

    assert own_program.command() == Path("/home/zoë/Weir Studio.AppImage")
    assert "remove it by hand" in own_program.of(tmp_path).notes[0]


def test_a_program_of_windows_is_removed_by_windows(tmp_path: Path) -> None:
    """It would not delete its own file while it runs."""
    (tmp_path / own_program.UNINSTALLER).touch()

    assert own_program.installed_in(tmp_path).came is Came.SETUP
    assert own_program.installed_in(tmp_path).has_window  # it lies in the version's own folder
    found = own_program.of(tmp_path)
    assert found.paths == ()
    assert "Windows removes" in found.notes[0]
