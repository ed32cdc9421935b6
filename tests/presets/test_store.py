"""Presets on disk, the person's own first."""

from pathlib import Path

import pytest

from studio.domain.errors import BadInput, NotFound
from studio.host.paths import Paths, bundled_root
from studio.presets.store import PresetStore

BUNDLED = bundled_root() / "presets"


def store(tmp_path: Path, **own: str) -> PresetStore:
    """Return the bundled presets with these files of the person's own laid over them."""
    folder = tmp_path / "höme with blanks" / "presets"
    folder.mkdir(parents=True)
    for name, text in own.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return PresetStore(Paths(home=folder.parent, catalogue=bundled_root()))


def test_every_shipped_preset_can_be_read(tmp_path: Path) -> None:
    """A preset that cannot be read would take the whole list down."""
    presets = store(tmp_path).all()

    assert {preset.id for preset in presets} == {path.stem for path in BUNDLED.glob("*.toml")}
    assert "cpu-demo" in {preset.id for preset in presets}


def test_a_preset_of_ones_own_wins_by_its_name(tmp_path: Path) -> None:
    """People tune a shipped preset by copying it."""
    text = (BUNDLED / "cpu-demo.toml").read_text(encoding="utf-8")
    own = store(tmp_path, **{"cpu-demo": text.replace("title = ", 'title = "Mine" #', 1)})

    assert own.get("cpu-demo").title == "Mine"


def test_an_unknown_preset_is_told_its_neighbour(tmp_path: Path) -> None:
    """Typing errors are the most common input."""
    with pytest.raises(NotFound) as caught:
        store(tmp_path).get("cpu-dmo")

    assert caught.value.code == "preset-unknown"
    assert "`cpu-demo`" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (("served_name", "servd_name"), "servd_name"),
        (("schema_version = 1", 'schema_version = "1"'), "schema_version"),
        (("schema_version = 1", "schema_version = 9"), "for a newer Weir"),
        (("schema_version = 1", "schema_version = 0"), "for an older Weir"),
        (("id = ", "id = = "), "not valid TOML"),
        (('model = "smollm2-135m-instruct-f32"', 'model = "smolm2"'), "no model `smolm2`"),
    ],
)
def test_a_broken_preset_names_the_file_and_the_place(
    tmp_path: Path, change: tuple[str, str], part: str
) -> None:
    """People edit these files by hand."""
    text = (BUNDLED / "cpu-demo.toml").read_text(encoding="utf-8").replace(*change, 1)

    with pytest.raises(BadInput, match=part) as caught:
        store(tmp_path, **{"cpu-demo": text}).get("cpu-demo")

    assert "cpu-demo.toml" in caught.value.message
