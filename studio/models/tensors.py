"""How many parameters a safetensors file holds, and in which types: from its header alone.

Packed weights count as what they were packed from; scales, zero points and the like do not count.
Where the width of a packed tensor is not known, nothing is said rather than something wrong.
"""

import math
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from studio.domain.errors import Damaged, StudioError
from studio.domain.units import bytes_text
from studio.models import inspect

_MOST_ELEMENTS = 1 << 50
_AUXILIARY = re.compile(
    r"(^|[._])(scales?|weight_scale(_2|_inv)?|weight_global_scale|input_(global_)?scale|[kvq]_scale"
    r"|output_scale|prob_scale|qzeros|weight_zero_point|g_idx|weight_g_idx|weight_shape|absmax"
    r"|quant_map|nested_absmax|nested_quant_map)$|\.quant_state\.|_scales$"
)
"""Names of what quantisation keeps beside the weights.

Sources: AutoGPTQ, AutoAWQ, compressed-tensors, NVIDIA modelopt, bitsandbytes, gpt-oss (MXFP4).
"""
_PACKED = re.compile(r"(^|[._])(qweight|weight_packed)$|_blocks$")


class TensorCount(msgspec.Struct, frozen=True, kw_only=True):
    """What the header of one file says."""

    parameters: int | None
    """None: something in it is packed in a way that is not known."""
    types: dict[str, int]
    """Type to elements, as they are stored."""


class _Tensor(msgspec.Struct):
    dtype: str = ""
    shape: list[int] = []
    data_offsets: tuple[int, int] = (0, 0)


_HEADER = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TENSOR = msgspec.json.Decoder(_Tensor)


def count(path: Path, bits: frozenset[int]) -> TensorCount:
    """Return what a file holds; `bits` are the widths that the model's config packs weights to.

    Raises: Damaged (`weights-damaged`), HostLacks (`not-readable`).
    """
    raw, data_bytes = inspect.raw_header(path)
    tensors = _tensors(raw, path)
    end = max((tensor.data_offsets[1] for tensor in tensors.values()), default=0)
    if end > data_bytes:
        raise _damaged(path, f"{bytes_text(end - data_bytes)} are missing at its end")
    total: int | None = 0
    types: dict[str, int] = {}
    for name, tensor in tensors.items():
        elements = math.prod(tensor.shape)
        if any(side < 0 for side in tensor.shape) or elements > _MOST_ELEMENTS:
            raise _damaged(path, f"the shape of {name[:80]!r} cannot be")
        if _AUXILIARY.search(name):
            continue
        types[tensor.dtype[:16]] = types.get(tensor.dtype[:16], 0) + elements
        factor = _factor(name, tensor.dtype, bits)
        total = None if total is None or factor is None else total + int(elements * factor)
    return TensorCount(parameters=total, types=types)


def _tensors(raw: bytes, path: Path) -> Mapping[str, _Tensor]:
    try:
        return {
            name: _TENSOR.decode(entry)
            for name, entry in _HEADER.decode(raw).items()
            if name != "__metadata__"
        }
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _damaged(path, "its header is not what a header is") from error


def _factor(name: str, dtype: str, bits: frozenset[int]) -> float | None:
    """Return how many weights one stored element stands for."""
    if dtype == "U8" and (_PACKED.search(name) or (bits == {4} and name.endswith("weight"))):
        return 2.0  # two numbers of four bits in a byte: NVFP4, MXFP4, bitsandbytes
    if dtype == "F4":
        return 1.0
    if dtype in ("I32", "U32") and _PACKED.search(name):
        width = next(iter(bits)) if len(bits) == 1 else None
        return 32 / width if width else None
    return 1.0


def _damaged(path: Path, why: str) -> StudioError:
    return Damaged(
        "weights-damaged",
        f"{path} is no whole safetensors file: {why}.",
        hint="Fetch it again: its download was cut off, or it is a pointer to the file.",
    )
