"""A `config.json` taken apart: nested text models, the many names of one thing, wrong kinds."""

import json
from collections.abc import Mapping, Sequence

from studio.domain.errors import BadInput

_NESTED = ("text_config", "llm_config", "language_config", "thinker_config")
_STATED = "num_hidden_layers"


class Config:
    """Typed reading of one mapping; a value of another kind is refused, an absent one is None."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self.values = values

    def whole(self, *names: str) -> int | None:
        """Return the first whole number among `names`."""
        for name in names:
            value = self.values.get(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise BadInput(
                    "config-invalid",
                    f"`config.json`: `{name}` should be a whole number, found `{value}`.",
                    hint="The file is damaged or was edited; fetch the model again.",
                )
            return value
        return None

    def text(self, *names: str) -> str | None:
        """Return the first text among `names`."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, str):
                return value
        return None

    def flag(self, name: str) -> bool | None:
        """Return a true or false value."""
        value = self.values.get(name)
        return value if isinstance(value, bool) else None

    def texts(self, *names: str) -> tuple[str, ...] | None:
        """Return the first list of words among `names`."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, Sequence) and not isinstance(value, str | bytes):
                return tuple(str(item) for item in value)
        return None

    def inner(self, *names: str) -> "Config | None":
        """Return the first nested object among `names`."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, Mapping):
                return Config(value)
        return None


def overridden(config: Mapping[str, object], overrides: object) -> dict[str, object]:
    """Return `config` as the engine's `hf_overrides` change it.

    A configuration within is changed key by key, any other object is replaced as a whole.
    Source: vLLM, `config/model.py`, _apply_dict_overrides.
    Raises: BadInput (`knob-value`), if the overrides are no object.
    """
    if isinstance(overrides, str):
        try:
            overrides = json.loads(overrides)
        except ValueError:
            overrides = overrides or None
    if overrides is None:
        return dict(config)
    if not isinstance(overrides, Mapping):
        raise BadInput(
            "knob-value",
            f"`hf_overrides` should be a JSON object, found `{overrides}`.",
            hint="For example `--set hf_overrides='{\"max_position_embeddings\": 65536}'`.",
        )
    changed = dict(config)
    for key, value in overrides.items():
        inner = changed.get(key)
        is_config = key.endswith("_config") and isinstance(inner, Mapping)
        changed[key] = (
            overridden(inner, value) if is_config and isinstance(inner, Mapping) else value
        )
    return changed


def text_config(config: Config) -> Config:
    """Return the part of `config` that describes the language model; itself if nothing is nested.

    What the nested part leaves open (the type of its numbers, quantisation) is the whole's.
    """
    found = config
    for _ in _NESTED:
        inner = found.inner(*_NESTED)
        # An outer model that states its layers itself is not a wrapper.
        if inner is None or (_STATED in found.values and _STATED not in inner.values):
            break
        found = Config({**_shared(found), **inner.values})
    return found


def _shared(config: Config) -> dict[str, object]:
    names = ("torch_dtype", "dtype", "quantization_config", "model_type", "architectures")
    return {name: config.values[name] for name in names if name in config.values}
