"""What the window remembers."""

from pathlib import Path

from PySide6.QtCore import QByteArray

from studio.ui.settings import FILE_NAME, WindowSettings
from studio.ui.theme import ThemeChoice


def test_nothing_remembered_means_the_system_decides(tmp_path: Path) -> None:
    """The first start follows the desktop."""
    settings = WindowSettings(tmp_path)

    assert settings.theme is ThemeChoice.SYSTEM
    assert settings.geometry is None
    assert settings.rail_collapsed is None


def test_settings_survive_in_a_folder_with_spaces_and_umlauts(tmp_path: Path) -> None:
    """Home folders have people's names in them."""
    home = tmp_path / "Jörg Müller 文件"
    settings = WindowSettings(home)
    settings.theme = ThemeChoice.LIGHT
    settings.rail_collapsed = False
    settings.geometry = QByteArray(b"frame")
    settings.save()

    again = WindowSettings(home)
    assert again.theme is ThemeChoice.LIGHT
    assert again.rail_collapsed is False
    assert again.geometry == QByteArray(b"frame")
    assert (home / FILE_NAME).is_file()


def test_nonsense_in_the_file_reads_as_never_set(tmp_path: Path) -> None:
    """A damaged file must not keep the window from opening."""
    (tmp_path / FILE_NAME).write_bytes(b"[General]\ntheme=plaid\ngeometry=@Nonsense(\xff\n")

    settings = WindowSettings(tmp_path)

    assert settings.theme is ThemeChoice.SYSTEM
    assert settings.geometry is None


def test_the_language_is_kept_and_one_that_we_do_not_speak_is_the_systems(tmp_path: Path) -> None:
    """A hand-edited file must not leave the window without words."""
    settings = WindowSettings(tmp_path)
    assert settings.language is None

    settings.language = "zh_CN"
    settings.save()
    assert WindowSettings(tmp_path).language == "zh_CN"

    settings.language = None
    settings.save()
    assert WindowSettings(tmp_path).language is None
    (tmp_path / "window.ini").write_text("[General]\nlanguage=tlh\n")
    assert WindowSettings(tmp_path).language is None
