"""Each card: what it is for, who holds it, what slows it down."""

import pytest

from studio.domain.doctor import Level
from studio.domain.hardware import Adapter, GpuProcess, MigDevice
from tests.doctor.cases import (
    CU13,
    GIB,
    MIB,
    SM70,
    all_said,
    card,
    host,
    said,
    with_card,
)


@pytest.mark.parametrize(
    ("capability", "level", "names"),
    [
        ("8.6", Level.GOOD, CU13),
        ("12.0", Level.GOOD, CU13),
        ("7.0", Level.GOOD, SM70),
        ("6.1", Level.STOPS, ()),
        ("7.5", Level.STOPS, ()),
        ("12.1", Level.STOPS, ()),
        (None, Level.UNKNOWN, ()),
        ("x.y", Level.UNKNOWN, ()),
    ],
)
def test_a_card_is_told_what_it_is_for(
    capability: str | None, level: Level, names: tuple[str, ...]
) -> None:
    """By capability and never by name: one name is sold with two chips."""
    check = said(with_card(compute_capability=capability), "card-capability")

    assert check.level is level
    assert check.gpu == 0
    assert all(name in check.found for name in names)
    if level is Level.STOPS:
        assert set(check.stops) == {*CU13, *SM70}


def test_a_useless_card_beside_a_good_one_stops_nothing() -> None:
    """An old card that only draws is common."""
    old = card(index=1, name="NVIDIA GeForce GTX 1060", compute_capability="6.1")
    pair = host(gpus=(card(), old))

    good, bad = all_said(pair, "card-capability")

    assert good.level is Level.GOOD
    assert bad.level is Level.LOOK
    assert "left out" in bad.found


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"mig_enabled": True, "mig_devices": (MigDevice(),)}, "card-mig", "-i 0 -mig 0"),
        ({"compute_mode": "prohibited"}, "card-mode", "-i 0 -c 0"),
        ({"faults": ("GPU is lost",), "total_bytes": None, "free_bytes": None}, "card-fault",
         "Xid"),
    ],
)  # fmt: skip
def test_a_card_that_cannot_be_given_away_stops(
    changes: dict[str, object], code: str, words: str
) -> None:
    """The engine would fail minutes later with a message about something else."""
    check = said(with_card(**changes), code)

    assert check.level is Level.STOPS
    assert words in (check.advice or "")
    assert check.stops


def test_a_broken_sensor_is_no_lost_card() -> None:
    """It still serves."""
    check = said(with_card(faults=("Unknown Error",)), "card-fault")

    assert check.level is Level.LOOK
    assert check.stops == ()


def test_memory_held_by_others_is_named_with_its_holders() -> None:
    """`Not enough memory` alone does not say what to end."""
    holders = (
        GpuProcess(pid=4242, name="python", bytes=3 * GIB),
        GpuProcess(pid=812, name="Xorg", bytes=300 * MIB, is_graphics=True),
        GpuProcess(pid=99, bytes=None),
    )

    check = said(with_card(free_bytes=20 * GIB, processes=holders), "card-memory-held")

    assert check.level is Level.LOOK
    assert "python (process 4242) 3.00 GiB" in check.found
    assert "Xorg (process 812) 300.0 MiB" in check.found
    assert "a program of somebody else (process 99)" in check.found


def test_many_holders_are_not_all_listed() -> None:
    """A build server has hundreds."""
    holders = tuple(GpuProcess(pid=n, name=f"p{n}", bytes=100 * MIB) for n in range(30))

    found = said(with_card(free_bytes=10 * GIB, processes=holders), "card-memory-held").found

    assert "25 more" in found


def test_our_own_engine_is_no_stranger() -> None:
    """While it serves it holds nearly all, as it should."""
    ours = (GpuProcess(pid=7, name="VLLM::EngineCore", bytes=22 * GIB),)

    check = said(with_card(free_bytes=GIB, processes=ours), "card-memory", own_pids={7})

    assert check.level is Level.GOOD
    assert "Studio's own engine" in check.found


def test_somebody_beside_our_engine_is_named() -> None:
    """Two servers on one card."""
    both = (
        GpuProcess(pid=7, name="VLLM::EngineCore", bytes=18 * GIB),
        GpuProcess(pid=8, name="ollama", bytes=4 * GIB),
    )

    check = said(with_card(free_bytes=GIB, processes=both), "card-memory-held", own_pids={7})

    assert "ollama" in check.found
    assert "EngineCore" not in check.found


def test_memory_that_nobody_admits_to_is_told_too() -> None:
    """Another container's processes are not listed."""
    check = said(with_card(free_bytes=12 * GIB, processes=()), "card-memory-held")

    assert "does not name" in check.found


@pytest.mark.parametrize(
    ("free", "code"), [(22.75, "card-memory"), (22.45, "card-memory"), (20.0, "card-memory-held")]
)
def test_what_windows_keeps_of_a_clean_card_is_no_finding(free: float, code: str) -> None:
    """22.75 of 23.99 GiB is a clean card under WSL2; no process is ever listed there."""
    wsl = host("rtx4090-wsl2")
    changed = card("rtx4090-wsl2", free_bytes=int(free * GIB))

    check = said(host("rtx4090-wsl2", gpus=(changed,)), code)

    assert wsl.gpus[0].is_wddm is True
    assert "Windows" in check.found


def test_unknown_memory_is_unknown() -> None:
    """Never `0 B of 0 B`."""
    assert said(with_card(free_bytes=None), "card-memory").level is Level.UNKNOWN
    assert said(with_card(total_bytes=None), "card-memory").level is Level.UNKNOWN


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"display_active": True}, "card-display"),
        ({"throttle_reasons": ("hw-thermal-slowdown",), "temperature_c": 93}, "card-throttle"),
        ({"throttle_reasons": ("hw-power-brake",)}, "card-throttle"),
        ({"power_limit_w": 150.0}, "card-power"),
        ({"pcie_width": 4}, "card-slot"),
        ({"compute_mode": "exclusive-process"}, "card-mode"),
    ],
)
def test_what_costs_speed_or_room_is_worth_a_look(changes: dict[str, object], code: str) -> None:
    """And stops nothing."""
    check = said(with_card(**changes), code)

    assert check.level is Level.LOOK
    assert check.advice
    assert check.stops == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"throttle_reasons": ("sw-power-cap",)},
        {"power_limit_w": 250.0},
        {"pcie_generation": 1},
        {"display_active": None},
        {"throttle_reasons": None, "power_limit_w": None, "pcie_width": None},
    ],
)
def test_what_is_usual_or_unknown_is_no_finding(changes: dict[str, object]) -> None:
    """A card at rest lowers its link, and many limit its power on purpose."""
    from studio.doctor import report
    from tests.doctor.cases import RECIPES

    levels = {check.level for check in report.checks(with_card(**changes), RECIPES)}

    assert levels <= {Level.GOOD}


def test_two_kinds_of_card_are_told() -> None:
    """Presets for several cards want alike ones."""
    other = card("rtx4090-linux", index=1)

    check = said(host(gpus=(card(), other)), "cards-alike")

    assert "RTX 3090" in check.found
    assert "--gpus" in (check.advice or "")
    assert all_said(host("rtx3090x2-linux"), "cards-alike") == []


def test_integrated_graphics_are_named_and_not_counted() -> None:
    """People wonder where its gigabytes went."""
    chip = Adapter(name="Intel display adapter a780", vendor="intel", is_integrated=True)

    check = said(host(adapters=(chip,)), "adapters")

    assert check.level is Level.GOOD
    assert "not counted" in check.found
