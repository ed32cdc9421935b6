"""What the system is called, without asking Windows' slow ways."""

import platform
import sys

import pytest

from studio.host import system_name


@pytest.mark.parametrize(
    ("build", "title"),
    [(19_045, "Windows 10 (build 19045)"), (22_000, "Windows 11 (build 22000)")],
)
def test_windows_is_called_as_it_is_sold(build: int, title: str) -> None:
    """Both call themselves 10.0."""
    assert system_name.windows_title(build) == title


def test_the_machine_is_windows_own_also_in_an_emulated_process() -> None:
    """A program for x64 on an ARM machine sees both names."""
    emulated = {"PROCESSOR_ARCHITECTURE": "AMD64", "PROCESSOR_ARCHITEW6432": "ARM64"}
    assert system_name.windows_machine(emulated) == "ARM64"
    assert system_name.windows_machine({"PROCESSOR_ARCHITECTURE": "AMD64"}) == "AMD64"
    assert system_name.windows_machine({}) == "AMD64"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows is asked in another way")
def test_elsewhere_it_is_what_python_says() -> None:
    """Recipes and recorded hosts hold these words."""
    assert system_name.system() == platform.system()
    assert system_name.release() == platform.release()
    assert system_name.machine() == platform.machine()
