"""A model's geometry from its `config.json`: the layers whose caches make up the pool."""

from collections.abc import Mapping

from studio.domain.geometry import ModelGeometry


def geometry(config: Mapping[str, object], *, source: str | None = None) -> ModelGeometry:
    """Return what `config`, the content of a `config.json`, says of the model.

    Raises: BadInput, if it has no layers or contradicts itself.
    """
    raise NotImplementedError
