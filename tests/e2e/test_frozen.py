"""The program as people get it: frozen here, started with an empty profile."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from installer import freeze
from studio import __version__
from tests.fakes.waiting import until

LIMIT_S = 60.0

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the frozen program, in a folder that is not easy."""
    if (made := os.environ.get("WEIR_FROZEN")) is not None:
        yield Path(made) / freeze.PROGRAM
        return
    work = tmp_path_factory.mktemp("frözen here")
    yield freeze.freeze(work) / freeze.PROGRAM


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return what a person's session has, with an empty home and no screen."""
    home = tmp_path / "Jörg"
    home.mkdir()
    return {
        "HOME": str(home), "PATH": os.defpath, "LC_ALL": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen",
        "XDG_RUNTIME_DIR": str(tmp_path),
    }  # fmt: skip


def run(program: Path, environment: dict[str, str], *words: str) -> tuple[int, str, str]:
    """Return exit status and both outputs, read apart: a crash may come after the last word."""
    done = subprocess.run(
        [str(program), *words], env=environment, capture_output=True, text=True, timeout=LIMIT_S,
        cwd="/", check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_the_window_opens_every_page_and_says_one_line(
    program: Path, environment: dict[str, str]
) -> None:
    """Status 0, one line of JSON, no other word."""
    status, said, errors = run(program, environment, "ui", "--smoke")

    words = [line for line in errors.splitlines() if "propagateSizeHints" not in line]
    assert (status, words) == (0, [])
    [line] = said.splitlines()
    assert "serve" in json.loads(line)["pages"]


def test_the_command_line_finds_catalogue_pages_and_uv(
    program: Path, environment: dict[str, str]
) -> None:
    """What it needs came along: presets, runtimes, the doctor's words, uv."""
    assert run(program, environment, "--version") == (0, f"weir {__version__}\n", "")
    status, said, errors = run(program, environment, "doctor", "--json")
    assert errors == ""
    assert status in (0, 1)
    assert json.loads(said)
    status, said, errors = run(program, environment, "presets", "--json")
    assert (status, errors) == (0, "")
    assert any(one["id"] == "cpu-demo" for one in json.loads(said))
    assert (program.parent / "_internal/bin/uv").is_file()
    assert (program.parent / "_internal/studio/host/guard.py").is_file()


def test_a_service_of_it_starts_answers_and_ends(
    program: Path, environment: dict[str, str]
) -> None:
    """Without a library of ours in what it starts."""
    home = Path(environment["HOME"]) / "weir home"
    environment = {**environment, "WEIR_HOME": str(home)}
    with subprocess.Popen(
        [str(program), "service", "run"], env=environment, cwd="/",
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as service:  # fmt: skip
        try:
            status, _said, errors = run(program, environment, "up", "no-such-preset")
            assert status != 0
            assert "no-such-preset" in errors
            assert run(program, environment, "down")[0] == 0
            assert service.wait(timeout=LIMIT_S) == 0
        finally:
            service.kill()


def test_a_service_outlives_the_exchange_of_its_program(
    program: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """A package installed over it: what the service has not loaded yet is another version's."""
    old = tmp_path / "öld program"
    shutil.copytree(program.parent, old, symlinks=True)
    environment = {**environment, "WEIR_HOME": str(tmp_path / "home")}
    with subprocess.Popen(
        [str(old / program.name), "service", "run"], env=environment, cwd="/",
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as service:  # fmt: skip
        try:
            until((tmp_path / "home/service/service.json").exists, "the service")
            (old / program.name).unlink()
            (old / program.name).write_bytes(b"another version's")
            (old / "_internal/base_library.zip").write_bytes(b"another version's")
            for words in (
                ("status",), ("presets",), ("runtime", "list"), ("plan", "cpu-demo"), ("doctor",),
                ("keys", "create", "zed"), ("gateway", "selftest"), ("report", "--show"),
                ("network",), ("history",), ("alarms",), ("pool",), ("cache",), ("bench", "list"),
            ):  # fmt: skip
                _status, _said, errors = run(program, environment, *words)
                assert "unexpected" not in errors, (words, errors)
            assert run(program, environment, "down")[0] == 0
            assert service.wait(timeout=LIMIT_S) == 0
        finally:
            service.kill()
    log = (tmp_path / "home/logs/service.log").read_text(encoding="utf-8")
    assert "ModuleNotFound" not in log
    assert "Traceback" not in log


def test_without_qt_everything_but_the_window_works(
    program: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """What `--headless` installs: the window is refused with the way on, nothing else notices."""
    bare = tmp_path / "bare"
    shutil.copytree(program.parent, bare, symlinks=True)
    for name in ("PySide6", "shiboken6"):
        shutil.rmtree(bare / "_internal" / name)

    assert run(bare / program.name, environment, "--version") == (0, f"weir {__version__}\n", "")
    status, said, errors = run(bare / program.name, environment, "ui")

    assert (status, said) == (4, "")
    assert "--headless" in errors


def test_nothing_of_the_build_machine_and_no_driver_came_along(program: Path) -> None:
    """No path of it, no library of the card's, all licences."""
    folder = program.parent
    names = {path.name for path in freeze.files(folder)}
    assert not [name for name in names if name.startswith(freeze.FORBIDDEN)]
    assert (folder / "licences/Qt/LGPL-3.txt").is_file()
    assert (folder / "licences/httpx").is_dir()
    assert freeze.size(folder) < 230_000_000
    place = str(freeze.ROOT).encode()
    marked = [
        path for path in freeze.files(folder) if path.is_file() and place in path.read_bytes()
    ]
    assert marked == []
