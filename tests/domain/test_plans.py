"""What a plan says, summed."""

from studio.domain.plans import LedgerItem, LedgerPlace, Plan, PlanVerdict, machine_bytes


def test_the_machines_memory_is_counted_apart_from_its_cards() -> None:
    """What is not known adds nothing; shared memory is the machine's, too."""
    ledger = tuple(
        LedgerItem(name="x", title="X", place=place, bytes=size, source="a test")
        for place, size in (
            (LedgerPlace.CARD, 100), (LedgerPlace.MEMORY, 20), (LedgerPlace.SHM, 3),
            (LedgerPlace.MEMORY, None), (LedgerPlace.DISK, 500),
        )
    )  # fmt: skip
    plan = Plan(model="m", engine="e", host="h", verdict=PlanVerdict.FITS, ledger=ledger)

    assert machine_bytes(plan) == 23
