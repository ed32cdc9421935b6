"""Remedies: which of them the Studio can take by itself."""

import pytest

from studio.domain.remedies import Remedy, RemedyKind


@pytest.mark.parametrize(
    ("kind", "can_apply"),
    [
        (RemedyKind.RESTART_WITH, True),
        (RemedyKind.RESTART, True),
        (RemedyKind.REPAIR, True),
        (RemedyKind.CHOOSE, False),
        (RemedyKind.COMMAND, False),
        (RemedyKind.ADVICE, False),
    ],
)
def test_a_button_is_only_for_what_needs_no_hands(kind: RemedyKind, can_apply: bool) -> None:
    """A button that does nothing is worse than words."""
    assert Remedy(kind=kind, text="x").can_apply is can_apply
