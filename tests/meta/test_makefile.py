"""The Makefile as a program would use it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHATTY = "#!/bin/sh\necho 'Looking in indexes: everywhere'\n"
RUSTUP = '#!/bin/sh\necho "rustup: $RUSTUP_HOME"\n'
"""Stands for pip, which asks `rustc`, which makes this folder."""
WEIR = """#!/bin/sh\necho '{"ready": true}'\n"""


def up(place: Path, python: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run `make up` in a copy of the tree's head whose `.venv/bin/python` is a script."""
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, place / name)
    for name, text in (("python", python), ("weir", WEIR)):
        program = place / ".venv" / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)

    # As at a prompt: a make above this one would be told of.
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    for name in ("MFLAGS", "RUSTUP_HOME"):
        environment.pop(name, None)
    return subprocess.run(
        ["make", "up", "ARGS=--json"],
        cwd=place,
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=True,
    )


def test_the_first_run_prints_nothing_but_the_answer(tmp_path: Path) -> None:
    """`make up ARGS=--json | jq` has to work before anything is set up, too."""
    done = up(tmp_path, CHATTY)

    assert json.loads(done.stdout) == {"ready": True}
    assert "Looking in indexes" in done.stderr


@pytest.mark.parametrize("name", ["home", "my höme"])
def test_an_empty_home_stays_empty_where_rustup_stands_in_for_rustc(
    tmp_path: Path, name: str
) -> None:
    """Nothing is written outside the Studio's own folders, by what pip starts either."""
    clone, home = tmp_path / "the clone", tmp_path / name
    clone.mkdir()
    home.mkdir()

    done = up(clone, RUSTUP, HOME=str(home))

    assert f"rustup: {clone}/.venv/rustup\n" in done.stderr


def test_a_rustup_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    """A package without a wheel may have to be built with it."""
    (tmp_path / ".rustup").mkdir()

    assert "rustup: \n" in up(tmp_path, RUSTUP, HOME=str(tmp_path)).stderr
    (tmp_path / ".venv" / ".stamp-deps").unlink()
    elsewhere = up(tmp_path, RUSTUP, HOME=str(tmp_path), RUSTUP_HOME="/opt/rustup")
    assert "rustup: /opt/rustup\n" in elsewhere.stderr
