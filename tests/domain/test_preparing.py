"""Steps as data."""

import msgspec
import pytest

from studio.domain.preparing import Change, PreparationStep

STEP = PreparationStep(name="a", what="A.")


def test_a_step_can_be_done_by_a_script_or_by_changes() -> None:
    """One that says neither has no known way."""
    change = Change(file="config.json", path=("a",), value=1)

    assert not STEP.is_runnable
    for values in ({"tool": "t.py"}, {"series": "x/t.py"}, {"changes": (change,)}):
        assert msgspec.structs.replace(STEP, **values).is_runnable


@pytest.mark.parametrize("word", ["scripts", "tensor", "After"])
def test_a_misspelt_word_is_refused(word: str) -> None:
    """It would be a step that does something else."""
    with pytest.raises(msgspec.ValidationError, match=word):
        msgspec.convert({"name": "a", "what": "A.", word: []}, PreparationStep)
