"""`/v1/models`: what the engine serves, under each of its names, and what requests may start."""

from collections.abc import Mapping, Sequence

import msgspec

from studio.domain.demand import DemandPreset
from studio.gateway.dialects import Refusal, refusal_of
from studio.gateway.engine import EngineTarget
from studio.gateway.key import Key

_MODELS_S = 10.0
_OWNER = "weir-studio"

Entries = list[dict[str, object]]


class _Models(msgspec.Struct):
    data: Entries
    object: str = "list"


async def served(engine: EngineTarget) -> Entries:
    """Return the engine's models, without the places of their files.

    Raises: Refusal, or what asking the engine raises.
    """
    status, _, body = await engine.upstream.fetch(
        "GET", "/v1/models", engine.authorization, timeout_s=_MODELS_S
    )
    try:
        models = msgspec.json.decode(body, type=_Models).data
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise refusal_of(engine.upstream.nonsense("its list of models is none")) from None
    if status != 200:
        raise refusal_of(engine.upstream.nonsense(f"its list of models has status {status}"))
    for model in models:
        if "root" in model:
            model["root"] = model.get("id")
    return models


def startable(presets: Sequence[DemandPreset]) -> Entries:
    """Return an entry for each preset that a request may start, marked as such. Pure."""
    return [
        {
            "id": preset.names[0],
            "object": "model",
            "created": 0,
            "owned_by": _OWNER,
            "root": preset.names[0],
            "parent": None,
            "max_model_len": preset.max_model_len,
            "weir": {"preset": preset.preset, "on_demand": True},
        }
        for preset in presets
        if preset.problem is None and preset.names
    ]


def listed(
    key: Key,
    running: Entries,
    engine: EngineTarget | None,
    more: Entries,
    aliases: Mapping[str, str],
) -> bytes:
    """Return the list that `key` sees: running models, then others, then aliases of both. Pure."""
    models = list(running)
    known = {str(model.get("id")): model for model in models}
    running_preset = engine.preset if engine is not None else None
    for model in more:
        mark = model.get("weir")
        is_running = isinstance(mark, dict) and mark.get("preset") == running_preset
        if str(model["id"]) not in known and not is_running:
            models.append(model)
            known[str(model["id"])] = model
    if engine is not None and engine.preset is not None and engine.served_name in known:
        known.setdefault(engine.preset, known[engine.served_name])
    default = engine.served_name if engine is not None else next(iter(known), "")
    for alias, meant in aliases.items():
        named = known.get(meant or default)
        if named is not None and alias not in known:
            models.append({**named, "id": alias})
    models = [one for one in models if key.gate.allows_model(str(one.get("id")))]
    return msgspec.json.encode(_Models(data=models))


def one(models: bytes, name: str) -> bytes:
    """Return one model of a list. Raises: Refusal (`model-unknown`). Pure."""
    entries = msgspec.json.decode(models, type=_Models).data
    for model in entries:
        if model.get("id") == name:
            return msgspec.json.encode(model)
    names = ", ".join(str(model.get("id")) for model in entries)
    text = f"There is no model {name!r}; served now: {names}."
    raise Refusal(404, "model-unknown", text, param="model")
