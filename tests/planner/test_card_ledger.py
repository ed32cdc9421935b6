"""What lies on each card, what is left over, and what is too much."""

from studio.domain.hardware import GpuProcess
from studio.domain.plans import LedgerItem
from studio.domain.units import GIB, MIB
from studio.planner import card_ledger
from studio.planner.card_ledger import Ground
from studio.planner.outcome import Lack
from tests.planner.plan_samples import card, host

WEIGHTS = LedgerItem(name="weights", title="Weights", bytes=15 * GIB, source="a test")


def lacks(ground: Ground, settings: dict[str, object], used: int | None, error: int = 0) -> list:
    """Return what is missing on the first card."""
    return list(card_ledger.shortfalls(ground, ground.host.gpus[0], settings, used, error))


def test_alike_cards_have_one_ledger_that_of_the_fullest() -> None:
    """Four equal columns hide the one that decides."""
    cards = (card(0, free=23 * GIB), card(1, free=20 * GIB))

    ledger, left = card_ledger.on_cards(Ground(host=host(*cards)), cards, (WEIGHTS,), 15 * GIB)

    assert left == 5 * GIB
    assert [(one.name, one.gpu, one.bytes) for one in ledger] == [
        ("weights", None, 15 * GIB),
        ("not-ours", None, 4 * GIB),
        ("free", None, 5 * GIB),
    ]


def test_different_cards_have_one_ledger_each() -> None:
    """What fits the larger one may not fit the smaller one."""
    cards = (card(0), card(1, name="RTX 3060", total=16 * GIB, free=16 * GIB))

    ledger, left = card_ledger.on_cards(Ground(host=host(*cards)), cards, (WEIGHTS,), 15 * GIB)

    assert {one.gpu for one in ledger} == {0, 1}
    assert left == GIB


def test_the_ledger_adds_up_to_the_whole_card() -> None:
    """A bar that does not fill the card is a drawing of something else."""
    one = card(0)

    ledger, _ = card_ledger.on_cards(Ground(host=host(one)), (one,), (WEIGHTS,), 15 * GIB)

    assert sum(item.bytes or 0 for item in ledger) == one.total_bytes


def test_what_the_driver_keeps_is_nobody_s() -> None:
    """CUDA's total is less than the card's: 616 MiB on an H200."""
    one = card(0, free=None, reserved_bytes=600 * MIB)

    assert card_ledger.room_of(Ground(host=host(one)), one) == 24 * GIB - 600 * MIB


def test_an_engine_asks_for_its_share_before_it_looks_at_pinned_bytes() -> None:
    """The start is refused although the pinned pool would fit: seen at 22.45 of 23.99 GiB."""
    ground = Ground(host=host(card(free=22 * GIB)))

    found = lacks(ground, {"gpu_memory_utilization": 0.95, "kv_cache_memory_bytes": GIB}, 10 * GIB)

    assert [one.lack for one in found] == [Lack.FREE]
    assert "its share of 95 % is 22.80 GiB" in found[0].sentence
    assert lacks(ground, {"gpu_memory_utilization": 0.9}, 10 * GIB) == []


def test_who_holds_the_memory_is_named() -> None:
    """The person has to end somebody; this says whom."""
    busy = card(free=8 * GIB, processes=(GpuProcess(pid=42, name="python", bytes=15 * GIB),))

    found = lacks(Ground(host=host(busy)), {"gpu_memory_utilization": 0.3}, 10 * GIB)

    assert [one.lack for one in found] == [Lack.CARD]
    assert "`python` (pid 42) 15.00 GiB hold the rest" in found[0].sentence


def test_too_much_within_the_error_bar_is_not_certain() -> None:
    """A forecast that may be wrong by so much must not refuse."""
    ground = Ground(host=host(card(free=22 * GIB)))

    (sure,) = lacks(ground, {"gpu_memory_utilization": 0.5}, 23 * GIB, error=GIB // 2)
    (unsure,) = lacks(ground, {"gpu_memory_utilization": 0.5}, 23 * GIB, error=2 * GIB)

    assert sure.is_certain
    assert not unsure.is_certain


def test_under_windows_the_measured_line_counts() -> None:
    """There nothing dies: bytes move, and everything is slow without a word."""
    ground = Ground(
        host=host(card(free=23 * GIB, processes=None), is_wsl=True), lines={"GPU-0": 22 * GIB}
    )

    (found,) = lacks(ground, {"gpu_memory_utilization": 0.5}, 23 * GIB + 1, error=GIB)
    (near,) = lacks(ground, {"gpu_memory_utilization": 0.5}, 22 * GIB + 1, error=GIB)

    assert found.lack is Lack.LINE
    assert found.is_certain
    assert "above 22.00 GiB Windows moves bytes" in found.sentence
    assert not near.is_certain  # a stock boot sits 50 MiB below the line, and runs


def test_without_a_measurement_the_free_memory_is_the_line() -> None:
    """Windows reports less than the card has: 22.75 of 24.0 GiB on a clean 4090."""
    windows = host(card(free=22 * GIB, processes=None), is_wsl=True)

    assert card_ledger.line_of(windows.gpus[0], Ground(host=windows)) == 22 * GIB


def test_the_line_may_be_crossed_once_when_that_was_asked_for() -> None:
    """`--allow-spill`: said, not refused."""
    ground = Ground(host=host(card(free=22 * GIB), is_wsl=True), allow_spill=True)

    (found,) = lacks(ground, {"gpu_memory_utilization": 0.5}, 23 * GIB)

    assert not found.is_certain


def test_native_windows_drivers_spill_too() -> None:
    """WDDM is what moves the bytes, with WSL or without."""
    one = card(free=22 * GIB, is_wddm=True)

    assert card_ledger.line_of(one, Ground(host=host(one))) == 22 * GIB
    assert card_ledger.line_of(card(), Ground(host=host(card()))) is None


def test_what_is_not_known_is_not_missing() -> None:
    """No figure, no refusal."""
    ground = Ground(host=host(card(free=None, total_bytes=None)))

    assert lacks(ground, {}, 99 * GIB) == []
    assert lacks(Ground(host=host(card())), {"gpu_memory_utilization": "high"}, None) == []
