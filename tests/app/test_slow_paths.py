"""What the machine and the monitor know of slowness, and the badges of a running engine."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from studio.app.slow_paths import SlowPaths, host_signs
from studio.domain.control import UpRequest
from studio.domain.events import EngineChanged
from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.metrics import Tick
from studio.domain.spill import SpillFlow, SpillKind
from studio.domain.units import GIB, MIB
from studio.host.paths import Paths
from studio.presets.store import PresetStore
from studio.serving.command import Launch
from tests.app.running import fake_paths, running
from tests.fakes.recordings import ENGINE

ROOT = Path(__file__).resolve().parents[2]
REFERENCES = {"RTX 3090": 250.0}
CARD = Gpu(
    index=1,
    name="NVIDIA GeForce RTX 3090",
    power_limit_w=350.0,
    power_default_w=350.0,
    pcie_width=16,
    pcie_width_max=16,
)
EAGER_LOG = ENGINE / "boot" / "smollm2-f32-eager.log"
COMPILED_LOG = ENGINE / "boot" / "smollm2-bf16-compile-cold.log"


def launch(cards: str = "1", argv: tuple[str, ...] = ()) -> Launch:
    """Return an engine on `cards`."""
    return Launch(
        argv=argv,
        environment={"CUDA_VISIBLE_DEVICES": cards} if cards else {},
        preset="gone",
        served_name="m",
        runtime="some-runtime",
        runtime_id="0",
        knobs={"enforce_eager": True},
        overrides={},
        python="python",
        socket="s",
        ready_within_s=1.0,
        drain_s=1.0,
    )


def host(*cards: Gpu, shm_bytes: int = 16 * GIB) -> HostSnapshot:
    """Return a machine with `cards`."""
    return HostSnapshot(
        system="linux", machine="x86_64", os_name="Linux", gpus=cards, shm_bytes=shm_bytes
    )


def signs(machine: HostSnapshot, engine: Launch) -> dict[str, dict[str, str]]:
    """Return the signs by name."""
    return dict(host_signs(machine, engine, REFERENCES))


def slow_paths(tmp_path: Path) -> SlowPaths:
    """Return the real signs over presets that nobody made."""
    store = PresetStore(Paths(home=tmp_path, catalogue=ROOT))
    return SlowPaths(ROOT / "runtimes" / "slow_paths.toml", store)


def test_a_card_as_it_should_be_says_nothing() -> None:
    """The rule."""
    assert signs(host(CARD), launch()) == {}


@pytest.mark.parametrize(
    ("limit_w", "name", "said"),
    [
        (200.0, "NVIDIA GeForce RTX 3090", {"limit_w": "200", "reference_w": "250"}),
        (250.0, "NVIDIA GeForce RTX 3090", None),
        (200.0, "NVIDIA GeForce RTX 5090", {"limit_w": "200", "default_w": "350"}),
        (210.0, "NVIDIA GeForce RTX 5090", None),
        (None, "NVIDIA GeForce RTX 3090", None),
    ],
)
def test_power_is_measured_against_the_reference(
    limit_w: float | None, name: str, said: dict[str, str] | None
) -> None:
    """A 3090 at 250 W is what the figures were taken with, and loses nothing."""
    card = msgspec.structs.replace(CARD, name=name, power_limit_w=limit_w)

    found = signs(host(card), launch()).get("power-limited")

    assert found == (None if said is None else {"card": name, "index": "1", **said})


def test_of_several_cards_the_worst_is_named_and_unused_ones_are_not() -> None:
    """A card that the engine is not given does not slow it."""
    weak = msgspec.structs.replace(CARD, index=0, power_limit_w=240.0)
    weaker = msgspec.structs.replace(CARD, index=2, power_limit_w=150.0, pcie_width=4)
    machine = host(weak, CARD, weaker)

    assert signs(machine, launch("0,1"))["power-limited"]["index"] == "0"
    both = signs(machine, launch("0, 2"))
    assert both["power-limited"]["index"] == "2"
    assert both["link-narrow"] == {
        "card": CARD.name, "width": "4", "most": "16", "times": "4",
    }  # fmt: skip
    assert signs(machine, launch("")) == {}


def test_little_shared_memory_counts_where_it_is_used() -> None:
    """One card without a tier needs none; Docker's 64 MB stop two, or the tier."""
    small = host(CARD, msgspec.structs.replace(CARD, index=2), shm_bytes=64 * MIB)

    assert signs(small, launch("1")) == {}
    assert signs(small, launch("1,2")) == {"shared-memory-low": {"size": "64.0 MiB"}}
    tier = launch("1", ("vllm", "--kv-offloading-size=8"))
    assert "shared-memory-low" in signs(small, tier)


def test_every_sign_of_the_machine_is_one_that_is_told(tmp_path: Path) -> None:
    """A name that the file does not have would end the boot."""
    card = msgspec.structs.replace(CARD, power_limit_w=100.0, pcie_width=1)
    paths = slow_paths(tmp_path)
    paths.look_at(lambda: host(card, msgspec.structs.replace(card, index=2), shm_bytes=1))

    watch = paths.begin(launch("1,2"))

    assert [one.code for one in watch.badges] == [
        "shared-memory-low", "link-narrow", "power-limited",
    ]  # fmt: skip


def swapped(amount: int) -> Tick:
    """Return a second with so much in swap, beside a spill that is none."""
    other = SpillFlow(kind=SpillKind.WDDM_SHARED, bytes=1 << 40)
    return Tick(at=0.0, spill=(other, SpillFlow(kind=SpillKind.SWAP, bytes=amount)))


def test_what_the_monitor_counts_is_told_when_it_doubles(tmp_path: Path) -> None:
    """Each change wakes every client; a count that grows by one must not."""
    paths = slow_paths(tmp_path)
    assert not paths.hear(Tick(at=0.0, preemptions=3))
    watch = paths.begin(launch())

    heard = [paths.hear(Tick(at=0.0, preemptions=count)) for count in (0, 1, 1, 2, 3, 4, 5)]

    assert heard == [False, True, False, True, False, True, False]
    assert "(4 so far)" in watch.badges[0].cost
    assert not paths.hear(swapped(MIB))
    assert paths.hear(swapped(300 * MIB))
    assert watch.badges[0].cost.startswith("300.0 MiB of the engine lie in swap")


def test_a_preset_that_was_taken_away_still_has_its_knobs(tmp_path: Path) -> None:
    """What runs was started with them."""
    watch = slow_paths(tmp_path).begin(launch())
    watch.offer("WARNING 11-29 13:41:35 [v.py:1] Enforce eager set, disabling torch.compile")

    assert watch.badges[0].remedies[0].settings == {"enforce_eager": "false"}


async def test_badges_come_with_the_boot_and_go_with_the_next(tmp_path: Path) -> None:
    """They stand in status, in the result of `up` and in the events, and never outlive a boot."""
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        recipe = next((paths.catalogue / "runtimes").glob("*/runtime.toml"))
        published = recipe.read_text(encoding="utf-8")
        recipe.write_text(f'{published}FAKE_VLLM_BOOT_LOG = "{EAGER_LOG}"\n', encoding="utf-8")
        async with asyncio.timeout(60), running(paths) as made:
            first = await made.studio.up(UpRequest())
            status = made.studio.status()
            await made.studio.stop()
            stopped = made.studio.status().engine.badges
            compiled = f'{published}FAKE_VLLM_BOOT_LOG = "{COMPILED_LOG}"\n'
            recipe.write_text(compiled, encoding="utf-8")
            second = await made.studio.up(UpRequest())

            announced = [event.engine.badges for event in made.of(EngineChanged)]

    assert "weights-widened" in [one.code for one in first.badges]
    assert "eager-mode" not in [one.code for one in first.badges]  # on a processor it costs nothing
    assert status.engine.badges == first.badges
    assert first.badges in announced
    assert stopped == ()
    assert "weights-widened" not in [one.code for one in second.badges]
