"""Spill as records: what hurts, and what was asked for."""

import pytest

from studio.domain.spill import HARMFUL, SpillFlow, SpillKind

WANTED = {SpillKind.CPU_KV_TIER, SpillKind.HOST_KV, SpillKind.EXPERT_RING, SpillKind.PLE_DISK}


@pytest.mark.parametrize("kind", list(SpillKind))
def test_every_kind_hurts_or_was_asked_for(kind: SpillKind) -> None:
    """The sum in front counts the harmful ones only: a tier that works must not look like one."""
    assert SpillFlow(kind=kind).is_harmful == (kind not in WANTED)
    assert (kind in HARMFUL) != (kind in WANTED)


def test_what_is_not_known_of_a_flow_is_not_zero() -> None:
    """No bytes and no answer are told apart."""
    flow = SpillFlow(kind=SpillKind.SWAP)

    assert (flow.bytes, flow.bytes_per_s, flow.since) == (None, None, None)
