"""`weir uninstall` after real use: what it listed is gone, and nothing else has changed."""

import os
from pathlib import Path

import pytest

from tests.fakes.weir import Weir


def listing(folder: Path) -> dict[str, int]:
    """Return every file and link below a folder with its size."""
    found = {}
    for top, folders, files in os.walk(folder):
        for name in [*files, *(one for one in folders if Path(top, one).is_symlink())]:
            path = Path(top, name)
            found[str(path.relative_to(folder))] = path.lstat().st_size
    return found


@pytest.fixture
def used(weir: Weir) -> Weir:
    """Return a home in which a model was served, a key made and a bench begun."""
    assert weir.run("up", "--detach", "--yes").returncode == 0
    for words in (
        ("keys", "create", "zed"),
        ("settings", "--set", "sample-s=2"),
        ("metrics", "on"),
    ):
        assert weir.run(*words).returncode == 0
    beside = weir.paths.home.parent / "a client's.json"
    beside.write_text("{}", encoding="utf-8")
    assert weir.run("connect", "claude-code", "--write", "--file", str(beside)).returncode == 0
    assert weir.run("connect", "claude-code", "--undo").returncode == 0
    (weir.paths.home / "mine.txt").write_text("mine", encoding="utf-8")
    return weir


def test_all_that_was_ever_made_is_known_and_goes_when_it_is_named(used: Weir) -> None:
    """Every name that the Studio writes is in the list: only the person's own file is left."""
    before = listing(used.paths.home.parent)

    plan = used.json("uninstall", "--dry-run")
    assert listing(used.paths.home.parent).keys() >= {
        name for name in before if "service/" not in name
    }
    assert plan["foreign"] == [str(used.paths.home / "mine.txt")]
    assert plan["service_pid"] == used.service_pid()

    done = used.run("uninstall", "--remove", "all")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in used.paths.home.iterdir()] == ["mine.txt"]
    outside = {
        name: size
        for name, size in before.items()
        if not name.startswith(f"{used.paths.home.name}/")
    }
    after = listing(used.paths.home.parent)
    assert {name: after.get(name) for name in outside} == outside
    assert after.keys() - before.keys() == set()


def test_a_yes_keeps_the_models_and_without_one_nothing_goes(used: Weir) -> None:
    """They took a night to come; and a script may have forgotten the yes."""
    weights = used.paths.models / "mine/weights"
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"x" * 1_000)

    asked = used.run("uninstall")
    assert asked.returncode == 4
    assert "--yes" in asked.stderr
    assert used.run("status").returncode == 0

    done = used.run("uninstall", "--yes")
    assert done.returncode == 0, done.stderr
    assert "Kept: models" in done.stdout
    assert weights.exists()
    assert not used.paths.runtimes.exists()
    assert not used.paths.database.exists()


@pytest.mark.parametrize(
    "words", [["--remove", "everything"], ["--remove", "keys", "--keep", "keys"], ["models"]]
)
def test_a_mistyped_group_removes_nothing(weir: Weir, words: list[str]) -> None:
    """With the groups that there are."""
    done = weir.run("uninstall", *words)

    assert done.returncode == 2
