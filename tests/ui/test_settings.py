"""What the window remembers."""

from pathlib import Path

from PySide6.QtCore import QByteArray

from studio.ui.motion import MotionChoice
from studio.ui.settings import FILE_NAME, WindowSettings
from studio.ui.theme import ThemeChoice


def test_the_choice_of_charts_and_the_span_come_back_and_rubbish_is_no_choice(
    tmp_path: Path,
) -> None:
    """Whatever somebody wrote into the file."""
    settings = WindowSettings(tmp_path)
    assert (settings.charts, settings.span) == ({}, None)
    settings.charts, settings.span = {"pool": False}, "7d"
    settings.save()
    assert (WindowSettings(tmp_path).charts, WindowSettings(tmp_path).span) == (
        {"pool": False},
        "7d",
    )

    (tmp_path / "window.ini").write_text('[General]\ncharts="[1"\nspan=x\n', encoding="utf-8")

    assert WindowSettings(tmp_path).charts == {}


def test_nothing_remembered_means_the_system_decides(tmp_path: Path) -> None:
    """The first start follows the desktop."""
    settings = WindowSettings(tmp_path)

    assert settings.theme is ThemeChoice.SYSTEM
    assert settings.geometry is None
    assert settings.rail_collapsed is None
    assert settings.motion is MotionChoice.SYSTEM
    assert settings.notifies
    assert settings.to_tray
    assert not settings.tray_is_explained


def test_settings_survive_in_a_folder_with_spaces_and_umlauts(tmp_path: Path) -> None:
    """Home folders have people's names in them."""
    home = tmp_path / "Jörg Müller 文件"
    settings = WindowSettings(home)
    settings.theme = ThemeChoice.LIGHT
    settings.rail_collapsed = False
    settings.motion = MotionChoice.REDUCED
    settings.notifies = settings.to_tray = False
    settings.tray_is_explained = True
    settings.geometry = QByteArray(b"frame")
    settings.save()

    again = WindowSettings(home)
    assert again.theme is ThemeChoice.LIGHT
    assert again.rail_collapsed is False
    assert again.motion is MotionChoice.REDUCED
    assert not again.notifies
    assert not again.to_tray
    assert again.tray_is_explained
    assert again.geometry == QByteArray(b"frame")
    assert (home / FILE_NAME).is_file()


def test_nonsense_in_the_file_reads_as_never_set(tmp_path: Path) -> None:
    """A damaged file must not keep the window from opening."""
    (tmp_path / FILE_NAME).write_bytes(
        b"[General]\ntheme=plaid\nmotion=wild\nnotifies=perhaps\ngeometry=@Nonsense(\xff\n"
    )

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
