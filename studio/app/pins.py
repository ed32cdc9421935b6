"""Pools that the person pinned: bytes for a preset's KV cache, as a boot here had them.

Kept in `settings.json`, so that the preset's own file stays what it is and an update reaches it. A
pin is of one runtime and one set of cards: elsewhere the same bytes may not fit.
"""

import asyncio

from studio.app.boot_history import BootHistoryFile
from studio.app.boot_offers import pinned_bytes
from studio.app.pin_overrides import PINNED
from studio.app.settings import Pin, SettingsFile
from studio.domain.boots import BootOutcome, BootRecord, PinResult
from studio.domain.errors import BadInput
from studio.domain.manifests import Preset
from studio.domain.units import bytes_text, tokens_text
from studio.presets.store import PresetStore


class Pins:
    """Makes pins and frees them."""

    def __init__(
        self, settings: SettingsFile, presets: PresetStore, history: BootHistoryFile
    ) -> None:
        self._settings = settings
        self._presets = presets
        self._history = history

    async def pin(self, preset_id: str) -> PinResult:
        """Keep the pool of the preset's last warm boot.

        Raises: NotFound (`preset-unknown`), BadInput (`pool-not-pinnable`, `nothing-to-pin`),
        HostLacks (`not-writable`, `disk-full`).
        """
        preset = self._presets.get(preset_id)
        if PINNED not in preset.knobs:
            raise BadInput(
                "pool-not-pinnable",
                f"The preset `{preset_id}` has no knob `{PINNED}`.",
                hint=f"A copy of your own can have one: `weir presets copy {preset_id} NAME`.",
            )
        known = await asyncio.to_thread(self._history.read)
        boot = next((one for one in reversed(known.boots) if _can_pin(one, preset_id)), None)
        amount = pinned_bytes(boot) if boot is not None else None
        if boot is None or amount is None:
            raise _nothing(preset)
        was = self._settings.now.pins.get(preset_id)
        pin = Pin(
            bytes=amount, runtime_id=boot.runtime_id, cards=boot.cards, pool_tokens=boot.pool_tokens
        )
        self._settings.change(pins={**self._settings.now.pins, preset_id: pin})
        return PinResult(
            preset=preset_id,
            kv_cache_memory_bytes=amount,
            pool_tokens=boot.pool_tokens,
            was_bytes=was.bytes if was is not None else None,
            note=(
                f"From its next start on `{preset_id}` has {bytes_text(amount)} of KV cache on "
                f"each card, {tokens_text(boot.pool_tokens)}, whatever the card has left. "
                "It no longer grows with a freer card, and a start that does not find these bytes "
                f"is refused. `weir presets unpin {preset_id}` takes it back."
            ),
        )

    async def unpin(self, preset_id: str) -> PinResult:
        """Leave the pool to the engine again; nothing pinned is no error.

        Raises: NotFound (`preset-unknown`), HostLacks (`not-writable`, `disk-full`).
        """
        self._presets.get(preset_id)
        pins = dict(self._settings.now.pins)
        was = pins.pop(preset_id, None)
        self._settings.change(pins=pins)
        if was is None:
            note = f"No pool of `{preset_id}` was pinned by `weir presets pin`."
        else:
            note = (
                f"From its next start on the pool of `{preset_id}` is again what the engine finds "
                "left on the card."
            )
        return PinResult(
            preset=preset_id, was_bytes=was.bytes if was is not None else None, note=note
        )


def _can_pin(boot: BootRecord, preset_id: str) -> bool:
    return (
        boot.preset == preset_id
        and boot.outcome is BootOutcome.SERVED
        and boot.is_cold is False
        and boot.kv_bytes is not None
        and PINNED not in boot.settings
    )


def _nothing(preset: Preset) -> BadInput:
    if preset.knobs[PINNED].default is not None:
        message = f"The preset `{preset.id}` says itself how large its pool is."
        hint = f"Change it with `weir up {preset.id} --set {PINNED}=BYTES`."
    else:
        message = f"`{preset.id}` has not had a warm boot here that left the pool to the engine."
        hint = (
            f"Start it with `weir up {preset.id}`; the second boot is warm, and the pool of a cold "
            "one is smaller than it need be."
        )
    return BadInput("nothing-to-pin", message, hint=hint)
