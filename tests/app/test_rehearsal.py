"""A start is planned before it happens, and teaches the next plan."""

from pathlib import Path

import pytest

from studio.app.line_speed import LineSpeed
from studio.app.plans import Plans
from studio.app.rehearsal import Rehearsal
from studio.app.up import Choice, decide
from studio.domain.control import UpRequest, UpResult
from studio.domain.errors import HostLacks
from studio.domain.hardware import HostSnapshot
from studio.domain.plans import PlanRequest
from studio.domain.units import GIB
from studio.host.paths import Paths, bundled_root
from studio.presets.store import PresetStore
from studio.runtimes.catalog import Catalog
from tests.app.test_plans import planner
from tests.planner.plan_samples import card, host

WINDOWS = host(card(name="NVIDIA GeForce RTX 4090", free=23 * GIB, processes=None), is_wsl=True)


def choice(tmp_path: Path, machine: HostSnapshot, preset: str, **overrides: str) -> Choice:
    """Return what `weir up` would start."""
    paths = Paths(home=tmp_path, catalogue=bundled_root())
    return decide(Catalog(paths), PresetStore(paths).get(preset), machine, None, overrides)


def served(boot_s: float) -> UpResult:
    """Return what a start ends with."""
    return UpResult(
        base_url="http://127.0.0.1/v1",
        preset="cpu-demo",
        served_name="x",
        runtime="cpu-vllm-0.32.0",
        runtime_id="r1",
        boot_s=boot_s,
    )


async def test_a_start_that_would_spill_is_refused_but_once_when_insisted(tmp_path: Path) -> None:
    """The override is of one run: nothing of it is kept."""
    rehearsal = Rehearsal(planner(tmp_path, WINDOWS), dict, LineSpeed())
    large = choice(tmp_path, WINDOWS, "27b-dflash2", kv_cache_memory_bytes="6G")

    with pytest.raises(HostLacks) as caught:
        await rehearsal.before(large, UpRequest())
    await rehearsal.before(large, UpRequest(allow_spill=True))

    assert caught.value.code == "plan-spills"
    assert "kv_cache_memory_bytes=" in str(caught.value.data["settings"])
    with pytest.raises(HostLacks):
        await rehearsal.before(large, UpRequest())


async def test_what_fits_starts(tmp_path: Path) -> None:
    """The demo on a machine without cards."""
    rehearsal = Rehearsal(planner(tmp_path), dict, LineSpeed())

    await rehearsal.before(choice(tmp_path, host(), "cpu-demo"), UpRequest())


async def test_a_boot_is_kept_with_its_settings(tmp_path: Path) -> None:
    """The first is the cold one; the plan then speaks of this machine."""
    plans: Plans = planner(tmp_path)
    rehearsal = Rehearsal(plans, lambda: {"kv_bytes": GIB, "pool_tokens": 23_296}, LineSpeed())
    demo = choice(tmp_path, host(), "cpu-demo")

    await rehearsal.after(demo, served(53.0))
    await rehearsal.after(demo, served(31.0))

    boots = plans.seen.known().boots
    assert [(one.is_cold, one.boot_s, one.pool_tokens) for one in boots] == [
        (True, 53.0, 23_296),
        (False, 31.0, 23_296),
    ]
    assert boots[0].settings["kv_cache_memory_bytes"] == GIB
    assert (await plans.plan(PlanRequest(preset="cpu-demo"))).pool_tokens == 23_296
