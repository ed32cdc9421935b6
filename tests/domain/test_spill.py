"""Kinds of spill: those that hurt and those that were meant."""

from studio.domain.spill import HARMFUL, SpillFlow, SpillKind


def test_every_kind_hurts_or_was_meant() -> None:
    """A tier that a person asked for must never look like a mistake."""
    meant = {kind for kind in SpillKind if not SpillFlow(kind=kind).is_harmful}

    assert meant == {
        SpillKind.CPU_KV_TIER,
        SpillKind.HOST_KV,
        SpillKind.EXPERT_RING,
        SpillKind.PLE_DISK,
    }
    assert meant | HARMFUL == set(SpillKind)
