"""What Windows runs once after its restart."""

from pathlib import PureWindowsPath

from studio.app import wsl_resume
from studio.app.wsl_resume import Resume
from tests.fakes.registry import FakeRegistry

FOLDER = r"C:\Users\zoë\AppData\Local\Programs\Weir Studio"


def test_it_is_asked_for_once_and_forgotten() -> None:
    """The setup first, then the window, both with quotes around their blanks."""
    registry = FakeRegistry()
    resume = Resume(registry, rf"{FOLDER}\weir-studio.exe")

    assert resume.remember()
    [text] = registry.values.values()
    assert text == (
        f'cmd.exe /d /c ""{FOLDER}\\weir.exe" wsl setup --yes & '
        f'start "" "{FOLDER}\\weir-studio.exe""'
    )
    resume.forget()
    assert registry.values == {}


def test_a_long_folder_goes_on_without_the_window() -> None:
    """Windows takes 260 characters and ignores a longer command."""
    folder = PureWindowsPath("C:\\" + "x" * 150)
    text = wsl_resume.command(folder)

    assert len(text) <= wsl_resume.MOST_CHARACTERS
    assert text.endswith("wsl setup --yes")


def test_a_checkout_and_a_forbidding_windows_ask_for_nothing() -> None:
    """The words of `weir wsl` say how to go on by hand."""
    assert not Resume(FakeRegistry()).remember()
    assert not Resume(FakeRegistry(refuses=True), rf"{FOLDER}\weir.exe").remember()
