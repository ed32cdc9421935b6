"""Presets, runtimes and hosts for the tests of this folder."""

import functools
from pathlib import Path
from typing import Any

import msgspec

from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import Preset, RuntimeRecipe
from studio.domain.rules import Facts, Resolved
from studio.host import hosts
from studio.host.paths import Paths, bundled_root
from studio.presets import choose
from studio.presets.resolve import resolve
from studio.presets.store import PresetStore
from studio.runtimes.catalog import Catalog

NOWHERE = Paths(home=Path("/nowhere/höme"), catalogue=bundled_root())
HOSTS = (
    "rtx3090-linux", "rtx4090-wsl2", "rtx5090-linux", "rtx3090x2-linux", "v100-16x4-linux",
    "v100-32x4-linux", "h200-linux", "none-linux",
)  # fmt: skip
FACTS = Facts(runtime="test-runtime")
_CATALOG = Catalog(NOWHERE)
_STORE = PresetStore(NOWHERE)


def preset(**parts: Any) -> Preset:
    """Return a small preset with these parts, as a file would say them."""
    document = {
        "schema_version": 1,
        "id": "test",
        "title": "Test",
        "expert": "test",
        "summary": "test",
        "runtime": "test-runtime",
        "served_name": "tiny",
        "model": {
            "id": "tiny",
            "title": "Tiny",
            "licence": "none",
            "origin": "made here",
            "disk_bytes": 1,
            "files": ["config.json"],
        },
        **parts,
    }
    return msgspec.convert(document, Preset)


def knob(kind: str = "int", **parts: Any) -> dict[str, Any]:
    """Return a knob as a file would say it."""
    return {"kind": kind, "meaning": "For tests.", **parts}


def bundled(preset_id: str) -> Preset:
    """Return a preset that comes with the program."""
    return _STORE.get(preset_id)


def bundled_all() -> list[Preset]:
    """Return every preset that comes with the program."""
    readable, broken = _STORE.readable()
    assert broken == {}
    return readable


@functools.cache
def recipe_of(name: str) -> RuntimeRecipe:
    """Return a recipe of the catalogue."""
    return _CATALOG.recipe(name)


def host(host_id: str) -> HostSnapshot:
    """Return a host of the catalogue."""
    return hosts.load(host_id, NOWHERE).host


def fit_on(preset_id: str, host_id: str, **overrides: str) -> choose.Fit:
    """Return what a preset would be on a host of the catalogue."""
    found = bundled(preset_id)
    recipe = recipe_of(choose.runtime_of(found, overrides))
    return choose.fit(found, recipe, host(host_id), None, overrides)


def resolved(chosen: Preset, facts: Facts = FACTS, **overrides: str) -> Resolved:
    """Resolve with these overrides."""
    return resolve(chosen, facts, overrides)
