"""What comes of two changes to one preset: values alone, no files."""

import pytest

from studio.domain.errors import BadInput
from studio.domain.presets import ChangeKind, ValueChange
from studio.presets.merge import wanted

MINE = {"max_model_len": 32_768, "max_num_seqs": 4, "dtype": "auto"}
CHANGES = (
    ValueChange(name="max_model_len", kind=ChangeKind.YOURS, base=1, mine=32_768, theirs=1),
    ValueChange(name="max_num_seqs", kind=ChangeKind.CONFLICT, base=8, mine=4, theirs=16),
    ValueChange(name="dtype", kind=ChangeKind.UPDATE, base="auto", mine="auto", theirs=None),
    ValueChange(name="tools", kind=ChangeKind.BOTH, base=True, mine=False, theirs=False),
)


def test_without_a_choice_the_persons_own_values_stay() -> None:
    """An update never takes away what somebody chose."""
    found = wanted("mine", MINE, CHANGES, None)

    assert found.values == {"max_model_len": 32_768, "max_num_seqs": 4}
    assert found.taken == ("dtype",)
    assert found.kept == ("max_model_len", "max_num_seqs")


def test_what_is_named_comes_from_the_original_and_nothing_else() -> None:
    """A person decides line by line."""
    found = wanted("mine", MINE, CHANGES, ("max_num_seqs",))

    assert found.values == {**MINE, "max_num_seqs": 16}
    assert found.kept == ("max_model_len", "dtype")


def test_a_name_that_differs_in_nothing_is_told() -> None:
    """A typing mistake must not read as a yes to less."""
    with pytest.raises(BadInput, match="tools") as caught:
        wanted("mine", MINE, CHANGES, ("tools",))

    assert caught.value.code == "preset-change-unknown"
