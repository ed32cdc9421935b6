"""Where a service says that it is, before there is one."""

import subprocess
import sys
from pathlib import Path

from studio.control import address
from studio.host.paths import Paths, bundled_root


def test_an_address_that_is_not_there_is_none(tmp_path: Path) -> None:
    """A home that was never used."""
    paths = Paths(home=tmp_path / "new", catalogue=bundled_root())

    assert address.read_address(paths) is None
    assert not paths.home.exists()


def test_a_probe_leaves_nothing(tmp_path: Path) -> None:
    """Looking whether it can be written must not leave a file."""
    paths = Paths(home=tmp_path / "new", catalogue=bundled_root())

    address.require_writable(paths)

    assert list(paths.service.iterdir()) == []


def test_whoever_only_talks_to_a_service_does_not_load_it() -> None:
    """Every `weir status` would wait twice as long for modules that it has no use for."""
    asked = "import studio.control.launcher, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)

    loaded = set(done.stdout.split())
    assert "studio.control.client" in loaded
    assert loaded.isdisjoint({"studio.control.service", "studio.app.studio", "studio.app.wiring"})
