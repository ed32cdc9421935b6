"""Clearing roots in which this machine's /dev may still be mounted."""

from pathlib import Path

import pytest

from installer import roots
from tests.fakes import small_disk


def test_a_root_with_something_mounted_is_not_removed(tmp_path: Path) -> None:
    """A trial that was cut off leaves /dev of the whole machine in it."""
    root = tmp_path / "Jörg's root"
    with small_disk.mounted(root / "dev", 1 << 20) as disk:
        (disk / "null").touch()

        with pytest.raises(RuntimeError, match="is mounted"):
            roots.clear(root)

        assert (disk / "null").exists()
    roots.clear(root)
    assert not root.exists()
