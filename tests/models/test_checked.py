"""What a check found is kept with its date."""

from pathlib import Path

from studio.domain.library import CheckedResult
from studio.models.checked import forget_checked, read_checked, write_checked
from studio.models.state import Checked


def test_a_result_is_read_back_and_forgotten(tmp_path: Path) -> None:
    """Beside no file of the model."""
    place = tmp_path / "m"
    place.mkdir()
    checked = Checked(
        result=CheckedResult(at_s=5.0, files=2, compared=1, damaged=("w",)), bad={"w": (3, 4)}
    )

    write_checked(place, tmp_path / "models", checked)

    assert read_checked(place, tmp_path / "models") == checked
    assert list(place.iterdir()) == []
    forget_checked(place, tmp_path / "models")
    assert read_checked(place, tmp_path / "models") is None


def test_a_damaged_result_is_none(tmp_path: Path) -> None:
    """The model is then to be checked again."""
    write_checked(tmp_path, tmp_path, Checked(result=CheckedResult(at_s=1, files=1, compared=0)))
    (file,) = (tmp_path / ".checks").iterdir()
    file.write_text("{")

    assert read_checked(tmp_path, tmp_path) is None
