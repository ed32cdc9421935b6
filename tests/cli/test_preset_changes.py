"""`weir presets rename`, `remove` and `update`, from the typed line to the file."""

from tests.cli.test_presets import Weir, weir

__all__ = ["weir"]


def test_a_preset_is_renamed_updated_and_removed(weir: Weir) -> None:
    """Each says what it did and where, in a sentence; no service is needed."""
    assert weir("presets", "copy", "cpu-demo", "mine", "--set", "max_num_seqs=4").status == 0

    renamed = weir("presets", "rename", "mine", "Für mich")
    updated = weir("presets", "update", "mine")
    removed = weir("presets", "remove", "mine")

    assert renamed.out.startswith("mine has its new title: ")
    assert updated.out == "Nothing was changed.\n"
    assert removed.out.startswith("mine is deleted: ")
    assert weir("presets", "show", "mine").status != 0


def test_a_removed_copy_in_the_place_of_a_bundled_one_says_what_is_back(weir: Weir) -> None:
    """The name goes on to exist, so silence would mislead."""
    weir("presets", "edit", "cpu-demo", "--set", "max_num_seqs=4")

    removed = weir("presets", "remove", "cpu-demo")

    assert "again the one that came with the Studio" in removed.out
    assert weir("presets", "remove", "cpu-demo", "--json").status != 0
