"""What a plan takes, added up."""

from studio.domain.plans import LedgerItem, LedgerPlace, Plan, PlanVerdict, machine_bytes


def test_the_machines_memory_is_what_lies_there_or_is_shared_and_nothing_else() -> None:
    """WSL gets that much: what lies on a card or a disk would ask the PC for what it has not."""
    sizes = {
        LedgerPlace.CARD: 1_000,
        LedgerPlace.MEMORY: 200,
        LedgerPlace.SHM: 30,
        LedgerPlace.DISK: 4,
    }
    assert sizes.keys() == set(LedgerPlace)
    ledger = [item(place, size) for place, size in sizes.items()]

    plan = plan_of(*ledger, item(LedgerPlace.MEMORY, 500), item(LedgerPlace.MEMORY, None))

    assert machine_bytes(plan) == 730
    assert machine_bytes(plan_of()) == 0


def plan_of(*ledger: LedgerItem) -> Plan:
    """Return a plan with a ledger."""
    return Plan(model="", engine="", host="", verdict=PlanVerdict.FITS, ledger=ledger)


def item(place: LedgerPlace, size: int | None) -> LedgerItem:
    """Return a line of it; None: nobody knows how much."""
    return LedgerItem(name="some", title="", place=place, bytes=size, source="a test")
