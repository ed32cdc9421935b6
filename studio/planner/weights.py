"""What a model's weights take on the card, from the headers of its safetensors files."""

from collections.abc import Mapping

import msgspec


class WeightSum(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of a checkpoint, by part."""

    parts: dict[str, int]
    """`body`, `lm_head`, `embedding`, `vision`, `mtp`, `drafter`: bytes as stored."""
    total: int
    is_measured: bool
    """False: only the index's total was there, and parts are not known."""


def weights(headers: Mapping[str, Mapping[str, object]]) -> WeightSum:
    """Return the bytes that `headers` (file name to safetensors header) describe."""
    raise NotImplementedError
