"""Windows' registry where there is none; under wine the trial of the setup tries a real one."""

import sys

import pytest

from studio.host.registry import Registry


@pytest.mark.skipif(sys.platform == "win32", reason="it would write into the tester's registry")
def test_elsewhere_nothing_is_known_and_nothing_fails() -> None:
    """What uses it need not ask where it runs."""
    registry = Registry()
    registry.write(r"Software\WeirStudio", "Lan", 1)
    assert registry.text(r"Software\WeirStudio", "Lan") is None
    registry.delete(r"Software\WeirStudio", "Lan")
