"""Model shapes and recorded pools that several tests of the planner's arithmetic need."""

import functools
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from studio.domain.geometry import LayerKind, LayerSet, ModelGeometry
from studio.domain.hardware import Gpu
from studio.planner.engine import Engine, engine
from studio.planner.geometry import geometry
from studio.planner.memory import MemoryTable
from studio.planner.pool import Pool, pool

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "planner"
Row = Mapping[str, Any]

ATTENTION = LayerSet(kind=LayerKind.FULL, count=16, kv_heads=4, head_size=256)
DELTA_NET = LayerSet(
    kind=LayerKind.LINEAR,
    count=48,
    conv_kernel=4,
    conv_channels=10_240,
    state_heads=48,
    state_head_size=128,
    state_width=128,
)
WINDOWED = LayerSet(kind=LayerKind.SLIDING, count=5, kv_heads=8, head_size=128, window=2_048)


def shape(*layers: LayerSet, mtp: tuple[LayerSet, ...] = ()) -> ModelGeometry:
    """Return a model of these layers."""
    return ModelGeometry(
        architecture="Sample",
        layers=layers,
        mtp_layers=mtp,
        context_tokens=262_144,
        dtype="bfloat16",
    )


@functools.cache
def rows(kind: str) -> tuple[Row, ...]:
    """Return the recorded pools of one kind."""
    return tuple(tomllib.loads((DATA / "rows.toml").read_text(encoding="utf-8"))[kind])


@functools.cache
def config(name: str) -> Mapping[str, Any]:
    """Return a `config.json` of the samples."""
    return json.loads((DATA / "models" / f"{name}.json").read_text(encoding="utf-8"))


@functools.cache
def model(name: str) -> ModelGeometry:
    """Return the geometry of a sample."""
    return geometry(config(name))


@functools.cache
def shipped(name: str) -> ModelGeometry:
    """Return the geometry that ships with a preset's model, or a sample written like one."""
    path = ROOT / "presets" / "models" / f"{name}.toml"
    if not path.is_file():
        path = DATA / "models" / f"{name}.toml"
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return msgspec.convert(document["geometry"], ModelGeometry)


@functools.cache
def memory_table() -> MemoryTable:
    """Return the shipped items of a card's memory."""
    text = (ROOT / "presets" / "planner" / "memory.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), MemoryTable)


@functools.cache
def card(host: str) -> Gpu:
    """Return the first card of a shipped host."""
    document = json.loads((ROOT / "presets" / "hosts" / f"{host}.json").read_bytes())
    return msgspec.convert(document["host"]["gpus"][0], Gpu)


def engine_of(row: Row) -> Engine:
    """Return the engine of a row."""
    flags = row.get("cpu_flags")
    return engine(row["engine"], cpu_flags=None if flags is None else tuple(flags))


def pool_of(row: Row, kv_bytes: int) -> Pool:
    """Return the pool that the planner makes of a row."""
    drafter = model(row["drafter"]) if "drafter" in row else None
    return pool(model(row["model"]), drafter, row["settings"], engine_of(row), kv_bytes)
