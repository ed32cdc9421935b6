"""What chat clients are pointed at, taken from the parts of a Studio."""

import asyncio
import contextlib
from collections.abc import Callable

from studio.app.clients import Clients, Model, Surroundings
from studio.app.gateway import Door
from studio.app.keys import Keys
from studio.app.settings import SettingsFile
from studio.domain.errors import NotFound, StudioError
from studio.domain.manifests import Preset
from studio.domain.server import EngineSnapshot
from studio.host.paths import Paths, bundled_root
from studio.presets.store import PresetStore

_CONTEXT = "max_model_len"


def made(
    paths: Paths,
    *,
    keys: Keys,
    door: Door,
    presets: PresetStore,
    settings: SettingsFile,
    engine: Callable[[], EngineSnapshot],
) -> Clients:
    """Return the clients of one home; a catalogue without any has the bundled ones."""
    folder = paths.catalogue / "presets" / "clients"

    def model(name: str | None) -> Model:
        return model_of(name, engine(), presets, settings.now.preset)

    async def base_url() -> str:
        return (await door.report()).urls[0]

    async def certificate() -> str | None:
        return await asyncio.to_thread(door.certificate)

    return Clients(
        folder if folder.is_dir() else bundled_root() / "presets" / "clients",
        paths.home / "clients",
        lambda: keys,
        Surroundings(base_url=base_url, model=model, certificate=certificate),
    )


def model_of(
    name: str | None, engine: EngineSnapshot, presets: PresetStore, last: str | None
) -> Model:
    """Return the model that a preset or a served name means; of None what runs or ran last.

    Raises: NotFound (`client-model-unknown`, `preset-unknown`).
    """
    if engine.served_name is not None and name in (None, engine.served_name, engine.preset):
        return Model(name=engine.served_name, context=engine.max_model_len)
    if name is None and last is None:
        raise NotFound(
            "client-model-unknown",
            "Nothing has been served yet, so it is not known which model the client should ask"
            " for.",
            hint="Start one with `weir up`, or name a preset: `--model PRESET`.",
        )
    wanted = name if name is not None else last
    assert wanted is not None
    for preset in _all(presets):
        if preset.served_name == wanted:
            return Model(name=preset.served_name, context=_context(preset))
    preset = presets.get(wanted)
    return Model(name=preset.served_name, context=_context(preset))


def _all(presets: PresetStore) -> list[Preset]:
    found = []
    for preset_id in presets.ids():
        with contextlib.suppress(StudioError):
            found.append(presets.get(preset_id))
    return found


def _context(preset: Preset) -> int | None:
    """Return the context that a preset asks for, where it says one."""
    knob = preset.knobs.get(_CONTEXT)
    with contextlib.suppress(TypeError, ValueError):
        return int(str(knob.default)) if knob is not None else None
    return None
