"""Pins of pools: made from a boot, kept, and taken back."""

from pathlib import Path

import pytest

from studio.app.boot_history import BootHistoryFile
from studio.app.pins import Pins
from studio.app.settings import SettingsFile
from studio.domain.boots import BootOutcome, BootRecord
from studio.domain.errors import BadInput, NotFound
from studio.domain.units import GIB
from studio.host.paths import Paths, bundled_root
from studio.presets.store import PresetStore
from tests.serving.boot_samples import record

MTP = "27b-mtp"


def boot(**changes: object) -> BootRecord:
    """Return a warm boot on a card that left its pool to the engine."""
    fields: dict[str, object] = {
        "preset": MTP, "cards": "GPU-1", "kv_bytes": 5 * GIB, "settings": {}, "pool_tokens": 84_811,
    }  # fmt: skip
    return record(**{**fields, **changes})


async def made(tmp_path: Path, *boots: BootRecord) -> tuple[Pins, SettingsFile]:
    """Return pins in a home where these boots were seen."""
    history = BootHistoryFile(tmp_path / "boots.json")
    for one in boots:
        await history.add(one)
    paths = Paths(home=tmp_path, catalogue=bundled_root())
    settings = SettingsFile(paths.settings_file)
    return Pins(settings, PresetStore(paths), history), settings


async def test_the_last_warm_boots_pool_is_kept_and_can_be_taken_back(tmp_path: Path) -> None:
    """What it means is said both times, and it outlives the service."""
    pins, settings = await made(
        tmp_path,
        boot(kv_bytes=4 * GIB),
        boot(),
        boot(kv_bytes=3 * GIB, is_cold=True),
        boot(kv_bytes=2 * GIB, settings={"kv_cache_memory_bytes": 2 * GIB}),
        boot(outcome=BootOutcome.FAILED, kv_bytes=GIB),
    )

    pinned = await pins.pin(MTP)

    assert (pinned.kv_cache_memory_bytes, pinned.pool_tokens) == (5 * GIB, 84_811)
    assert "84,811 tokens" in pinned.note
    assert "weir presets unpin 27b-mtp" in pinned.note
    kept = SettingsFile(tmp_path / "settings.json").now.pins[MTP]
    assert (kept.bytes, kept.runtime_id, kept.cards) == (5 * GIB, "r1", "GPU-1")

    freed = await pins.unpin(MTP)
    assert (freed.kv_cache_memory_bytes, freed.was_bytes) == (None, 5 * GIB)
    assert settings.now.pins == {}
    again = await pins.unpin(MTP)
    assert again.was_bytes is None
    assert "No pool" in again.note


@pytest.mark.parametrize(
    ("preset", "code"),
    [(MTP, "nothing-to-pin"), ("cpu-demo", "nothing-to-pin")],
)
async def test_without_such_a_boot_there_is_nothing_to_pin(
    tmp_path: Path, preset: str, code: str
) -> None:
    """The hint says what to do first."""
    pins, settings = await made(tmp_path, boot(is_cold=True))

    with pytest.raises(BadInput) as caught:
        await pins.pin(preset)

    assert caught.value.code == code
    assert f"weir up {preset}" in (caught.value.hint or "")
    assert settings.now.pins == {}


async def test_an_unknown_preset_is_said(tmp_path: Path) -> None:
    """Both ways."""
    pins, _settings = await made(tmp_path)

    for call in (pins.pin, pins.unpin):
        with pytest.raises(NotFound):
            await call("27b-mpt")
