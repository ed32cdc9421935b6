"""The window as a process of its own."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from studio.ui.controllers.table import CONTROLLERS
from studio.ui.main import since_start_s

ROOT = Path(__file__).resolve().parents[2]


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
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("theme", ["dark", "light", "system"])
def test_smoke_paints_every_page_says_one_line_and_ends(tmp_path: Path, theme: str) -> None:
    """What the packages are checked with: one line, status 0, no other word."""
    done = start(tmp_path / "Jörg's home", "--smoke", "--theme", theme)

    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["pages"] == [page.value for page in CONTROLLERS]
    assert 0 < said["first_paint_s"] < 30
    assert done.stdout.count("\n") == 1


def test_every_page_is_painted_in_chinese(tmp_path: Path) -> None:
    """A translation with a wrong place would raise where its text is shown."""
    done = start(tmp_path, "--smoke", "--language", "zh_CN")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pages"] == [page.value for page in CONTROLLERS]


def test_an_unknown_option_is_refused_with_the_usage(tmp_path: Path) -> None:
    """A misspelt option must not open a window as if nothing were."""
    done = start(tmp_path, "--tehme", "dark")

    assert done.returncode == 2
    assert "usage: weir ui" in done.stderr


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
