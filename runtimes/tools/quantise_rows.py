"""Turns matrices of a safetensors file into 8-bit whole numbers with a scale for each 128 columns.

    python -I quantise_rows.py IN.safetensors OUT.safetensors NAME.weight...

The form is the `pack-quantized` of compressed-tensors, symmetric: NAME.weight_packed (int32, four
values in each, the first lowest, each plus 128), NAME.weight_scale (rows, columns / 128, of the
matrix's own type) and NAME.weight_shape. All other tensors are copied as they are. Some rows are in
memory at a time, however large the file is. OUT appears whole, by a rename. Prints
`progress DONE TOTAL` in bytes read.
"""

import json
import math
import os
import pathlib
import struct
import sys

GROUP = 128
IN_A_WORD = 4
LARGEST = 127
TYPES = {"BF16": ("bfloat16", 2), "F16": ("float16", 2), "F32": ("float32", 4)}
CHUNK_BYTES = 16 << 20
HEADER_LIMIT_BYTES = 100 << 20
METADATA = "__metadata__"


def header_of(file, size):
    """Return the tensors of a safetensors file, and where its data begins."""
    lead = file.read(8)
    length = struct.unpack("<Q", lead)[0] if len(lead) == 8 else HEADER_LIMIT_BYTES
    if length >= HEADER_LIMIT_BYTES or 8 + length > size:
        raise SystemExit(f"{file.name} is no whole safetensors file.")
    header = json.loads(file.read(length))
    if 8 + length + max((end_of(one) for one in header.values()), default=0) > size:
        raise SystemExit(f"{file.name} is cut off.")
    return header, 8 + length


def end_of(entry):
    """Return where a tensor's data ends; the metadata have none."""
    return entry.get("data_offsets", (0, 0))[1]


def check(header, names):
    """Refuse what cannot be turned, before anything is written."""
    for name in names:
        entry = header.get(name)
        if entry is None:
            raise SystemExit(f"The file has no tensor {name}.")
        shape, kind = entry["shape"], entry["dtype"]
        if kind not in TYPES or len(shape) != 2 or shape[1] % GROUP or not math.prod(shape):
            raise SystemExit(
                f"{name} is {kind} of {shape}: a matrix of {', '.join(TYPES)} is expected, its "
                f"columns a multiple of {GROUP}."
            )
        begin, end = entry["data_offsets"]
        if end - begin != math.prod(shape) * TYPES[kind][1]:
            raise SystemExit(f"{name} has another size than its shape says.")


def planned(header, names):
    """Return the header of the new file: the same order, offsets without gaps."""
    made = {METADATA: header[METADATA]} if METADATA in header else {}
    end = 0
    for name, entry in header.items():
        if name == METADATA:
            continue
        for part, kind, shape, size in parts_of(name, entry, name in names):
            if part in made:
                raise SystemExit(f"The file has a tensor {part} already.")
            made[part] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + size]}
            end += size
    return made


def parts_of(name, entry, is_turned):
    """Yield name, type, shape and bytes of what a tensor becomes."""
    begin, end = entry["data_offsets"]
    if not is_turned:
        yield name, entry["dtype"], entry["shape"], end - begin
        return
    rows, columns = entry["shape"]
    yield f"{name}_packed", "I32", [rows, columns // IN_A_WORD], rows * columns
    width = TYPES[entry["dtype"]][1]
    groups = columns // GROUP
    yield f"{name}_scale", entry["dtype"], [rows, groups], rows * groups * width
    yield f"{name}_shape", "I64", [2], 16


def turned(raw, kind, columns):
    """Return the packed values and the scales of some rows, as bytes."""
    import torch

    own = getattr(torch, TYPES[kind][0])
    values = torch.frombuffer(raw, dtype=own).reshape(-1, columns // GROUP, GROUP)
    wide = values.float()
    if not torch.isfinite(wide).all():
        raise SystemExit("The matrix holds values that are not finite.")
    # The scale as it is stored decides, not the finer one that it was rounded from.
    scales = (wide.abs().amax(-1, keepdim=True) / LARGEST).to(own)
    steps = scales.float()
    steps[steps == 0] = 1.0
    whole = (wide / steps).round().clamp(-LARGEST - 1, LARGEST) + LARGEST + 1
    packed = whole.to(torch.uint8).contiguous().numpy().tobytes()
    return packed, scales.contiguous().view(torch.uint8).numpy().tobytes()


class Turning:
    """One file on its way to another."""

    def __init__(self, source, target, header, made, starts):
        self._source, self._target = source, target
        self._header, self._made = header, made
        self._source_start, self._target_start = starts
        self._total = max((end_of(one) for one in header.values()), default=0)
        self._done = 0

    def copy(self, name):
        """Copy a tensor as it is."""
        begin, end = self._header[name]["data_offsets"]
        self._target.seek(self._target_start + self._made[name]["data_offsets"][0])
        for raw in self._read(begin, end, CHUNK_BYTES):
            self._target.write(raw)

    def turn(self, name):
        """Write a matrix in its new form, some rows at a time."""
        entry = self._header[name]
        rows, columns = entry["shape"]
        row_bytes = columns * TYPES[entry["dtype"]][1]
        packed_at, scale_at, shape_at = (
            self._target_start + self._made[f"{name}_{part}"]["data_offsets"][0]
            for part in ("packed", "scale", "shape")
        )
        step = max(1, CHUNK_BYTES // row_bytes) * row_bytes
        for raw in self._read(*entry["data_offsets"], step):
            packed, scales = turned(raw, entry["dtype"], columns)
            self._put(packed_at, packed)
            self._put(scale_at, scales)
            packed_at, scale_at = packed_at + len(packed), scale_at + len(scales)
        self._put(shape_at, struct.pack("<2q", rows, columns))

    def _put(self, place, raw):
        self._target.seek(place)
        self._target.write(raw)

    def _read(self, begin, end, step):
        for start in range(begin, end, step):
            self._source.seek(self._source_start + start)
            raw = bytearray(self._source.read(min(step, end - start)))
            yield raw
            self._done += len(raw)
            print(f"progress {self._done} {self._total}", flush=True)


def run(source_path, target_path, names):
    """Write `target_path` from `source_path`, whole or not at all."""
    part = target_path.with_name(f"{target_path.name}.part")
    with source_path.open("rb") as source:
        header, start = header_of(source, source_path.stat().st_size)
        check(header, names)
        made = planned(header, names)
        raw = json.dumps(made, separators=(",", ":")).encode()
        raw += b" " * (-len(raw) % 8)
        with part.open("wb") as target:
            target.write(struct.pack("<Q", len(raw)) + raw)
            turning = Turning(source, target, header, made, (start, 8 + len(raw)))
            for name in header:
                if name in names:
                    turning.turn(name)
                elif name != METADATA:
                    turning.copy(name)
            target.flush()
            os.fsync(target.fileno())
    part.replace(target_path)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        raise SystemExit(__doc__)
    run(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), frozenset(sys.argv[3:]))
