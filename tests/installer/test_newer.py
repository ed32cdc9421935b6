"""The next version that a trial updates to."""

import shutil
import subprocess
from pathlib import Path

import pytest

from installer import freeze, newer
from studio import __version__


@pytest.mark.skipif(shutil.which("git") is None, reason="git")
def test_a_copy_of_the_checkout_says_the_next_number(tmp_path: Path) -> None:
    """Else the trial would update to the version that it came from."""
    if not (freeze.ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    version = newer.next_version(__version__)

    newer.copy(tmp_path / "näxt", version)

    said = subprocess.run(
        ["python3", "-c", "import studio; print(studio.__version__)"],
        cwd=tmp_path / "näxt", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert said.stdout == f"{version}\n"
    assert version != __version__
    assert (tmp_path / "näxt/presets/cpu-demo.toml").is_file()


@pytest.mark.parametrize(("now", "then"), [("0.1.0", "0.2.0"), ("1.9.4", "1.10.0")])
def test_the_next_number_is_larger(now: str, then: str) -> None:
    """By numbers, not by letters."""
    assert newer.next_version(now) == then
