"""The window as a process of its own."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from studio.control.client import ControlClient
from studio.domain.errors import BadInput
from studio.ui.controllers.table import CONTROLLERS
from studio.ui.main import run, since_start_s
from studio.ui.window import FIRST_SIZE

ROOT = Path(__file__).resolve().parents[2]


async def never() -> ControlClient:
    """Stand for a service that is not asked."""
    raise AssertionError


def start(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the window with a `connect` that must not be called."""
    program = textwrap.dedent(
        """
        import sys
        from studio.ui.main import run

        async def connect():
            raise AssertionError("a smoke test starts no service")

        sys.exit(run(sys.argv[1:], connect))
        """
    )
    environment = {**os.environ, "WEIR_HOME": str(home), "QT_QPA_PLATFORM": "offscreen"}
    environment["TMPDIR"] = str(home.parent)
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(("theme", "language"), [("system", "en"), ("light", "zh_CN")])
def test_smoke_paints_every_page_says_one_line_and_ends(
    tmp_path: Path, theme: str, language: str
) -> None:
    """What the packages are checked with: one line, status 0, no other word.

    A translation with a wrong place would raise where its text is shown.
    """
    done = start(tmp_path / "Jörg's home", "--smoke", "--theme", theme, "--language", language)

    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["pages"] == [page.value for page in CONTROLLERS]
    assert 0 < said["first_paint_s"] < 30
    assert done.stdout.count("\n") == 1
    assert not list(tmp_path.glob("weir-studio-*"))  # its temporary files


def test_every_page_is_painted_twice_as_dense_at_two_hundred_percent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As large to the eye, with four pixels for each: no page falls, none is cut off."""
    monkeypatch.setenv("QT_SCALE_FACTOR", "2")
    pictures = tmp_path / "pictures"
    pictures.mkdir()

    done = start(tmp_path / "home", "--smoke", "--pictures", str(pictures))

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    sizes = {path.stem: QImage(str(path)).size().toTuple() for path in pictures.iterdir()}
    wide, high = FIRST_SIZE
    assert sizes == {page.value: (2 * wide, 2 * high) for page in CONTROLLERS}


def test_an_unknown_option_is_refused_with_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt option must not open a window as if nothing were."""
    with pytest.raises(SystemExit) as refused:
        run(["--tehme", "dark"], never)

    assert refused.value.code == 2
    assert "usage: weir ui" in capsys.readouterr().err


def test_a_machine_without_a_screen_is_told_what_works_there(tmp_path: Path) -> None:
    """Qt alone would abort the process with a core dump and a wrong hint."""
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [sys.executable, "-m", "studio", "ui"],
        cwd=ROOT,
        env={**environment, "WEIR_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 4
    assert "code: no-display" in done.stderr
    assert "weir up" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_first_picture_does_not_wait_for_the_http_client(tmp_path: Path) -> None:
    """httpx alone takes a fifth of a second to import."""
    check = "import sys, studio.ui.main; sys.exit('httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", check], cwd=ROOT, timeout=60)

    assert done.returncode == 0


def test_the_process_knows_its_own_age() -> None:
    """First paint is counted from exec, imports included."""
    first = since_start_s()

    assert 0 < first <= since_start_s()


@pytest.mark.parametrize("words", [("--ssh", "a", "--address", "127.0.0.1:7"), ("--ssh", "box")])
def test_another_machine_needs_a_way_to_it(words: tuple[str, ...]) -> None:
    """Two machines in one window, or one that nobody makes reachable, is a mistake said at once."""
    with pytest.raises(BadInput, match="The window shows one machine") as refused:
        run(list(words), never)

    assert refused.value.code == "window-options"


def test_pictures_need_a_folder_that_can_be_made(tmp_path: Path) -> None:
    """Without one they were written nowhere, without a word."""
    in_the_way = tmp_path / "file"
    in_the_way.write_text("", encoding="utf-8")

    with pytest.raises(BadInput, match="pictures cannot be made") as refused:
        run(["--smoke", "--pictures", str(in_the_way / "shots")], never)

    assert refused.value.code == "window-options"
