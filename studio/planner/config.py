"""A `config.json` taken apart: nested text models, the many names of one thing, wrong kinds."""

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
