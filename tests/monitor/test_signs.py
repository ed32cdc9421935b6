"""The table of signs: every one can be looked for, and says what its texts may name."""

import pytest

from studio.monitor.alarm_rules import Limits, Rule
from studio.monitor.scene import Recent, Scene
from studio.monitor.signs import FLAGS, SIGNS
from tests.monitor.scenes import AT, RULES, TICK


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_bare_second_is_no_evidence(rule: Rule) -> None:
    """Nothing known, nothing wrong; and no sign stumbles over it."""
    scene = Scene(at=AT, monotonic_s=1.0, tick=TICK, is_serving=True, serving_since_s=0.0)
    recent = Recent()
    recent.take(scene)

    assert list(SIGNS[rule.code].look(scene, recent, Limits(rule, is_held=True))) == []


def test_conditions_of_remedies_are_words() -> None:
    """They are typed in the file."""
    assert all(flag.isalpha() and flag.islower() for flag in FLAGS)
