"""What a model's weights take on the card, from the headers of its safetensors files. Pure.

Whoever reads files hands the headers over: for each tensor its type, shape and place.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

import msgspec

from studio.domain.errors import Damaged

_METADATA = "__metadata__"
_BITS = {
    "F64": 64, "F32": 32, "F16": 16, "BF16": 16, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8,
    "I64": 64, "I32": 32, "I16": 16, "I8": 8, "U64": 64, "U32": 32, "U16": 16, "U8": 8,
    "BOOL": 8, "F4": 4,
}  # fmt: skip
"""Source: the safetensors format, its list of types."""
_FLOATS = ("F64", "F32", "F16", "BF16")
_KEPT = ("scale", "zero", "bias_correction", "a_log", "dt_bias", "norm.weight")
"""Float tensors that the engine does not cast to the model's type (scales, states' decays)."""
_MODEL_BITS = {"bfloat16": 16, "float16": 16, "half": 16, "float32": 32, "float": 32}
_PARTS = (
    ("mtp", ("mtp.", ".mtp")),
    ("vision", ("visual.", "vision_tower.", "vision_model.", "multi_modal_projector.", "vision.")),
    ("lm_head", ("lm_head.",)),
    ("embedding", ("embed_tokens.", "wte.", "tok_embeddings.", "word_embeddings.")),
)

PARTS = ("body", *(part for part, _ in _PARTS))
"""Parts that the names of tensors tell apart."""


class WeightSum(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of a checkpoint."""

    parts: dict[str, int]
    """`body`, `lm_head`, `embedding`, `vision`, `mtp`: bytes on the card at one card."""
    total: int
    stored: int
    """On the disk."""
    is_measured: bool = True
    """False: only the index's total was there, so that parts are not known."""


def weights(
    headers: Mapping[str, Mapping[str, object]], *, model_dtype: str | None = None
) -> WeightSum:
    """Return the bytes that `headers` (file name to safetensors header) describe.

    With `model_dtype`, plain float tensors count in that type: the engine casts them as it loads.

    Raises: Damaged, if a header is none.
    """
    parts: dict[str, int] = {}
    stored = 0
    seen: set[str] = set()
    for file, header in headers.items():
        for name, kind, elements, size in _tensors(file, header):
            # Older checkpoints repeat a tensor in two shards; it is loaded once.
            if name in seen:
                continue
            seen.add(name)
            stored += size
            part = _part(name)
            parts[part] = parts.get(part, 0) + _on_card(name, kind, elements, size, model_dtype)
    return WeightSum(parts=parts, total=sum(parts.values()), stored=stored)


def indexed(index: Mapping[str, object]) -> WeightSum | None:
    """Return what a `model.safetensors.index.json` says, where no header can be read."""
    metadata = index.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, Mapping) else None
    if isinstance(total, bool) or not isinstance(total, int | float) or total <= 0:
        return None
    size = int(total)
    return WeightSum(parts={"body": size}, total=size, stored=size, is_measured=False)


def _tensors(file: str, header: Mapping[str, object]) -> Iterator[tuple[str, str, int, int]]:
    for name, entry in header.items():
        if name == _METADATA:
            continue
        if not isinstance(entry, Mapping):
            raise _broken(file, name)
        kind, shape, place = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
        if not isinstance(kind, str) or not _is_whole(shape):
            raise _broken(file, name)
        elements = math.prod(shape)
        if _is_whole(place) and len(place) == 2 and place[1] >= place[0]:
            yield name, kind, elements, place[1] - place[0]
        elif kind in _BITS:
            yield name, kind, elements, math.ceil(elements * _BITS[kind] / 8)
        else:
            raise _broken(file, name)


def _is_whole(value: object) -> TypeGuard[Sequence[int]]:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str | bytes)
        and all(isinstance(item, int) and item >= 0 for item in value)
    )


def _broken(file: str, name: str) -> Damaged:
    return Damaged(
        "weights-header-invalid",
        f"{file}: the header's entry for `{name}` has no type, shape and place.",
        hint="The file is damaged or cut short; fetch the model again.",
    )


def _part(name: str) -> str:
    for part, marks in _PARTS:
        if any(mark in name for mark in marks):
            return part
    return "body"


def _on_card(name: str, kind: str, elements: int, size: int, model_dtype: str | None) -> int:
    bits = _MODEL_BITS.get(model_dtype or "")
    lowered = name.lower()
    if bits is None or kind not in _FLOATS or any(word in lowered for word in _KEPT):
        return size
    return elements * bits // 8
