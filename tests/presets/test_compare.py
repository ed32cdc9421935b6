"""What differs between presets, and who changed it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.presets import ChangeKind
from studio.presets import compare
from tests.presets.samples import knob, preset

VALUES = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2))


def test_a_preset_is_its_values_by_name() -> None:
    """Rules and sentences by their own names, knobs by theirs; words for people do not count."""
    values = compare.values_of(
        preset(
            knobs={"length": knob(default=5, minimum=1)},
            rules=[{"name": "r", "why": "w", "when": {"wsl": True}, "set": {"length": 3}}],
            arguments=["--x"],
        )
    )

    assert values["length"] == 5
    assert values["rules.r.when.wsl"] is True
    assert values["rules.r.set.length"] == 3
    assert list(values["arguments"]) == ["--x"]
    assert not [name for name in values if name.endswith((".why", ".meaning")) or name == "title"]


@pytest.mark.parametrize(
    ("base", "mine", "theirs", "kind"),
    [
        (1, 2, 1, ChangeKind.YOURS),
        (1, 1, 2, ChangeKind.UPDATE),
        (1, 2, 2, ChangeKind.BOTH),
        (1, 2, 3, ChangeKind.CONFLICT),
        (None, 2, None, ChangeKind.YOURS),
        (1, None, 1, ChangeKind.YOURS),
        (1, 1, None, ChangeKind.UPDATE),
        (None, 2, 3, ChangeKind.CONFLICT),
    ],
)
def test_three_ways_say_who_changed_it(
    base: int | None, mine: int | None, theirs: int | None, kind: ChangeKind
) -> None:
    """That decides whether an update may be taken over blindly."""
    sides = [{} if value is None else {"a": value} for value in (base, mine, theirs)]

    (change,) = compare.three_way(*sides)

    assert change.kind is kind
    assert (change.base, change.mine, change.theirs) == (base, mine, theirs)


@given(VALUES, VALUES)
def test_a_copy_that_nobody_touched_differs_only_by_the_update(
    base: dict[str, int], theirs: dict[str, int]
) -> None:
    """And one that the update did not touch only by what the person did."""
    update = compare.three_way(base, base, theirs)
    own = compare.three_way(base, theirs, base)

    assert {one.kind for one in update} <= {ChangeKind.UPDATE}
    assert {one.kind for one in own} <= {ChangeKind.YOURS}
    assert {one.name for one in update} == {one.name for one in own}
    assert {one.name for one in compare.two_way(base, theirs)} == {one.name for one in own}
