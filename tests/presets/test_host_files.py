"""The hosts of the catalogue: every field has a source, and the figures are the published ones."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from studio.domain.hosts import Evidence
from studio.host import hosts, smi
from studio.host.paths import bundled_root

FOLDER = bundled_root() / "presets" / "hosts"
FILES = sorted(FOLDER.glob("*.json"))
IDS = {
    "rtx3090-linux", "rtx4090-linux", "rtx4090-wsl2", "rtx5090-linux", "rtx3090x2-linux",
    "v100-16x4-linux", "v100-32x4-linux", "h200-linux", "none-linux",
}  # fmt: skip
RECORDED = Path(__file__).parents[1] / "data" / "smi" / "h200.xml"
MIB = 1 << 20


def leaves(raw: Any, path: str = "") -> Iterator[str]:
    """Yield the path of every value, without positions in lists."""
    if isinstance(raw, dict):
        for key, value in raw.items():
            yield from leaves(value, f"{path}.{key}" if path else key)
    elif isinstance(raw, list) and any(isinstance(one, dict) for one in raw):
        for value in raw:
            yield from leaves(value, path)
    else:
        yield path


def source_of(path: str, sources: dict[str, Any]) -> str | None:
    """Return the longest entry that a path lies under."""
    parts = path.split(".")
    steps = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((step for step in steps if step in sources), None)


def test_the_catalogue_has_the_hosts_that_presets_are_reviewed_on() -> None:
    """Snapshots of every preset are taken on these."""
    assert {file.stem for file in FILES} == IDS


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_field_has_a_source_and_every_source_a_field(file: Path) -> None:
    """A figure nobody can trace is a guess, and a source without a figure is forgotten text."""
    document = json.loads(file.read_text(encoding="utf-8"))

    used = {path: source_of(path, document["sources"]) for path in leaves(document["host"])}

    assert [path for path, source in used.items() if source is None] == []
    assert set(document["sources"]) - set(used.values()) == set()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_host_file_can_be_replayed(file: Path) -> None:
    """Its id is its name, and its kind of evidence is said."""
    found = hosts.read(file)

    assert found.id == file.stem
    assert found.host.platform == "linux-x86_64"
    assert all(one.evidence in Evidence and one.source for one in found.sources.values())


def test_the_captured_card_is_what_was_recorded() -> None:
    """The file cannot drift away from the recording."""
    found = hosts.read(FOLDER / "h200-linux.json")

    (card,) = smi.parse(RECORDED.read_text(encoding="utf-8"), "00000000:00:06.0, 9.0").cards
    assert found.host.gpus == (card,)
    assert found.sources["gpus"].evidence is Evidence.CAPTURED


@pytest.mark.parametrize(
    ("host", "total_mib", "free_mib", "usable_gib"),
    [
        ("rtx3090-linux", 24_576, 23_859, 23.56),
        ("rtx4090-linux", 24_564, None, 23.64),
        ("rtx4090-wsl2", 24_564, 22.75 * 1024, 23.99),
        ("rtx5090-linux", 32_607, None, 31.36),
        ("v100-16x4-linux", 16_384, None, 15.78),
        ("v100-32x4-linux", 32_768, None, 31.75),
        ("h200-linux", 143_771, 143_156, 139.80),
    ],
)
def test_memory_is_what_was_published(
    host: str, total_mib: int, free_mib: float | None, usable_gib: float
) -> None:
    """Every forecast for these cards begins with these three."""
    card = hosts.read(FOLDER / f"{host}.json").host.gpus[0]

    assert card.total_bytes == total_mib * MIB
    assert card.usable_bytes is not None
    assert round(card.usable_bytes / (1 << 30), 2) == usable_gib
    if free_mib is not None:
        assert card.free_bytes == free_mib * MIB
