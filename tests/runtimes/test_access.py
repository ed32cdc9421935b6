"""What is in the way in a runtime's folders: locks, emptied folders, what a kill cut off."""

from pathlib import Path

from studio.runtimes.access import open_up, remove_emptied, sweep


def test_every_folder_is_opened_to_its_owner_and_nothing_else_is_changed(tmp_path: Path) -> None:
    """Also one inside another that was closed; files keep their modes, links are not followed."""
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o500)
    inner = tmp_path / "python/lib/inner"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    (inner / "file").chmod(0o400)
    (inner / "link").symlink_to(outside)
    inner.chmod(0o055)
    inner.parent.chmod(0o000)

    assert open_up(tmp_path) == 2

    assert inner.stat().st_mode & 0o777 == 0o755
    assert inner.parent.stat().st_mode & 0o777 == 0o700
    assert (inner / "file").stat().st_mode & 0o777 == 0o400
    assert outside.stat().st_mode & 0o777 == 0o500
    assert open_up(tmp_path) == 0
    assert open_up(tmp_path / "nothing") == 0


def test_folders_that_became_empty_go_and_the_trees_stay(tmp_path: Path) -> None:
    """`python` itself stays, and so does a folder in which something is left."""
    for name in ("python/a/b/c/", "python/d/", "python/kept/empty/"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "python/d/file").write_text("x")

    remove_emptied(tmp_path, ["python/a/b/c/gone", "python/d/gone", "python/x/y/gone", "python/z"])

    assert {path.name for path in (tmp_path / "python").iterdir()} == {"d", "kept"}
    assert (tmp_path / "python/kept/empty").is_dir()


def test_what_a_kill_cut_off_goes_and_hidden_files_of_packages_stay(tmp_path: Path) -> None:
    """Found by 200 kills: a half-written list was taken for a file of the runtime."""
    site = "lib/python3.11/site-packages"
    gone = {f"{site}/a-1.dist-info/.RECORD.tpst3o5d", f"{site}/a/__pycache__/b.cpython-311.pyc.139"}
    kept = {
        f"{site}/a-1.dist-info/RECORD",
        f"{site}/a/.env.template",
        f"{site}/a/b.pyc.txt",
        f"{site}/a/__pycache__/b.cpython-311.pyc",
    }
    for name in gone | kept:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")

    sweep(tmp_path)
    sweep(tmp_path / "nothing")

    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    assert kept <= found
    assert not gone & found
