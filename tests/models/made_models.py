"""Small real models: safetensors, GGUF, folders, and a cache as huggingface_hub has it."""

import hashlib
import json
import os
import struct
from collections.abc import Mapping
from pathlib import Path

CONFIG = {"architectures": ["LlamaForCausalLM"], "max_position_embeddings": 8192}
COMMIT = "a" * 40
_SIZES = {"F32": 4, "F16": 2, "BF16": 2, "I32": 4, "U8": 1, "F8_E4M3": 1}
Tensors = Mapping[str, tuple[str, list[int]]]
WEIGHTS: Tensors = {"model.w": ("BF16", [64, 32])}


def safetensors(tensors: Tensors = WEIGHTS, fill: bytes = b"w") -> bytes:
    """Return a file with these tensors: name to type and shape."""
    header, at = {}, 0
    for name, (dtype, shape) in tensors.items():
        size = _SIZES[dtype]
        for side in shape:
            size *= side
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    raw = json.dumps(header).encode()
    return struct.pack("<Q", len(raw)) + raw + (fill * at)[:at]


def text(value: str) -> bytes:
    """Return a text as GGUF has it."""
    return struct.pack("<Q", len(value.encode())) + value.encode()


def gguf(
    values: Mapping[str, str | int | list[str]] | None = None,
    tensors: Mapping[str, tuple[int, list[int]]] | None = None,
    *,
    version: int = 3,
    data: bytes | None = None,
) -> bytes:
    """Return a GGUF; tensors are name to ggml's type and sides, `F16` unless said otherwise."""
    told = (
        {"general.architecture": "llama", "llama.context_length": 4096}
        if values is None
        else values
    )
    held = {"w": (1, [32, 4])} if tensors is None else tensors
    head = b"GGUF" + struct.pack("<IQQ", version, len(held), len(told))
    for key, value in told.items():
        head += text(key)
        if isinstance(value, str):
            head += struct.pack("<I", 8) + text(value)
        elif isinstance(value, int):
            head += struct.pack("<II", 4, value)
        else:
            head += struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    for name, (kind, sides) in held.items():
        head += text(name) + struct.pack("<I", len(sides))
        head += struct.pack(f"<{len(sides)}Q", *sides) + struct.pack("<IQ", kind, 0)
    head += b"\0" * (-len(head) % 32)
    return head + (b"\0" * 256 if data is None else data)


def model(folder: Path, weights: bytes | None = None, **config: object) -> Path:
    """Make a folder with a config and one file of weights."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**CONFIG, **config}))
    (folder / "model.safetensors").write_bytes(safetensors() if weights is None else weights)
    return folder


def git_name(data: bytes) -> str:
    """Return git's name of a content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def cached(
    cache: Path,
    repository: str = "owner/name",
    files: Mapping[str, bytes] | None = None,
    *,
    commit: str = COMMIT,
    ref: str | None = "main",
) -> Path:
    """Put a repository into a cache as huggingface_hub does; return its snapshot."""
    held = files or {"config.json": json.dumps(CONFIG).encode(), "model.safetensors": safetensors()}
    folder = cache / f"models--{repository.replace('/', '--')}"
    snapshot = folder / "snapshots" / commit
    for name, data in held.items():
        is_large = name.endswith((".safetensors", ".gguf"))
        blob = folder / "blobs" / (hashlib.sha256(data).hexdigest() if is_large else git_name(data))
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(data)
        pointer = snapshot / name
        pointer.parent.mkdir(parents=True, exist_ok=True)
        pointer.unlink(missing_ok=True)
        pointer.symlink_to(os.path.relpath(blob, pointer.parent))
    if ref is not None:
        (folder / "refs").mkdir(exist_ok=True)
        (folder / "refs" / ref).write_text(commit)
    return snapshot
