"""Which cards a plan uses, and what is wrong with them."""

import pytest

from studio.domain.hardware import GpuLink, GpuProcess, LinkKind, MigDevice
from studio.domain.units import GIB
from studio.planner import cards
from studio.planner.cards import CardNeeds
from studio.planner.outcome import Lack
from tests.planner.plan_samples import HYBRID, LLAMA, card, host

ONE = CardNeeds(count=1)
TWO = CardNeeds(count=2)


def _numbers(found: cards.Chosen) -> list[int]:
    return [one.index for one in found.cards]


def test_the_freest_card_without_a_display_is_taken() -> None:
    """A desktop grows while the engine runs."""
    machine = host(
        card(0, display_active=True, free=23 * GIB), card(1, free=12 * GIB), card(2, free=20 * GIB)
    )

    assert _numbers(cards.choose(machine, ONE)) == [2]


def test_equal_cards_go_together() -> None:
    """Two different cards make the larger one wait for the smaller one."""
    machine = host(
        card(0, name="RTX 4090"), card(1, name="RTX 3060", total=12 * GIB), card(2, name="RTX 4090")
    )

    assert _numbers(cards.choose(machine, TWO)) == [0, 2]


def test_two_different_cards_are_used_when_there_are_no_others_and_that_is_said() -> None:
    """They work; the person has to know what decides."""
    machine = host(card(0, name="RTX 4090"), card(1, name="RTX 3060", total=12 * GIB))

    found = cards.choose(machine, TWO)

    assert _numbers(found) == [0, 1]
    assert any("The cards differ (RTX 4090, RTX 3060)" in one for one in found.warnings)


def test_a_card_that_is_asked_for_and_missing_is_named() -> None:
    """`--gpus 3` on a machine with two."""
    found = cards.choose(host(card(0), card(1)), ONE, [3])

    assert found.cards == ()
    assert "There is no card 3 here; there are: 0 NVIDIA" in found.shortfalls[0].sentence


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (card(0, capability="7.0"), "compute capability 7.0; the runtime needs 8.0 or newer"),
        (card(0, capability="12.1"), "built for 12.0 at most"),
        (card(0, mig_enabled=True, mig_devices=(MigDevice(),)), "split by MIG into 1 slice;"),
        (card(0, compute_mode="prohibited"), "refuses computing programs"),
    ],
)
def test_a_card_that_cannot_compute_is_named_with_the_reason(broken: object, words: str) -> None:
    """Each of these dies minutes later inside the engine, with words that nobody understands."""
    needs = CardNeeds(count=1, min_capability="8.0", max_capability="12.0")

    for wanted in (None, [0]):
        found = cards.choose(host(broken), needs, wanted)
        assert [one.lack for one in found.shortfalls] == [Lack.RULE]
        assert words in found.shortfalls[0].sentence


def test_no_cards_at_all_says_what_the_driver_says() -> None:
    """ "None found" and "the driver does not answer" have different cures."""
    found = cards.choose(host(gpu_note="NVIDIA's driver does not answer: Driver Not Loaded."), ONE)

    assert found.shortfalls[0].sentence == "NVIDIA's driver does not answer: Driver Not Loaded."


def test_an_engine_without_cards_asks_for_none() -> None:
    """cpu-demo runs on the machine with eight of them too."""
    assert cards.choose(host(card(0)), CardNeeds(count=0)) == cards.Chosen()


def test_an_old_driver_is_a_reason_and_a_new_branch_a_warning() -> None:
    """CUDA 13 does not start under 570; the last branch that knows Volta is 580."""
    old = cards.choose(host(card(0), driver="570.86"), CardNeeds(count=1, min_driver="580"))
    new = cards.choose(host(card(0), driver="590.1"), CardNeeds(count=1, newest_driver="580"))

    assert "driver is 570.86; the runtime needs 580" in old.shortfalls[0].sentence
    assert new.shortfalls == ()
    assert "newer than 580" in new.warnings[0]


def test_more_cards_than_needed_are_said_to_be_unused() -> None:
    """`--gpus 0,1` with a preset for one card."""
    found = cards.choose(host(card(0), card(1)), ONE, [1, 0])

    assert _numbers(found) == [1]
    assert "2 cards are named; 1 card used: 1." in found.warnings


def test_cards_without_nvlink_are_said_to_be_slower() -> None:
    """Two cards over PCIe are capacity, not speed."""
    link = GpuLink(first=0, second=1, kind=LinkKind.HOST_BRIDGE)

    found = cards.choose(host(card(0), card(1), gpu_links=(link,)), TWO)

    assert any("over PCIe" in one for one in found.warnings)


def test_who_holds_a_card_is_named_largest_first() -> None:
    """ "Not enough memory" leaves the person with `nvidia-smi`; this tells them whom to end."""
    held = card(
        processes=(
            GpuProcess(pid=1, name="Xorg", bytes=GIB // 4),
            GpuProcess(pid=2, name="python", bytes=9 * GIB),
            GpuProcess(pid=3, bytes=None),
        )
    )

    words = cards.holders(held)

    assert words.startswith("`python` (pid 2) 9.00 GiB, `Xorg` (pid 1) 256.0 MiB")
    assert "(pid 3)" in words


def test_what_our_own_engine_holds_counts_as_free() -> None:
    """It ends before the next one starts; else no switch would ever fit."""
    held = card(free=2 * GIB, processes=(GpuProcess(pid=7, name="VLLM", bytes=20 * GIB),))

    assert cards.free_bytes(held, {7}) == 22 * GIB
    assert cards.free_bytes(held, {8}) == 2 * GIB
    assert cards.free_bytes(held) == 2 * GIB


def test_free_memory_is_unknown_where_the_driver_does_not_say_who_holds_it() -> None:
    """WSL2: refusing a switch because of our own engine would be wrong."""
    assert cards.free_bytes(card(processes=None), {7}) is None
    held = card(processes=(GpuProcess(pid=7, bytes=None),))
    assert cards.free_bytes(held, {7}) is None


@pytest.mark.parametrize(
    ("ranks", "fits"), [(1, True), (2, True), (3, False), (4, True), (8, False)]
)
def test_four_kv_heads_go_over_one_two_or_four_cards(ranks: int, fits: bool) -> None:
    """Three cards are the commonest question of people who have three."""
    lacks, _ = cards.rank_faults(HYBRID, ranks, is_asked_for=True)

    assert (lacks == ()) is fits
    if not fits:
        assert "its 4 KV heads go over 1, 2, 4 cards" in lacks[0].sentence


def test_a_preset_may_copy_kv_heads_and_says_so() -> None:
    """Flash-Next has two KV heads and runs on four cards."""
    lacks, notes = cards.rank_faults(HYBRID, 8, is_asked_for=False)

    assert lacks == ()
    assert "copied to make 8" in notes[0]


def test_query_heads_must_divide_too() -> None:
    """Nine heads do not go over two cards, whatever the KV heads."""
    lacks, _ = cards.rank_faults(LLAMA, 2, is_asked_for=False)

    assert lacks != ()
