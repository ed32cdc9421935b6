"""Limits of the operating system: read as they are, and raised where the rules allow it."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from studio.domain.hardware import UNLIMITED
from studio.host import limits

_RAISES = """
import resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (64, {hard}))
from studio.host import limits
print(limits.raise_open_files())
child = "import resource; print(*resource.getrlimit(resource.RLIMIT_NOFILE))"
print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout)
"""


def raised(hard: int) -> list[str]:
    """Return what a process with the limits 64 and `hard` says after it raised the first."""
    done = subprocess.run(
        [sys.executable, "-c", _RAISES.format(hard=hard)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).resolve().parents[2],
    )
    return done.stdout.split()


def test_the_limits_are_those_of_this_process(tmp_path: Path) -> None:
    """And no limit is no number."""
    pattern = tmp_path / "core_pattern"
    pattern.write_text("|/usr/lib/systemd/systemd-coredump %P\n")

    found = limits.read(pattern)

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert found is not None
    assert found.open_files == (UNLIMITED if soft == resource.RLIM_INFINITY else soft)
    assert found.open_files_hard == (UNLIMITED if hard == resource.RLIM_INFINITY else hard)
    assert found.locked_bytes is not None
    assert found.core_bytes is not None
    assert found.core_pattern == "|/usr/lib/systemd/systemd-coredump %P"


def test_what_cannot_be_read_is_not_known(tmp_path: Path) -> None:
    """Containers may hide it."""
    found = limits.read(tmp_path / "none")

    assert found is not None
    assert found.core_pattern is None


def test_the_soft_limit_becomes_the_hard_one_for_children_too() -> None:
    """The engine warns below 65,536 and fails with `too many open files` under load."""
    hard = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 4096)

    assert raised(hard) == [str(hard), str(hard), str(hard)]


def test_a_limit_that_is_high_enough_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never lower: somebody set it."""
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (2_000_000, 3_000_000))

    def refuse(_which: int, _limits: tuple[int, int]) -> None:
        raise AssertionError("nothing has to be changed")

    monkeypatch.setattr(resource, "setrlimit", refuse)

    assert limits.raise_open_files() == 2_000_000


def test_an_endless_limit_is_not_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some programs close every file that there could be, one by one."""
    asked: list[tuple[int, int]] = []
    endless = resource.RLIM_INFINITY
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (1024, endless))
    monkeypatch.setattr(resource, "setrlimit", lambda _which, given: asked.append(given))

    assert limits.raise_open_files() == limits.MOST_OPEN_FILES
    assert asked == [(limits.MOST_OPEN_FILES, endless)]


def test_a_system_that_refuses_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service with few files is better than none."""

    def refuse(_which: int, _limits: tuple[int, int]) -> None:
        raise ValueError("not allowed")

    monkeypatch.setattr(resource, "getrlimit", lambda _which: (256, 4096))
    monkeypatch.setattr(resource, "setrlimit", refuse)

    assert limits.raise_open_files() is None
