"""Every preset on every host, as reviewed text."""

import pytest

from tests.presets.samples import bundled_all
from tests.presets.snapshots import FOLDER, text_of

IDS = [preset.id for preset in bundled_all()]


@pytest.mark.parametrize("preset_id", IDS)
def test_a_preset_renders_as_reviewed(preset_id: str) -> None:
    """A changed flag is seen in the review: `python -m tests.presets.snapshots` writes them."""
    assert text_of(preset_id) == (FOLDER / f"{preset_id}.txt").read_text(encoding="utf-8")


def test_every_snapshot_belongs_to_a_preset() -> None:
    """What is left of a renamed preset would look like one."""
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(IDS)


def test_the_presets_are_those_that_were_promised() -> None:
    """Fixed names: people script them, and other programs do."""
    assert set(IDS) == {
        "27b-mtp", "27b-dflash2", "27b-dflash2-quote", "27b-long", "27b-long-quote",
        "27b-huge-mtp", "27b-huge", "27b-int4-256k", "27b-batch-fp8", "27b-batch-kvarn",
        "27b-batch-int4", "v100-27b", "v100-flash-next", "v100-flash-next-gguf", "v100-v41-16k",
        "v100-v41-512k", "cpu-demo",
    }  # fmt: skip
